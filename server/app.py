"""Puts the parts together: the only place that knows all of them."""

import asyncio
import json
import logging
import os
import socket
import time
from collections.abc import Callable
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from schemas.tokens import ADMINISTRATOR_SCOPES
from schemas.wire import CloseCode
from server.api.authentication import Authenticator, new_secret, secret_hash
from server.api.metrics import ask_for_metrics
from server.api.openapi import openapi_document
from server.api.routes import ROUTES
from server.api.routing import MAX_DRAINED_BYTES, ApiApplication
from server.api.services import Services
from server.api.sessions import Sessions
from server.console.assets import Assets
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.ledger import Ledger
from server.dispatch.recorder import InputRecorder
from server.dispatch.resolver import Resolver
from server.events.hub import EventHub
from server.machines.news import MachineNews
from server.machines.registry import LinkRegistry
from server.metrics import Metrics
from server.settings import ServerSettings
from server.store.audit import AuditStore
from server.store.commands import CommandStore
from server.store.database import Database
from server.store.embedded import EmbeddedMongoDB
from server.store.machines import MachineStore
from server.store.organizations import OrganizationStore
from server.store.pictures import PictureStore
from server.store.sessions import SessionStore
from server.store.tokens import TokenStore
from server.store.trajectories import TrajectoryStore
from server.store.trajectory_catalogue import TrajectoryCatalogue
from server.store.workflows import WorkflowStore
from server.tasks import Tasks

logger = logging.getLogger(__name__)

ADMIN_TOKEN_FILE = "admin-token"  # noqa: S105 - a file's name
ADDRESS_FILE = "address"
MAX_HEADER_BYTES = 32 * 1024
LINK_CLOSING_SECONDS = 3.0
RECORDING_SECONDS = 5.0
"""For the last inputs to be recorded, when the server stops."""
STOP_POLL_SECONDS = 0.02
BODY_POLL_SECONDS = 0.5
LAG_PROBE_SECONDS = 0.25
DATABASE_POLL_SECONDS = 1.0


class StartError(Exception):
    """The server cannot start; the message says why and what to do, for a person."""


class Server:
    """One node: ``start`` it, wait, ``stop`` it."""

    services: Services

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._embedded: EmbeddedMongoDB | None = None
        self._database: Database | None = None
        self._http: HTTPServer | None = None
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
        sockets = _bind(settings.host, settings.port)
        self._port = sockets[0].getsockname()[1]
        try:
            _make_private(settings.data_dir)
            uri = settings.mongodb_uri
            if uri is None:
                self._embedded = EmbeddedMongoDB(settings.data_dir / "mongodb")
                uri = await self._embedded.start()
            self._database = await Database.open(uri, settings.mongodb_database)
            self.services = self._assemble(self._database)
            ask_for_metrics(self.services)
            await self._make_first_administrator()
            _write_private(settings.data_dir / ADDRESS_FILE, self.address)
        except BaseException:
            for each in sockets:
                each.close()
            await self.stop()
            raise
        self._serve(sockets)

    def _assemble(self, database: Database) -> Services:
        settings, background = self._settings, self._background
        tokens, machines = TokenStore(database), MachineStore(database)
        lifetime = timedelta(seconds=settings.idempotency_key_lifetime)
        commands = CommandStore(database, lifetime=lifetime)
        authenticator = Authenticator(tokens, background, settings.token_check)
        registry = LinkRegistry(machines, tokens, settings.token_check)
        events = EventHub()
        news = MachineNews(machines, registry, events, background)
        audit = AuditStore(database, lifetime=timedelta(seconds=settings.audit_lifetime))
        metrics = Metrics()
        recorder = InputRecorder(audit, events, metrics)
        resolver = Resolver(commands, recorder)
        registry.on_change = news.changed
        registry.on_released = news.released
        return Services(
            settings=settings,
            background=background,
            database=database,
            organizations=OrganizationStore(database),
            tokens=tokens,
            machines=machines,
            workflows=WorkflowStore(database),
            trajectories=TrajectoryStore(database),
            catalogue=TrajectoryCatalogue(database),
            pictures=PictureStore(database),
            authenticator=authenticator,
            sessions=Sessions(
                SessionStore(database),
                tokens,
                authenticator,
                background,
                remember=settings.token_check,
                lifetime=settings.console_session_lifetime,
                idle=settings.console_session_idle,
            ),
            console=Assets(),
            registry=registry,
            ledger=Ledger(commands, Dispatcher(registry, machines), resolver, background, recorder),
            events=events,
            news=news,
            audit=audit,
            recorder=recorder,
            metrics=metrics,
            openapi=json.dumps(openapi_document(ROUTES, version("farhand"))).encode(),
        )

    async def _make_first_administrator(self) -> None:
        """On an empty database: the organization ``default`` and a token that may do anything."""
        organization, made = await self.services.organizations.ensure_default()
        if not made and await self.services.tokens.any():
            return
        secret = new_secret()
        file = self._settings.data_dir / ADMIN_TOKEN_FILE
        # The file first: a token that is stored and that nobody knows would lock everybody out.
        _write_private(file, secret)
        await self.services.tokens.create(
            organization.id, "administrator", secret_hash(secret), ADMINISTRATOR_SCOPES
        )
        logger.info("made an administrator's token, in %s", file)

    def _serve(self, sockets: list[socket.socket]) -> None:
        settings = self._settings
        self._application = ApiApplication(ROUTES, self.services)
        self._http = HTTPServer(
            self._application,
            max_header_size=MAX_HEADER_BYTES,
            max_body_size=MAX_DRAINED_BYTES,
            max_buffer_size=MAX_DRAINED_BYTES,
            idle_connection_timeout=settings.idle_connection_timeout,
        )
        self._http.add_sockets(sockets)
        self._recording = self._background.start(self.services.recorder.run(), "record inputs")
        self._watches = [
            self._background.start(self.services.registry.watch(), "watch the links"),
            self._background.start(self._watch_bodies(), "watch request bodies"),
            self._background.start(self._watch_lag(), "watch the event loop"),
            self._background.start(self.services.catalogue.run(), "enter new trajectories"),
        ]

    async def _watch_lag(self) -> None:
        """Note by how much later than it should this runs: the time that others took."""
        observe = self.services.metrics.loop_lag.observe
        while True:
            due = time.perf_counter() + LAG_PROBE_SECONDS
            await asyncio.sleep(LAG_PROBE_SECONDS)
            observe(max(time.perf_counter() - due, 0.0))

    async def _watch_bodies(self) -> None:
        while True:
            await asyncio.sleep(BODY_POLL_SECONDS)
            self._application.close_overdue()

    async def database_ended(self) -> None:
        """Return when the embedded mongod has ended by itself; never, where there is none."""
        while self._embedded is None or self._embedded.is_alive:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(DATABASE_POLL_SECONDS)

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
        if self._embedded is not None:
            await self._embedded.stop()


async def _until(condition: Callable[[], bool], timeout: float) -> None:
    """Wait for the end of something, for so many seconds at most."""
    give_up_at = time.monotonic() + timeout
    while not condition() and time.monotonic() < give_up_at:  # noqa: ASYNC110 - once in a life
        await asyncio.sleep(STOP_POLL_SECONDS)


def _bind(host: str, port: int) -> list[socket.socket]:
    try:
        return bind_sockets(port, host)
    except OSError as error:
        raise StartError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another "
            "with --host and --port"
        ) from None


def _make_private(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StartError(
            f"cannot use the data directory {directory}: {error.strerror}; choose another with "
            "--data-dir"
        ) from None


def _write_private(file: Path, text: str) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    draft = file.with_suffix(".draft")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(text + "\n")
        draft.replace(file)
    except OSError as error:
        raise StartError(
            f"cannot write {file}: {error.strerror}; choose another data directory with --data-dir"
        ) from None
