"""A running server on the real MongoDB, HTTP requests to it, and machine clients played by tests.

Every :class:`Service` works for an organization of its own, so tests share one database without
seeing each other.
"""

import asyncio
import atexit
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import UUID, uuid4

from pydantic import BaseModel
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httputil import HTTPHeaders
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from schemas.inputs.outcomes import Completed, Outcome, Point
from schemas.link.messages import (
    CONNECT_PATH,
    SERVER_MESSAGES,
    SUBPROTOCOL,
    Ack,
    Heartbeat,
    HeartbeatAck,
    Hello,
    Input,
    Interrupt,
    Interrupted,
    Ready,
    Report,
    Screenshot,
    ServerMessage,
    Welcome,
)
from schemas.resources.tokens import ADMINISTRATOR_SCOPES, NewToken, Scope
from server.app import Server
from server.identity.tokens import make_token
from server.machines.socket import LinkSocket
from server.secrets.key_file import FILE_NAME, vault_of
from server.settings import ServerSettings
from server.store.identity.organizations import OrganizationStore
from server.store.identity.tokens import TokenStore
from server.store.machines.machines import MachineStore
from tests.links import MARK, hello
from tests.processes import LOOKING_SECONDS

SHARED_DATABASE = "test_service"
PATIENCE_SECONDS = 60.0

Message = TypeVar("Message", bound=BaseModel)


@dataclass(frozen=True)
class Reply:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The name of the problem that this answer is; checks the form of RFC 9457."""
        assert self.headers["Content-Type"] == "application/problem+json"
        assert self.json["status"] == self.status
        if "Idempotency-Replayed" not in self.headers:
            # What is replayed has the first request's id.
            assert self.json["instance"] == self.headers["X-Request-Id"]
        assert self.json["detail"]
        assert self.json["title"]
        return str(self.json["type"]).removeprefix("/problems/")

    @property
    def refusal(self) -> tuple[int, str]:
        """The status, and the name of the problem that this answer is."""
        return self.status, self.problem

    @property
    def faults(self) -> list[tuple[list[str], str]]:
        """Place and type of each entry of a validation error."""
        assert self.status == 422, self.body
        assert self.headers["Content-Type"] == "application/json"
        return [(entry["loc"], entry["type"]) for entry in self.json["detail"]]


class Service:
    """A running server, an organization in it, and a token that may do everything there."""

    def __init__(self, server: Server, organization_id: UUID, token: str) -> None:
        self.server = server
        self.organization_id = organization_id
        self.token = token

    @property
    def url(self) -> str:
        """The server's address."""
        return self.server.address

    async def open_connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection on which nothing was sent yet."""
        host, port = self.url.removeprefix("http://").split(":")
        return await asyncio.open_connection(host, int(port))

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = "",
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Reply:
        """Send a request with the administrator's token, another one, or (None) without any.

        ``body`` is sent as JSON, ``content`` as it is.
        """
        if body is not None:
            content = json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if content is not None else {}
        if token is not None:
            sent["Authorization"] = f"Bearer {token or self.token}"
        return await self.send(method, path, HTTPHeaders({**sent, **(headers or {})}), content)

    async def send(
        self, method: str, path: str, headers: HTTPHeaders, content: bytes | None
    ) -> Reply:
        """Send a request with exactly these headers, which may repeat."""
        request = HTTPRequest(
            self.url + path,
            method,
            headers=headers,
            body=content,
            allow_nonstandard_methods=True,
            follow_redirects=False,
            decompress_response=False,
            connect_timeout=PATIENCE_SECONDS,
            request_timeout=PATIENCE_SECONDS,
        )
        response = await AsyncHTTPClient().fetch(request, raise_error=False)
        return Reply(response.code, response.headers, response.body)

    async def get(self, path: str, **options: Any) -> Reply:
        """Send a GET request."""
        return await self.request("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Reply:
        """Send a POST request."""
        return await self.request("POST", path, body, **options)

    async def new_token(
        self, *scopes: Scope, organization_id: UUID | None = None, **fields: Any
    ) -> str:
        """The secret of a new token of this organization, or of another."""
        new = NewToken(name="of a test", scopes=list(scopes), **fields)
        return await stored_secret(self.server, organization_id or self.organization_id, new)

    @property
    def stores(self) -> "Stores":
        """The stores of the server's database."""
        return stores_of(self.server)

    async def elsewhere(self) -> "Service":
        """The same server for another organization, which has nothing to do with this one."""
        return await in_new_organization(self.server)

    async def branch(self) -> "Service":
        """The same server for an organization that was made from this one."""
        return await in_new_organization(self.server, parent_id=self.organization_id)

    async def new_machine(self, machine_id: str = "desk-1") -> "ScriptedMachine":
        """A machine that has never connected."""
        await self.stores.machines.create(self.organization_id, machine_id, machine_id)
        token = await self.new_token(Scope.MACHINE_CONNECT, machine_id=machine_id)
        return ScriptedMachine(self, machine_id, token)

    @asynccontextmanager
    async def joined(
        self, greeting: Hello | None = None, **options: Any
    ) -> AsyncIterator[tuple["ScriptedMachine", "ScriptedLink"]]:
        """A new machine, and its link as `ScriptedMachine.connected` makes it."""
        machine = await self.new_machine()
        async with machine.connected(greeting, **options) as link:
            yield machine, link

    def flush_access_log(self) -> None:
        """Have the lines written that gather for a moment."""
        application = self.server._application
        assert application is not None
        application.access_log.flush()

    def link_of(self, machine_id: str) -> LinkSocket | None:
        """The server's end of the machine's link, if it takes inputs."""
        return self.server.services.machines.registry.find(self.organization_id, machine_id)


async def in_new_organization(server: Server, *, parent_id: UUID | None = None) -> Service:
    """A new organization of a server, with a token that may do everything in it."""
    organizations = stores_of(server).organizations
    organization = await organizations.create("of a test", parent_id=parent_id)
    new = NewToken(name="administrator", scopes=list(ADMINISTRATOR_SCOPES))
    return Service(server, organization.id, await stored_secret(server, organization.id, new))


class Stores(NamedTuple):
    """What a server keeps its organizations, tokens and machines in."""

    organizations: OrganizationStore
    tokens: TokenStore
    machines: MachineStore


def stores_of(server: Server) -> Stores:
    """The stores of a server's database."""
    database = server.services.operation.database
    return Stores(OrganizationStore(database), TokenStore(database), MachineStore(database))


async def stored_secret(server: Server, organization_id: UUID, new: NewToken) -> str:
    """The secret of a new token, which is not checked as a request for one would be."""
    made = make_token(organization_id, new)
    await stores_of(server).tokens.insert(made.stored)
    return made.secret


@cache
def _shared_key_file() -> Path:
    """With the key that encrypts secrets in the database that tests share."""
    directory = Path(tempfile.mkdtemp(prefix="farhand-tests-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    vault_of(directory / FILE_NAME, may_make=True)
    return directory / FILE_NAME


@asynccontextmanager
async def running_server(
    mongodb_uri: str, data_dir: Path, database: str = SHARED_DATABASE, **settings: Any
) -> AsyncIterator[Server]:
    """A server on a free port; stopped at the end, unless it is stopped already."""
    if database == SHARED_DATABASE:
        settings.setdefault("secret_key_file", _shared_key_file())
    settings.setdefault("vision_timeout", LOOKING_SECONDS)
    chosen = ServerSettings(
        port=0, data_dir=data_dir, mongodb_uri=mongodb_uri, mongodb_database=database, **settings
    )
    server = Server(chosen)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def running_service(
    mongodb_uri: str, data_dir: Path, database: str = SHARED_DATABASE, **settings: Any
) -> AsyncIterator[Service]:
    """As :func:`running_server`, for an organization of its own."""
    async with running_server(mongodb_uri, data_dir, database, **settings) as server:
        yield await in_new_organization(server)


@dataclass
class ScriptedMachine:
    """A machine whose client is the test itself."""

    service: Service
    machine_id: str
    token: str

    def input_path(self, operation: str = "mouse/move") -> str:
        """Where an input for this machine is sent."""
        return f"/v1/computer/{self.machine_id}/input/{operation}"

    async def move(self, key: str | None = None, *, x: int = 3, **options: Any) -> Reply:
        """Send an input that moves the pointer, under a key or not."""
        headers = {
            **({} if key is None else {"Idempotency-Key": key}),
            **options.pop("headers", {}),
        }
        path, body = self.input_path(), {"x": x, "y": 4}
        return await self.service.post(path, body, headers=headers, **options)

    @property
    def actions_path(self) -> str:
        """Where several actions for this machine are sent."""
        return f"/v1/computer/{self.machine_id}/actions"

    async def act(
        self,
        actions: Any,
        key: str | None = None,
        *,
        screenshot: Any = None,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Reply:
        """Send several actions in one request, under a key or not."""
        headers = {**({} if key is None else {"Idempotency-Key": key}), **(headers or {})}
        body = {"actions": actions, "screenshot": screenshot}
        return await self.service.post(self.actions_path, body, headers=headers, **options)

    def acting(self, actions: Any, key: str | None = None, **options: Any) -> asyncio.Task[Reply]:
        """As ``act``, in the background."""
        background = self.service.server.services.background
        return background.start(self.act(actions, key, **options), "a client of the test")

    def moving(self, key: str | None = None, **options: Any) -> asyncio.Task[Reply]:
        """As ``move``, in the background."""
        background = self.service.server.services.background
        return background.start(self.move(key, **options), "a client of the test")

    @asynccontextmanager
    async def open_websocket(
        self, token: str | None = None, path: str = CONNECT_PATH
    ) -> AsyncIterator[ClientConnection]:
        """The websocket alone, before any message."""
        async with connect(
            self.service.url.replace("http:", "ws:") + path,
            additional_headers={"Authorization": f"Bearer {token or self.token}"},
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            # Whoever has not read much would wait ten seconds for the answer to the end.
            max_queue=None,
            ping_interval=None,
            proxy=None,
        ) as websocket:
            yield websocket

    @asynccontextmanager
    async def opened(self, greeting: Hello | None = None) -> AsyncIterator["ScriptedLink"]:
        """A link before any message, or after the machine's first."""
        async with self.open_websocket() as websocket:
            link = ScriptedLink(websocket)
            if greeting is not None:
                await link.say(greeting)
            yield link

    @asynccontextmanager
    async def connected(
        self,
        greeting: Hello | None = None,
        *,
        wait_until_live: bool = True,
        mark: UUID = MARK,
    ) -> AsyncIterator["ScriptedLink"]:
        """A link after its greeting, which takes inputs unless the server asks something first."""
        async with self.open_websocket() as websocket:
            said = greeting or hello()
            link = ScriptedLink(websocket, said.journal.sequence)
            link.mark_id = mark
            await link.say(said)
            await link.heard(Welcome)
            await link.ready()
            if wait_until_live:
                await self.until_live()
            yield link

    async def until_live(self) -> LinkSocket:
        """Wait until the server sends inputs on a link of this machine."""
        link = await self.until_up()
        await until(lambda: link.is_live)
        return link

    async def until_up(self) -> LinkSocket:
        """Wait until the server claims inputs for a link of this machine, and sends none yet."""
        await until(lambda: self.service.link_of(self.machine_id) is not None)
        link = self.service.link_of(self.machine_id)
        assert link is not None
        return link

    async def until_closed(self) -> None:
        """Wait until the server has no websocket of any machine."""
        registry = self.service.server.services.machines.registry
        await until(lambda: not any(registry))

    async def until_gone(self) -> None:
        """Wait until the server has recorded that the machine is not connected."""
        await self.until_closed()
        machines = self.service.stores.machines
        give_up_at = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while asyncio.get_running_loop().time() < give_up_at:
            stored = await machines.get(self.service.organization_id, self.machine_id)
            if stored is None or stored.disconnected_at is not None:
                return
            await asyncio.sleep(0.01)
        raise AssertionError("the end of the link was not recorded")


class ScriptedLink:
    """The machine's end of a link, played by the test; heartbeats are answered by themselves."""

    def __init__(self, websocket: ClientConnection, sequence: int = 0) -> None:
        self.websocket = websocket
        self.sequence = sequence
        self.mark_id = MARK

    async def say(self, message: BaseModel) -> None:
        """Send a message."""
        await self.websocket.send(message.model_dump_json())

    async def ready(self) -> None:
        """Say that the link is listened to, and answer the first heartbeat with a mark."""
        await self.say(Ready())
        await self.mark()

    async def mark(self) -> None:
        """Take a heartbeat and answer it with a mark."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            beat = Heartbeat.model_validate_json(await self.websocket.recv())
        await self._answer(beat)

    async def _answer(self, beat: Heartbeat) -> None:
        self.sequence += 1
        await self.say(
            HeartbeatAck(sequence=beat.sequence, journal_sequence=self.sequence, mark=self.mark_id)
        )

    async def next_message(self) -> ServerMessage:
        """The next message that is not a heartbeat."""
        while True:
            async with asyncio.timeout(PATIENCE_SECONDS):
                frame = await self.websocket.recv()
            message = SERVER_MESSAGES.validate_json(frame)
            if not isinstance(message, Heartbeat):
                return message
            await self._answer(message)

    async def heard(self, kind: type[Message]) -> Message:
        """The next message, which must be of this type.

        What a recording asks for between two inputs, pictures without the pointer, has no answer.
        """
        message = await self.next_message()
        while not isinstance(message, kind) and is_asked_by_recording(message):
            message = await self.next_message()
        assert isinstance(message, kind), message
        return message

    async def nothing_heard(self) -> None:
        """Check that the server has sent nothing that was not read: it answers a ping first."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            await (await self.websocket.ping())
        try:
            async with asyncio.timeout(0.05):
                message = await self.next_message()
        except TimeoutError:
            return
        raise AssertionError(f"unexpected: {message}")

    async def acknowledge(self, command_id: UUID, outcome: Outcome | None = None) -> None:
        """Say how a command ended; completed unless told otherwise."""
        self.sequence += 1
        done = outcome or Completed(duration_ms=1.5, pointer=Point(x=3, y=4))
        await self.say(Ack(command_id=command_id, outcome=done, journal_sequence=self.sequence))

    async def interrupted(self) -> None:
        """Be told to end what runs, and say that it has ended."""
        asked = await self.heard(Interrupt)
        await self.say(Interrupted(request=asked.request))

    async def report(self, command_id: UUID, outcome: Outcome | None) -> None:
        """Say what became of a command; None is that it still runs."""
        self.sequence += 1
        await self.say(
            Report(command_id=command_id, outcome=outcome, journal_sequence=self.sequence)
        )

    async def obey(self, outcome: Outcome | None = None) -> Input:
        """Take the next command and say how it ended."""
        command = await self.heard(Input)
        await self.acknowledge(command.command_id, outcome)
        return command

    async def reply_to(self, sending: Awaitable[Reply]) -> Reply:
        """Carry out the next input; what whoever sent it is answered."""
        await self.obey()
        return await sending

    async def obeys(self, sending: Awaitable[Reply]) -> None:
        """As `reply_to`, where the answer is 200."""
        assert (await self.reply_to(sending)).status == 200

    async def closed(self) -> tuple[int, str]:
        """The code and reason with which the server closes the link."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            with suppress(ConnectionClosed):
                while True:
                    await self.websocket.recv()
        return self.websocket.close_code or 0, self.websocket.close_reason or ""


async def until(condition: Any) -> None:
    """Wait for a condition that must come true; fails after PATIENCE_SECONDS."""
    give_up_at = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while not condition():
        assert asyncio.get_running_loop().time() < give_up_at, "it did not come true in time"
        await asyncio.sleep(0.005)


def new_key() -> str:
    """An Idempotency-Key that no other test uses."""
    return f"key-{uuid4()}"


def scopes_without(*missing: Scope) -> Iterable[Scope]:
    """Every scope of an administrator but these."""
    return (scope for scope in ADMINISTRATOR_SCOPES if scope not in missing)


def is_asked_by_recording(message: ServerMessage) -> bool:
    """Whether it asks for a picture as a recording does between two inputs."""
    return isinstance(message, Screenshot) and not message.pointer and message.format == "jpeg"
