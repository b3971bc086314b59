"""The command line of the machine client: join a server, or look what is wrong.

Exit codes: 0 done, 1 failed, 2 used or set wrongly, 3 the server says that this client must stop.
"""

import asyncio
import ctypes
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, TypeVar

import click

from machine_client.accessibility import agreed_switch, switch_back, switch_on
from machine_client.credentials import Credentials
from machine_client.doctor.doctor import examine
from machine_client.doctor.service_check import check_service
from machine_client.joining import JoiningMachine, join_server
from machine_client.journal.journal import JournalError
from machine_client.link.failures import MisconfiguredError, MustStopError
from machine_client.service.base import ServiceError
from machine_client.service.choose import command_of, service_of_this_system
from machine_client.settings import CONFIG_VARIABLE, MachineSettings, read_machines
from machine_client.system import event_loop
from machine_client.system.failpoints import arm_failpoints
from machine_client.system.private_files import (
    make_private_directory,
    make_private_file,
    who_else_reads,
)
from schemas.programs.allocator import return_large_blocks
from schemas.programs.failpoints import FailpointError
from schemas.programs.log_lines import log_formatter
from schemas.programs.settings import SettingsError

logger = logging.getLogger(__name__)

STOPPED_FOR_GOOD = 3
"""The exit code where it would be in vain to start this client again."""

LOG_BYTES, OLDER_LOGS = 5_000_000, 3
"""How long a log file becomes, and how many before it are kept."""

PICTURE_BYTES = 1024 * 1024
"""Pictures are larger, and go back to the system when they are freed.

Each thread's heap grew by them and kept them: a VNC server that paints much and is left again and
again cost 117 to 239 MB, and at most 85 since (docs/design/attacks.md).
"""

LOG_LINE = "%(asctime)s.%(msecs)03d %(levelname)s %(message)s"

Command = TypeVar("Command", bound=Callable[..., Any])


class StoppedForGood(click.ClickException):
    """The server will not have this client as it is."""

    exit_code = STOPPED_FOR_GOOD


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="farhand")
def farhand_machine() -> None:
    """Let a Farhand server send input to this desktop."""


def machine_options(command: Command) -> Command:
    """The options by which a machine client's settings are given on the command line."""
    file = click.Path(path_type=Path, dir_okay=False)
    for option in (
        click.option("--config", type=file, envvar=CONFIG_VARIABLE, help="A TOML file."),
        click.option("--ca-file", type=file, help="Certificates to trust for the server."),
        click.option("--proxy", help="A proxy's URL.  [default: the environment's]"),
        click.option(
            "--state-dir",
            type=click.Path(path_type=Path, file_okay=False),
            help="Where the journal is kept.  [default: the user's own]",
        ),
        click.option("--log-file", type=file, help="A file to log into.  [default: stderr]"),
        click.option("--desktop", help="Its kind.  [default: by looking]"),
        click.option("--vnc-ca-file", type=file, help="Certificates to trust for the VNC server."),
        click.option("--vnc-password-file", type=file, help="A file with the VNC password."),
        click.option("--vnc", help="A VNC server to work on, as HOST:PORT; PORT is TCP's."),
        click.option("--display", help="The X display, such as :1.  [default: the session's]"),
        click.option("--token-file", type=file, help="A file with the machine's token."),
        click.option("--token", help="The machine's token; others can see it, so prefer a file."),
        click.option("--code-file", type=file, help="A file with the join code."),
        click.option("--code", help="A join code; the machine then makes a token of its own."),
        click.option("--server", help="The server's address, such as https://farhand.example."),
    ):
        command = option(command)
    return command


def machines_from(config: Path | None, **given: Any) -> Mapping[str, JoiningMachine]:
    """What is to join, by name, or a usage error with one line for each mistake."""
    settings = _settings_from(config, **given)
    return {
        name: JoiningMachine(each, _credentials_of(name, each)) for name, each in settings.items()
    }


def _settings_from(config: Path | None, **given: Any) -> Mapping[str, MachineSettings]:
    try:
        return read_machines(config, given)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


def _credentials_of(name: str, settings: MachineSettings) -> Credentials:
    of_machine = f"{name}: " if name else ""
    try:
        return settings.read_credentials()
    except OSError as error:
        raise click.UsageError(f"{of_machine}cannot read the token: {error}") from None
    except ValueError as error:
        raise click.UsageError(f"{of_machine}{error}") from None


def log_handler(settings: MachineSettings) -> logging.Handler:
    """Where the log goes: a file that begins anew when it is long, or standard error."""
    if settings.log_file is None:
        return logging.StreamHandler(sys.stderr)
    try:
        make_private_directory(settings.log_file.parent)
        return RotatingFileHandler(
            settings.log_file, maxBytes=LOG_BYTES, backupCount=OLDER_LOGS, encoding="utf-8"
        )
    except OSError as error:
        raise click.UsageError(f"cannot log into {settings.log_file}: {error}") from None


@farhand_machine.command()
@machine_options
@click.option("--testing", is_flag=True, hidden=True, help="Take failpoints.")
def join(config: Path | None, testing: bool, **given: Any) -> None:
    """Connect to the server and carry out what it sends, until SIGTERM or Ctrl-C."""
    machines = machines_from(config, **given)
    try:
        arm_failpoints(testing=testing)
    except FailpointError as error:
        raise click.UsageError(str(error)) from None
    # Where there are several, what is said of the program is the first one's to say.
    settings = next(iter(machines.values())).settings
    handler = log_handler(settings)
    handler.setFormatter(log_formatter(settings.log_format, LOG_LINE))
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])
    _warn_of_open_secrets(machines.values())
    if sys.platform == "linux":
        return_large_blocks(ctypes.CDLL(None), PICTURE_BYTES)
    try:
        event_loop.run(join_server(machines))
    except JournalError as error:
        raise _ended(settings, click.ClickException(str(error))) from None
    except MisconfiguredError as error:
        raise _ended(settings, click.UsageError(str(error))) from None
    except MustStopError as error:
        raise _ended(settings, StoppedForGood(str(error))) from None


def _ended(settings: MachineSettings, failure: click.ClickException) -> click.ClickException:
    """What the program ends with; in a log file as well, where nobody sees what it prints."""
    if settings.log_file is not None:
        logger.error("it ends: %s", failure.format_message())
    return failure


def _warn_of_open_secrets(machines: Iterable[JoiningMachine]) -> None:
    for file in {file for each in machines for file in each.settings.secret_files.values()}:
        with suppress(OSError):  # What cannot be read is told where it is needed.
            if (others := who_else_reads(file)) is not None:
                logger.warning("%s", others)


@farhand_machine.command()
@machine_options
def doctor(config: Path | None, **given: Any) -> None:
    """Try each hop between this desktop and the server, and name the one that fails."""
    healthy = True
    for name, settings in _settings_from(config, **given).items():
        # It changes nothing: a machine that is to join with a code gets no token here.
        is_to_join = settings.has_code and not settings.has_joined
        token = None if is_to_join else _credentials_of(name, settings).token
        if name:
            click.echo(f"{name}:")
        for finding in asyncio.run(examine(settings, token)):
            click.echo(str(finding))
            healthy = healthy and finding.good
    of_program = asyncio.run(check_service(service_of_this_system))
    click.echo(str(of_program))
    if not (healthy and of_program.good):
        raise SystemExit(1)


@farhand_machine.command()
@machine_options
@click.option("--elevated", is_flag=True, help="Windows: with the highest rights its user has.")
@click.option(
    "--accessibility/--no-accessibility",
    default=None,
    help="Linux: have programs tell what elements they show.  [default: asked on a terminal]",
)
def install(config: Path | None, elevated: bool, accessibility: bool | None, **given: Any) -> None:
    """Keep a machine client running in this user's graphical session, now and from now on."""
    machines = [each.settings for each in machines_from(config, **given).values()]
    settings = machines[0]
    if settings.code is not None:
        # Others can read a command's arguments.
        given |= {"code": None, "code_file": _kept_code(settings)}
    unseen_log = settings.state_dir / "client.log" if settings.log_file is None else None
    with _service_errors():
        command = command_of(config, given, unseen_log)
        service = service_of_this_system()
        switch = agreed_switch(machines, service, wanted=accessibility)
        is_switched = switch is not None
        click.echo(service.install(command, elevated=elevated, accessibility=is_switched))
    if switch is not None:
        switch_on(switch)


def _kept_code(settings: MachineSettings) -> Path:
    assert settings.code is not None  # noqa: S101  whoever calls has looked
    file = settings.state_dir / "join-code"
    try:
        make_private_directory(file.parent)
        make_private_file(file)
        file.write_text(settings.code.get_secret_value() + "\n")
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror}") from None
    return file


@farhand_machine.command()
def uninstall() -> None:
    """End what `install` keeps running, and forget it."""
    with _service_errors():
        service = service_of_this_system()
        was_switched = service.switches_accessibility()
        click.echo(service.uninstall())
    if was_switched:
        switch_back()


@farhand_machine.command()
def status() -> None:
    """Say whether one is installed and runs; 1 where it does not."""
    with _service_errors():
        state = service_of_this_system().state()
    click.echo("not installed" if state is None else str(state))
    if state is None or not state.is_running:
        raise SystemExit(1)


@contextmanager
def _service_errors() -> Iterator[None]:
    try:
        yield
    except ServiceError as error:
        raise click.ClickException(str(error)) from None
