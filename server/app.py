"""One node: its parts are started together, supervised, and stopped in order."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable

from schemas.link.messages import CloseCode
from server.api.metrics import register_metrics
from server.api.routes import ROUTES
from server.assembly import assemble
from server.data_directory import ADDRESS_FILE
from server.first_administrator import give_new_scopes, make_first_administrator
from server.foundation import Foundation, write_private
from server.machines.maintenance import check_tokens, tick_links
from server.services import Services
from server.settings import ServerSettings
from server.store.embedded.mongod import EmbeddedMongoDB
from server.store.mongodb.database import Database
from server.store.mongodb.installation import Installation
from server.tasks import OnFailure, Tasks
from server.web.bodies.incoming import MAX_DRAINED_BYTES
from server.web.http_server import ApiServer
from server.web.routing import ApiApplication

logger = logging.getLogger(__name__)

LINK_CLOSING_SECONDS = 3.0
RECORDING_SECONDS = 5.0
"""For the last inputs to be recorded, when the server stops."""
STOP_POLL_SECONDS = 0.02
BODY_POLL_SECONDS = 0.5
LAG_PROBE_SECONDS = 0.25


class Server:
    """One node: ``start`` it, wait, ``stop`` it.

    ``foundation`` is given where it is taken already.
    """

    services: Services

    def __init__(self, settings: ServerSettings, foundation: Foundation | None = None) -> None:
        self._settings = settings
        self._foundation = foundation
        self._database: Database | None = None
        self._http: ApiServer | None = None
        self._background = Tasks()
        self._watches: list[asyncio.Task[None]] = []

    @property
    def address(self) -> str:
        """Where this server is reached, such as ``http://127.0.0.1:8600``."""
        host = self._settings.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._port}"

    async def start(self) -> None:
        """Take the port, open the database, and answer requests.

        Raises StartError or a StoreError, and leaves nothing running, where that is not possible.
        """
        settings = self._settings
        try:
            if self._foundation is None:
                self._foundation = Foundation(settings)
                self._foundation.take()
            self._port = self._foundation.port
            uri = await self._foundation.mongodb_uri()
            self._database = await Database.open(uri, settings.mongodb_database)
            installation = await Installation.open(self._database)
            self.services = assemble(settings, self._background, self._database, installation)
            register_metrics(self.services)
            organization = await make_first_administrator(
                self.services.organizations, self.services.tokens, settings.data_dir
            )
            await give_new_scopes(self._database, organization)
            sockets = self._foundation.listen()
            write_private(settings.data_dir / ADDRESS_FILE, self.address)
        except BaseException:
            await self.stop()
            raise
        self._serve(sockets)
        self._supervise(self._foundation.embedded)

    def _serve(self, sockets: list[socket.socket]) -> None:
        settings = self._settings
        self._application = ApiApplication(ROUTES, self.services)
        self._http = ApiServer(
            self._application,
            background=self._background,
            # A refused body is read a little further than it is long, never cut off by Tornado.
            max_body_size=2 * MAX_DRAINED_BYTES,
            max_buffer_size=MAX_DRAINED_BYTES,
            idle_connection_timeout=settings.idle_connection_timeout,
        )
        self._http.add_sockets(sockets)

    def _supervise(self, embedded: EmbeddedMongoDB | None) -> None:
        """Begin what runs as long as the server: all of it begins again after a failure, but one.

        Without its embedded MongoDB a server answers nothing, and whoever restarts the server
        starts both.  What fails else is missed for a moment: heartbeats, the revocation of tokens,
        the bound on slow bodies, the measured lag, the list index, and the audit, which takes no
        further inputs when it is not written for too long.
        """
        services, supervise = self.services, self._background.supervise
        self._recording = supervise(services.recorder.run, "record inputs")
        self._watches = [
            supervise(lambda: tick_links(services.registry), "tick the links"),
            supervise(self._check_tokens, "check the tokens of links"),
            supervise(self._watch_bodies, "watch request bodies"),
            supervise(self._watch_lag, "watch the event loop"),
            supervise(services.trajectory_indexer.run, "enter new trajectories"),
        ]
        if embedded is not None:
            self._watches.append(
                supervise(embedded.until_ended, "watch the database", OnFailure.END_PROGRAM)
            )

    async def _watch_lag(self) -> None:
        """Note by how much later than it should this runs: the time that others took."""
        observe = self.services.metrics.loop_lag.observe
        while True:
            due = time.perf_counter() + LAG_PROBE_SECONDS
            await asyncio.sleep(LAG_PROBE_SECONDS)
            observe(max(time.perf_counter() - due, 0.0))

    async def _check_tokens(self) -> None:
        services = self.services
        await check_tokens(services.registry, services.tokens, self._settings.token_check)

    async def _watch_bodies(self) -> None:
        while True:
            await asyncio.sleep(BODY_POLL_SECONDS)
            self.services.body_memory.close_slow(self._settings.body_timeout)

    async def failed(self) -> None:
        """Wait until the server is of no use any more, and raise why."""
        await self._background.until_fatal()

    async def stop(self) -> None:
        """No new requests; running inputs end; links close, to come back; then all the rest."""
        if self._http is not None:
            self.services.stopping = True
            self.services.events.close()
            self._http.stop()
            await _until(lambda: not self.services.under_way, self._settings.stop_timeout)
            self.services.registry.close_all(CloseCode.SERVER_STOPPING, "the server is stopping")
            for watch in self._watches:
                watch.cancel()
            await _until(lambda: not any(self.services.registry), LINK_CLOSING_SECONDS)
            await self.services.recorder.close(RECORDING_SECONDS, self._recording)
        await self._background.close(LINK_CLOSING_SECONDS)
        if self._http is not None:
            await self._http.close_all_connections()
            self._application.access_log.flush()
        if self._database is not None:
            await self._database.finish()
        if self._foundation is not None:
            await self._foundation.release()


async def _until(condition: Callable[[], bool], timeout: float) -> None:
    """Wait for the end of something, for so many seconds at most."""
    give_up_at = time.monotonic() + timeout
    while not condition() and time.monotonic() < give_up_at:  # noqa: ASYNC110 - once in a life
        await asyncio.sleep(STOP_POLL_SECONDS)
