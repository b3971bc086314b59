"""``farhand serve``: run a server until it is told to stop."""

import asyncio
import gc
import logging
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import uvloop

from schemas.programs.failpoints import FailpointError
from schemas.programs.settings import SettingsError
from server.data_directory import ADMIN_TOKEN_FILE
from server.foundation import Foundation, StartError
from server.process.failpoints import arm_failpoints
from server.process.logs import configure_logging
from server.process.memory import return_large_blocks
from server.settings import CONFIG_VARIABLE, ServerSettings, read_settings
from server.store.errors import StoreError

if TYPE_CHECKING:
    from server.app import Server

logger = logging.getLogger(__name__)

GARBAGE_OBJECTS = 10_000
"""So many new objects at least before a search for garbage; Python's own choice is 700."""

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
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Nodes on this port.  This version runs one.",
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
    if workers > 1:
        raise click.UsageError(
            "--workers: this version runs one node; several need a message bus, which comes later"
        )
    settings = settings_from(config, host=host, port=port, data_dir=data_dir)
    configure_logging(settings.log_level, settings.log_format)
    try:
        arm_failpoints(testing=testing)
    except FailpointError as error:
        raise click.UsageError(str(error)) from None
    return_large_blocks()
    try:
        uvloop.run(_serve(settings))
    except (StartError, StoreError) as error:
        raise click.ClickException(str(error)) from None


async def _serve(settings: ServerSettings) -> None:
    stopped = stop_signal()
    server = await _started(settings)
    logger.info("listening on %s, data in %s", server.address, settings.data_dir)
    logger.info(
        "the console is at %s/console; a token to sign in with: %s, or farhand token create",
        server.address,
        settings.data_dir / ADMIN_TOKEN_FILE,
    )
    # What lives as long as the server is not searched for garbage again and again; and what a
    # request leaves is nearly all free without a search, so that one is seldom worth its time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_OBJECTS)
    reasons = [
        asyncio.create_task(stopped.wait(), name="stop signal"),  # noqa: TID251
        asyncio.create_task(server.failed(), name="failure"),  # noqa: TID251
    ]
    (reason, *_), _ = await asyncio.wait(reasons, return_when=asyncio.FIRST_COMPLETED)
    logger.info("stopping: running inputs end first; once more stops at once")
    # The second signal finds the default handlers again and ends the process.
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().remove_signal_handler(number)
    await server.stop()
    logger.info("stopped")
    await reason


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


def stop_signal() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped
