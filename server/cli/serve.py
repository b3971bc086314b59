"""``farhand serve``: run a server until it is told to stop."""

import logging
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import uvloop

from schemas.programs.settings import SettingsError
from server.cli.running import (
    MOST_WORKERS,
    on_reload,
    prepare_process,
    run_until_told,
    settle_memory,
    stop_signal,
)
from server.data_directory import ADMIN_TOKEN_FILE
from server.errors import StoreError
from server.foundation import Foundation, StartError
from server.settings import CONFIG_VARIABLE, ServerSettings, read_settings

if TYPE_CHECKING:
    from server.app import Server

logger = logging.getLogger(__name__)

Command = TypeVar("Command", bound=Callable[..., Any])


def server_options(command: Command) -> Command:
    """The options by which a server's settings are given on the command line."""
    for option in (
        click.option(
            "--config",
            type=click.Path(path_type=Path, dir_okay=False),
            envvar=CONFIG_VARIABLE,
            help="A TOML file with settings.",
        ),
        click.option(
            "--data-dir",
            type=click.Path(path_type=Path, file_okay=False),
            help="Where the server keeps its data.  [default: ~/.local/share/farhand]",
        ),
        click.option("--port", type=int, help="The port to listen on.  [default: 8600]"),
        click.option("--host", help="The address to listen on.  [default: 127.0.0.1]"),
    ):
        command = option(command)
    return command


def settings_from(config: Path | None, **given: Any) -> ServerSettings:
    """The server's settings, or a usage error with one line for each mistake."""
    try:
        return read_settings(config, given)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


@click.command()
@server_options
@click.option(
    "--workers",
    type=click.IntRange(min=1, max=MOST_WORKERS),
    default=1,
    show_default=True,
    help="So many nodes on this port, each a process of its own.",
)
@click.option("--testing", is_flag=True, hidden=True, help="Take failpoints.")
def serve(
    host: str | None,
    port: int | None,
    data_dir: Path | None,
    config: Path | None,
    workers: int,
    testing: bool,
) -> None:
    """Run the server until SIGTERM or Ctrl-C."""
    settings = settings_from(config, host=host, port=port, data_dir=data_dir)
    prepare_process(settings, testing=testing)
    running = _serve(settings) if workers == 1 else _supervise(settings, workers, testing=testing)
    try:
        uvloop.run(running)
    except (StartError, StoreError) as error:
        raise click.ClickException(str(error)) from None


async def _serve(settings: ServerSettings) -> None:
    stopped = stop_signal()
    on_reload(lambda: logger.warning("SIGHUP is for workers, and there are none: nothing is done"))
    server = await _started(settings)
    _say_where(server.address, settings)
    settle_memory()
    await run_until_told(stopped, server)


async def _supervise(settings: ServerSettings, workers: int, *, testing: bool) -> None:
    # Loaded here: one server alone needs none of it.
    from server.workers.group import WorkerGroup  # noqa: PLC0415

    stopped = stop_signal()
    group = WorkerGroup(settings, workers, testing=testing)
    await group.start()
    on_reload(group.replace)
    _say_where(group.address, settings)
    await run_until_told(stopped, group)


def _say_where(address: str, settings: ServerSettings) -> None:
    logger.info("listening on %s, data in %s", address, settings.data_dir)
    # The log may name the directory, which the sign-in page keeps from strangers.
    logger.info(
        "the console is at %s/console; a token to sign in with: %s, or one of your own: "
        "farhand token create --data-dir %s --name my-console --role operator",
        address,
        settings.data_dir / ADMIN_TOKEN_FILE,
        shlex.quote(str(settings.data_dir.absolute())),
    )


async def _started(settings: ServerSettings) -> "Server":
    foundation = Foundation(settings)
    try:
        foundation.take()
        # Loaded while MongoDB recovers, each of which takes about as long as the other.
        from server.app import Server  # noqa: PLC0415
    except BaseException:
        await foundation.release()
        raise
    server = Server(settings, foundation)
    await server.start()
    return server
