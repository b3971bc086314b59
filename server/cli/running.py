"""How a process that serves begins and ends: a server alone, a worker, the parent of workers."""

import asyncio
import ctypes
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import Final, Protocol

import click

from schemas.programs.allocator import return_large_blocks
from schemas.programs.failpoints import FailpointError
from server.process.failpoints import arm_failpoints
from server.process.logs import configure_logging
from server.process.open_files import allow_open_files
from server.settings import ServerSettings

logger = logging.getLogger(__name__)

LARGE_BYTES: Final = 256 * 1024
"""What is freed of that size goes back to the system.

Measured, two senders of bodies of 12 MB cost 60 MB then, and not 150.
"""

GARBAGE_OBJECTS: Final = 10_000
"""So many new objects at least before a search for garbage; Python's own choice is 700."""


MOST_WORKERS: Final = 64
"""More processes than that have nothing to gain from one port."""


class Running(Protocol):
    """What runs until it is told to stop, or cannot go on."""

    async def failed(self) -> None:
        """Wait until it cannot go on, and raise why."""

    async def stop(self) -> None:
        """End it in order."""


def prepare_process(settings: ServerSettings, *, testing: bool, node: str | None = None) -> None:
    """Set up what belongs to the whole process; its lines in the log may have a node's name."""
    configure_logging(settings.log_level, settings.log_format, node)
    try:
        arm_failpoints(testing=testing)
    except FailpointError as error:
        raise click.UsageError(str(error)) from None
    if sys.platform == "linux":
        return_large_blocks(ctypes.CDLL(None), LARGE_BYTES)
    allow_open_files()


def settle_memory() -> None:
    """Call it once everything that lives as long as the server is there.

    That is not searched for garbage again and again; and what a request leaves is nearly all free
    without a search, so that one is seldom worth its time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_OBJECTS)


def stop_signal() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


def on_reload(reload: Callable[[], object]) -> None:
    """Call something at each SIGHUP.

    In a terminal it says that the terminal is gone, and ends the program as it always does.
    """
    if not os.isatty(0):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)


async def run_until_told(
    stopped: asyncio.Event, running: Running, level: int = logging.INFO
) -> None:
    """Wait for the signal or for a failure, end in order, and raise what failed.

    ``level`` is that of the two lines in the log that say so.
    """
    reasons = [
        asyncio.create_task(stopped.wait(), name="stop signal"),  # noqa: TID251
        asyncio.create_task(running.failed(), name="failure"),  # noqa: TID251
    ]
    (reason, *_), _ = await asyncio.wait(reasons, return_when=asyncio.FIRST_COMPLETED)
    logger.log(level, "stopping: running inputs end first; once more stops at once")
    # The second signal finds the default handlers again and ends the process.
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().remove_signal_handler(number)
    await running.stop()
    logger.log(level, "stopped")
    await reason
