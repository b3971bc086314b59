"""The parent of several workers: it takes what they share, starts them, and ends them in order."""

import asyncio
import logging
import secrets
from functools import partial
from typing import Final

from server.bus.nats_server import EmbeddedNats, EmbeddedNatsError
from server.foundation import Foundation, StartError
from server.settings import ServerSettings
from server.tasks import OnFailure, Tasks
from server.workers.keeping import keep_running
from server.workers.place import WorkerPlace
from server.workers.process import WorkerProcess
from server.workers.worker import FirstStart, Worker

logger = logging.getLogger(__name__)

CLOSING_SECONDS: Final = 20.0
"""For links, records and the database of a worker to be closed, beside its running inputs."""

_MOST_NAME_LETTERS: Final = 63


class WorkerGroup:
    """Several workers on one port, and what they stand on: ``start``, wait, ``stop``."""

    def __init__(self, settings: ServerSettings, number: int, *, testing: bool) -> None:
        self._settings = settings
        self._testing = testing
        self._foundation = Foundation(settings)
        self._nats: EmbeddedNats | None = None
        self._first_start = FirstStart()
        self._tasks = Tasks()
        self._replacing: asyncio.Task[None] | None = None
        names = [worker_name(settings.node_name, each) for each in range(1, number + 1)]
        self._workers = [Worker(name, self._process, self._first_start) for name in names]

    @property
    def address(self) -> str:
        """Where the workers are reached, such as ``http://127.0.0.1:8600``."""
        return self._foundation.address

    async def start(self) -> None:
        """Start everything, and wait until one of the workers answers requests.

        Raises StartError or a StoreError, and leaves nothing running, where that is not possible.
        """
        try:
            self._foundation.take()
            self._launch_nats()
            # They load their code while MongoDB recovers.
            for each in self._workers:
                each.launch()
            self._run(await self._shared_place())
            await self._first_start.wait()
            self._foundation.write_address()
        except EmbeddedNatsError as error:
            await self.stop()
            raise StartError(str(error)) from None
        except BaseException:
            await self.stop()
            raise

    def _launch_nats(self) -> None:
        if not self._settings.has_nats:
            self._nats = EmbeddedNats(self._settings.data_dir / "nats")
            self._nats.launch()

    async def _shared_place(self) -> WorkerPlace:
        """What is the same for all workers, once MongoDB and NATS can be reached."""
        try:
            nats_url = self._settings.read_nats_url()
        except ValueError as error:
            raise StartError(str(error)) from None
        if self._nats is not None:
            nats_url = await self._nats.until_ready()
        shared = {
            "mongodb_uri": await self._foundation.mongodb_uri(),
            "mongodb_uri_file": None,
            "nats_url": nats_url,
            "nats_url_file": None,
        }
        return WorkerPlace(
            group=secrets.token_hex(8),
            settings=self._settings.model_copy(update=shared),
            sockets=tuple(each.fileno() for each in self._foundation.sockets),
            reports=-1,
        )

    def _run(self, shared: WorkerPlace) -> None:
        for each in self._workers:
            settings = shared.settings.model_copy(update={"node_name": each.name})
            place = shared.model_copy(update={"settings": settings})
            name = f"run worker {each.name}"
            self._tasks.supervise(partial(each.run, place), name, OnFailure.END_PROGRAM)
        if (mongod := self._foundation.embedded) is not None:
            self._tasks.supervise(partial(keep_running, mongod), "keep mongod running")
        if (nats := self._nats) is not None:
            self._tasks.supervise(partial(keep_running, nats), "keep nats-server running")

    def _process(self) -> WorkerProcess:
        sockets = [each.fileno() for each in self._foundation.sockets]
        return WorkerProcess(sockets, testing=self._testing)

    def replace(self) -> None:
        """Begin to replace the workers by new processes, unless that is under way."""
        if self._replacing is None or self._replacing.done():
            replacing = self._tasks.start_and_report(self._replace_all(), "replace the workers")
            self._replacing = replacing

    async def _replace_all(self) -> None:
        """One after the other: the rest has its machines meanwhile."""
        logger.info("replacing the workers, one after the other")
        timeout = self._settings.stop_timeout + CLOSING_SECONDS
        for each in self._workers:
            try:
                await each.replace(timeout)
            except TimeoutError:
                logger.error(  # noqa: TRY400  where it happened tells nobody anything
                    "worker=%s is not ready in time; the others stay as they are", each.name
                )
                return
        logger.info("all workers are replaced")

    async def failed(self) -> None:
        """Wait until the group is of no use any more, and raise why."""
        await self._tasks.until_fatal()

    async def stop(self) -> None:
        """Take no new connections; end the workers, all at once, then nats-server, then mongod."""
        self._foundation.refuse()
        for each in self._workers:
            each.terminate()
        timeout = self._settings.stop_timeout + CLOSING_SECONDS
        await asyncio.gather(*(each.until_ended(timeout) for each in self._workers))
        # Until here mongod and nats-server were kept for the workers.
        await self._tasks.close(0)
        if self._nats is not None:
            await self._nats.stop()
        await self._foundation.release()


def worker_name(node_name: str, number: int) -> str:
    """What operators call a worker: the node's name, cut where it is too long, and a number."""
    suffix = f"-{number}"
    return node_name[: _MOST_NAME_LETTERS - len(suffix)] + suffix
