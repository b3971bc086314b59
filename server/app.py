"""One node: its parts are started together, supervised, and stopped in order."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from schemas.link.close_codes import CloseCode
from server.api.metrics import register_metrics
from server.api.routes import ROUTES
from server.assembly import Ground, assemble
from server.bus.bus import Bus
from server.bus.local_bus import LocalBus, LocalExchange
from server.errors import StoreUnavailable
from server.events.shared_hub import SharedEventHub
from server.first_administrator import give_new_scopes, make_first_administrator
from server.foundation import Foundation, StartError, TakenFoundation, address_of
from server.machines.maintenance import check_restrictions, tick_links
from server.machines.socket import LinkSocket
from server.machines.token_watch import TokenWatch
from server.nodes.drain import Drain
from server.process.node import Node
from server.secrets.key_file import FILE_NAME, KeyFileError, vault_of
from server.secrets.sealing import Sealing, SecretKeyError
from server.services import Services
from server.settings import ServerSettings
from server.store.embedded_mongod import EmbeddedMongoDB
from server.store.identity.organizations import OrganizationStore
from server.store.identity.tokens import TokenStore
from server.store.machines.controls import ControlStore
from server.store.machines.machines import MachineStore
from server.store.mongodb.database import Database
from server.store.mongodb.installation import Installation
from server.store.secret_keys import SecretKeyStore
from server.tasks import OnFailure, Tasks
from server.web.bodies.incoming import MAX_DRAINED_BYTES
from server.web.http_server import ApiServer
from server.web.routing import ApiApplication

logger = logging.getLogger(__name__)

LAST_ANSWERS_SECONDS = 3.0
"""For machines to say how far they came with several actions, and for that to be answered."""
LINK_CLOSING_SECONDS = 3.0
RECORDING_SECONDS = 5.0
"""For the last inputs to be recorded, when the server stops."""
STOP_POLL_SECONDS = 0.02
BODY_POLL_SECONDS = 0.5
LAG_PROBE_SECONDS = 0.25
MOST_CLOCK_SECONDS = 5.0
"""By which the clocks of nodes may differ; an input with less time than that may never begin."""


class Server:
    """One node: ``start`` it, wait, ``stop`` it.

    ``foundation`` is given where it is taken already.  ``is_replaced`` is set before the end of one
    whose parent goes on with the others.
    """

    services: Services
    is_replaced: bool = False
    _node: Node

    def __init__(self, settings: ServerSettings, foundation: TakenFoundation | None = None) -> None:
        self._settings = settings
        self._foundation: TakenFoundation | None = foundation
        self._database: Database | None = None
        self._http: ApiServer | None = None
        self._bus: Bus | None = None
        self._background = Tasks()
        self._watches: list[asyncio.Task[None]] = []

    @property
    def address(self) -> str:
        """Where this server is reached, such as ``http://127.0.0.1:8600``."""
        return address_of(self._settings.host, self._port)

    async def start(self) -> None:
        """Take the port, open the database, and answer requests.

        Raises StartError or a StoreError, and leaves nothing running, where that is not possible.
        """
        settings = self._settings
        try:
            if self._foundation is None:
                self._foundation = own = Foundation(settings)
                own.take()
            self._port = self._foundation.port
            self._node = Node.new(settings.node_name, self._foundation.group)
            uri = await self._foundation.mongodb_uri()
            self._database = await Database.open(uri, settings.mongodb_database)
            if settings.has_nats:
                await _check_clock(self._database)
            installation = await Installation.open(self._database)
            self._bus = self._open_bus()
            self.services = assemble(
                Ground(
                    settings,
                    self._background,
                    self._database,
                    installation,
                    await self._secrets(self._database, self._foundation.group),
                    self._node,
                    self._bus,
                )
            )
            register_metrics(self.services)
            organization = await make_first_administrator(
                OrganizationStore(self._database), TokenStore(self._database), settings.data_dir
            )
            await give_new_scopes(self._database, organization)
            sockets = self._foundation.listen()
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
        self._recording = supervise(services.operation.recorder.run, "record inputs")
        self._watches = [
            supervise(lambda: tick_links(services.machines.registry), "tick the links"),
            supervise(self._check_tokens, "check the tokens of links"),
            supervise(self._watch_bodies, "watch request bodies"),
            supervise(self._watch_lag, "watch the event loop"),
            supervise(services.library.indexer.run, "enter new trajectories"),
            supervise(services.library.keeping.run, "look after pictures"),
            supervise(services.machines.control.run, "end control leases that are over"),
            supervise(services.machines.pauses.run, "end pauses that are over"),
            supervise(services.machines.recordings.run, "end recordings that are over"),
            supervise(services.runs.executor.run, "work at runs"),
            supervise(services.runs.executor.unattended.run, "look after runs that wait"),
            supervise(services.machines.help.run, "end help requests that are over"),
            supervise(services.delivering.run, "deliver to webhooks"),
            supervise(services.outages.run, "tell of machines that are gone"),
            supervise(services.machines.looks.run, "end stretches of looking that are over"),
        ]
        if self._settings.has_nats:
            self._watches.extend(self._join_others())
        if embedded is not None:
            self._watches.append(
                supervise(embedded.until_ended, "watch the database", OnFailure.END_PROGRAM)
            )

    async def _secrets(self, database: Database, group: str | None) -> Sealing:
        """What seals secrets.  Raises StartError where this node cannot open those that are kept.

        Nodes on several systems get their key from their operator, who gives all of them the same.
        """
        settings = self._settings
        is_alone = not settings.has_nats or group is not None
        path = settings.secret_key_file
        if path is None and is_alone:
            path = settings.data_dir / FILE_NAME
        try:
            vault = None if path is None else vault_of(path, may_make=is_alone)
            sealing = Sealing(vault, SecretKeyStore(database))
            await sealing.check()
        except (KeyFileError, SecretKeyError) as error:
            raise StartError(str(error)) from None
        return sealing

    def _open_bus(self) -> Bus:
        try:
            url = self._settings.read_nats_url()
        except ValueError as error:
            raise StartError(str(error)) from None
        if url is None:
            return LocalBus(LocalExchange(), self._background)
        # Loaded where it is needed: most servers are alone.
        from server.bus.nats_bus import NatsBus  # noqa: PLC0415

        bus = NatsBus(url, self._background, name=self._node.name)
        bus.start()
        return bus

    def _join_others(self) -> list[asyncio.Task[None]]:
        """Begin what a node does that is not alone."""
        services, supervise = self.services, self._background.supervise
        cluster = services.cluster
        cluster.membership.begin(cluster.responder)
        cluster.bus.on_reconnect(cluster.membership.announce_links)
        if isinstance(services.events, SharedEventHub):
            self._watches.append(supervise(services.events.run, "share events"))
        return [
            supervise(cluster.presence.run, "be among the nodes"),
            supervise(cluster.membership.keep_links_announced, "announce the links of this node"),
            supervise(self._check_restrictions, "check whom machines take inputs from"),
        ]

    async def _check_restrictions(self) -> None:
        services = self.services
        node_id = services.cluster.node.node_id
        await check_restrictions(
            services.machines.registry,
            ControlStore(services.operation.database),
            services.machines.admission,
            node_id,
            services.machines.control.look_soon,
        )

    async def _watch_lag(self) -> None:
        """Note by how much later than it should this runs: the time that others took."""
        observe = self.services.operation.metrics.loop_lag.observe
        while True:
            due = time.perf_counter() + LAG_PROBE_SECONDS
            await asyncio.sleep(LAG_PROBE_SECONDS)
            observe(max(time.perf_counter() - due, 0.0))

    async def _check_tokens(self) -> None:
        services = self.services
        tokens = TokenStore(services.operation.database)
        await TokenWatch(services.machines.registry, tokens, self._settings.token_check).run()

    async def _watch_bodies(self) -> None:
        while True:
            await asyncio.sleep(BODY_POLL_SECONDS)
            self.services.operation.body_memory.close_slow(self._settings.body_timeout)

    async def failed(self) -> None:
        """Wait until the server is of no use any more, and raise why."""
        await self._background.until_fatal()

    async def stop(self) -> None:
        """No new connections; machines move to other nodes; running inputs end; then all the rest.

        Several actions that do not end in time are interrupted, and their requests answered.
        Where no other node goes on, no new requests are taken either, and links close at the end.
        """
        if self._http is not None:
            give_up_at = time.monotonic() + self._settings.stop_timeout
            services, operation = self.services, self.services.operation
            operation.leaving = True
            services.events.close()
            self._http.stop()
            await services.runs.executor.leave(give_up_at - time.monotonic())
            if self._others_go_on():
                await self._drain()
            operation.stopping = True
            cluster = services.cluster
            cluster.responder.takes_commands = False
            await self._until_answered(give_up_at - time.monotonic())
            registry = services.machines.registry
            # Who decided several actions is told which are done, rather than that nobody knows.
            were_running = [link.announce_stop() for link in registry]
            if any(were_running):
                await self._until_answered(LAST_ANSWERS_SECONDS)
            cluster.membership.close()
            registry.close_all(CloseCode.SERVER_STOPPING, "the server is stopping")
            for watch in self._watches:
                watch.cancel()
            await _until(lambda: not any(registry), LINK_CLOSING_SECONDS)
            services.machines.looks.close()
            await services.machines.vision.close()
            await operation.recorder.close(RECORDING_SECONDS, self._recording)
            await services.events.finish(LINK_CLOSING_SECONDS)
            await self._leave_others()
        if self._bus is not None:
            await self._bus.close()
        await self._background.close(LINK_CLOSING_SECONDS)
        if self._http is not None:
            await self._http.close_all_connections()
            self._application.access_log.flush()
        if self._database is not None:
            await self._database.finish()
        if self._foundation is not None:
            await self._foundation.release()

    async def _until_answered(self, seconds: float) -> None:
        """Wait, for so long at most, until no request of a client or another node is under way."""
        operation, responder = self.services.operation, self.services.cluster.responder
        await _until(lambda: not operation.under_way and not responder.under_way, seconds)

    def _others_go_on(self) -> bool:
        """Whether there are nodes to which machines can move; a parent ends all of its own."""
        presence = self.services.cluster.presence
        return self.is_replaced or len(presence.others) > len(presence.peers)

    async def _drain(self) -> None:
        machines = MachineStore(self.services.operation.database)

        async def is_back(link: LinkSocket) -> bool:
            machine = await machines.get_together(link.organization_id, link.machine_id)
            return machine is None or machine.epoch > link.epoch

        await Drain(self.services.machines.registry, is_back).run(self._settings.stop_timeout)

    async def _leave_others(self) -> None:
        if self._settings.has_nats:
            # Else the others find out.
            with suppress(StoreUnavailable):
                await self.services.cluster.presence.leave()


async def _check_clock(database: Database) -> None:
    """Raise StartError where this host's time is not that of the other nodes."""
    ahead = (await database.clock_difference()).total_seconds()
    if abs(ahead) > MOST_CLOCK_SECONDS:
        raise StartError(
            f"This host's clock is {abs(ahead):.0f} s {'behind' if ahead > 0 else 'ahead of'} "
            "MongoDB's: set it right (NTP). Nodes tell each other until when an input may begin."
        )


async def _until(condition: Callable[[], bool], timeout: float) -> None:
    """Wait for the end of something, for so many seconds at most."""
    give_up_at = time.monotonic() + timeout
    while not condition() and time.monotonic() < give_up_at:  # noqa: ASYNC110 - once in a life
        await asyncio.sleep(STOP_POLL_SECONDS)
