"""``--token-file``: a token goes into a file that only its owner reads, whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def token_file_options(command: Command) -> Command:
    """Give a command that makes a token ``token_file`` and ``force``."""
    for option in (
        click.option("--force", is_flag=True, help="Let --token-file replace a file."),
        click.option(
            "--token-file",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write the token into this new file, readable by you alone, and print its id.",
        ),
    ):
        command = option(command)
    return command


@contextmanager
def token_file_writer(file: Path | None, *, force: bool) -> Iterator[Callable[[str], None]]:
    """What writes a token to the file, which is there with it or as it was before.

    All that can be known to fail fails before the block begins, as a token is shown only once.
    Raises a UsageError or ClickException.
    """
    if file is None:
        if force:
            raise click.UsageError("--force goes with --token-file")
        yield lambda _: None
        return
    if os.path.lexists(file) and not force:
        raise click.UsageError(f"--token-file: {file} exists; --force replaces it")
    draft = file.parent / f".{file.name}.{token_hex(4)}"
    try:
        stream = os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w")
    except OSError as error:
        raise _cannot_write(file, error) from None
    try:
        with stream:
            yield lambda token: _write(token, stream.fileno(), draft, file, force=force)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def _write(token: str, descriptor: int, draft: Path, file: Path, *, force: bool) -> None:
    try:
        os.write(descriptor, f"{token}\n".encode())
        os.fsync(descriptor)
        if force:
            draft.replace(file)
        else:
            # Unlike a rename, it replaces nothing that has come to be there meanwhile.
            os.link(draft, file)
    except OSError as error:
        said = _cannot_write(file, error).message
        raise click.ClickException(
            f"{said}; the token that was made for it is lost: revoke it (farhand token list)"
        ) from None


def _cannot_write(file: Path, error: OSError) -> click.ClickException:
    return click.ClickException(f"--token-file: cannot write {file}: {error.strerror}")
