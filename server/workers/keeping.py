"""Keeps mongod and nats-server running for as long as there are workers."""

import asyncio
import logging
import time
from typing import Protocol

from server.bus.nats_server import EmbeddedNatsError
from server.errors import StoreError
from server.workers.pauses import Pauses

logger = logging.getLogger(__name__)


class Program(Protocol):
    """A program of ours that is found at the same place each time it is started."""

    def launch(self) -> None:
        """Start it, and wait for nothing."""

    async def until_ready(self) -> object:
        """Wait until it is of use."""

    async def until_ended(self) -> None:
        """Raise when it has ended by itself."""

    async def stop(self) -> None:
        """End what is left of it."""


async def keep_running(program: Program) -> None:
    """Start a program that runs now again whenever it has ended.

    Workers wait for it as for one of somebody else.
    """
    pauses, is_launched = Pauses(), True
    while True:
        begun_at = time.monotonic()
        try:
            if not is_launched:
                await program.stop()
                program.launch()
                await program.until_ready()
            await program.until_ended()
        except (StoreError, EmbeddedNatsError) as error:
            pause = pauses.after(time.monotonic() - begun_at)
            logger.error("%s  It is started again in %g s.", error, pause)  # noqa: TRY400
            await asyncio.sleep(pause)
        is_launched = False
