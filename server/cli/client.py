"""How the administrative commands reach a server, and how they print what it says."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.cli.wording import in_words_of_the_command
from server.data_directory import ADDRESS_FILE, ADMIN_TOKEN_FILE, default_data_directory

if TYPE_CHECKING:
    from farhand import Farhand, FarhandError

PAGE = 1000
"""The most things that the server lists in one answer."""

REQUEST_SECONDS = 120.0

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Api:
    """A server's HTTP API, called one request at a time."""

    url: str
    token: str
    as_json: bool
    token_from: str = ""
    is_token_given: bool = True
    """Whether whoever runs the command has named it; else it is the administrator's."""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the answer's JSON, or None where it has no body.

        What the server refuses is raised as a ClickException with the server's own words.
        """
        with self.connected() as farhand:
            return farhand.request(method, path, body)

    def call_list(
        self, path: str, query: Mapping[str, str] | None = None, limit: int | None = None
    ) -> dict[str, Any]:
        """Read a list of any length, page by page, and return it as one answer.

        What moves from one page to another meanwhile is neither missed nor repeated.  Where only
        the first ``limit`` are wanted, the answer's total is how many there are.
        """
        with self.connected() as farhand:
            pages = list(farhand.pages(path, query, limit))
        items = [item for page in pages for item in page["items"]]
        total = len(items) if limit is None else pages[-1]["total"]
        whole = {"items": items, "total": total, "skip": 0}
        return {**pages[-1], **whole, "limit": limit or max(PAGE, len(items))}

    @contextmanager
    def connected(self) -> Iterator["Farhand"]:
        """The server, for several requests; whatever goes wrong with one is a ClickException."""
        from farhand import FarhandError  # noqa: PLC0415 - as in opened()

        with self.opened() as farhand:
            try:
                yield farhand
            except FarhandError as error:
                raise self.failure(error) from None

    def opened(self, seconds: float = REQUEST_SECONDS) -> "Farhand":
        """The server, to which every request is sent once, and answered within so many seconds."""
        # Whoever asks for help sends no request, and the library takes a while to be imported.
        from farhand import Farhand  # noqa: PLC0415

        try:
            # A proxy of the environment's is for others' servers, and would see the token.
            return Farhand(self.url, self.token, timeout=seconds, retry=False, trust_env=False)
        except ValueError as error:
            raise click.ClickException(str(error)) from None

    def failure(self, error: "FarhandError") -> click.ClickException:
        """What to say of a request that failed, in the words of the command that sent it."""
        from farhand import InvalidRequest, NotFarhand  # noqa: PLC0415 - as in opened()

        said = str(error)
        if isinstance(error, InvalidRequest):
            said = in_words_of_the_command(error.wrong)
        elif isinstance(error, NotFarhand):
            said += "; look at --url, and run farhand doctor on the server's host"
        elif error.status in (401, 403) and self.token_from:
            said += f" (the token is from {self.token_from})"
        return click.ClickException(said)

    def show(self, answer: Any, columns: Sequence[str]) -> None:
        """Print a list: as JSON, or as a table for people."""
        if self.as_json:
            click.echo(json.dumps(answer))
        else:
            print_table(answer["items"], columns)

    def show_changed(self, answer: Any) -> None:
        """After a change: nothing for people, who said what they want; as JSON, everything."""
        if self.as_json:
            click.echo(json.dumps(answer))

    def show_one(self, answer: Any, field: str) -> None:
        """Print the one field that matters, alone; or everything as JSON."""
        click.echo(json.dumps(answer) if self.as_json else answer[field])


def api_options(command: Command) -> Command:
    """Give a command the options that name the server, and an :class:`Api` as ``api``."""

    @wraps(command)
    def with_api(
        url: str | None, token: str | None, data_dir: Path | None, as_json: bool, **rest: Any
    ) -> Any:
        directory = data_dir or default_data_directory()
        token_file = directory / ADMIN_TOKEN_FILE
        api = Api(
            url=url or _read(directory / ADDRESS_FILE, "--url or FARHAND_URL"),
            token=token or _read(token_file, "--token or FARHAND_TOKEN"),
            as_json=as_json,
            token_from=_given_by("token") if token else str(token_file),
            is_token_given=bool(token),
        )
        return command(api=api, **rest)

    decorated: Any = with_api
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option(
            "--data-dir",
            type=click.Path(path_type=Path, file_okay=False),
            envvar="FARHAND_DATA_DIR",
            help="The server's data directory, where its address and token are found.",
        ),
        click.option("--token", envvar="FARHAND_TOKEN", help="The token to call with."),
        click.option("--url", envvar="FARHAND_URL", help="The server's address."),
    ):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def print_table(items: Sequence[Any], columns: Sequence[str]) -> None:
    """Print things as a table in which every id is whole, for it is what other commands take.

    A terminal that is too narrow wraps what else there is; a pipe gets one line for each thing.
    """
    console = Console()
    if console.is_terminal:
        least = sum(_width(items, column) if _is_id(column) else 12 for column in columns)
        console.width = max(console.width, least)
    else:
        console.width = sum(_width(items, column) for column in columns) + 2 * len(columns)
    table = table_of(items, columns)
    for column, name in zip(table.columns, columns, strict=True):
        if _is_id(name):
            column.no_wrap, column.min_width = True, _width(items, name)
        else:
            column.overflow = "fold"
    console.print(table)


def _is_id(column: str) -> bool:
    return column == "id" or column.endswith("_id")


def _width(items: Sequence[Any], column: str) -> int:
    cells = [column, *(_cell(item.get(column)) for item in items)]
    return max(map(cell_len, cells)) + 2


def table_of(items: Iterable[Any], columns: Sequence[str], *, wraps: bool = True) -> Table:
    """A table of these columns, for people; each item is one line, unless it ``wraps``.

    Where a line is too long, the first column stays whole: it says which item it is.
    """
    table = Table(box=None)
    for column in columns:
        table.add_column(column.replace("_", " "), no_wrap=not wraps and column == columns[0])
    for item in items:
        texts = (_cell(item.get(column)) for column in columns)
        table.add_row(*(Text(text, no_wrap=not wraps) for text in texts))
    return table


def _given_by(parameter: str) -> str:
    """The option or variable that a parameter of this command was given by."""
    source = click.get_current_context().get_parameter_source(parameter)
    is_variable = source is ParameterSource.ENVIRONMENT
    return f"FARHAND_{parameter.upper()}" if is_variable else f"--{parameter}"


def _read(file: Path, instead: str) -> str:
    try:
        return file.read_text().strip()
    except UnicodeDecodeError:
        raise click.UsageError(f"{file} is no text: give {instead}") from None
    except OSError as error:
        raise click.UsageError(
            f"cannot read {file} ({error.strerror}): give {instead}, or run this on the server's "
            "host as its user"
        ) from None


def _cell(value: Any) -> str:
    """What stands in a table."""
    if isinstance(value, dict):
        # What an id stands for, or the id where that has no name.
        return _cell(value.get("name") or value.get("id"))
    if isinstance(value, list):
        return " ".join(map(_cell, value))
    return "" if value is None else printable(str(value))


def printable(text: str) -> str:
    """A text of somebody else's that can be shown: nothing in it steers the terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
