"""A real websocket server that does what a test's script says, and a machine client against it."""

import asyncio
import http
import json
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from machine_client.desktop.base import DesktopView
from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.link.connection import MachineClient
from machine_client.settings import MachineSettings
from machine_client.work.clipboard import MachineClipboard
from machine_client.work.worker import Injector
from schemas.http.problems import MEDIA_TYPE, ProblemError, ProblemType
from schemas.inputs.bodies import AnyInput, Operation
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import (
    CLIENT_MESSAGES,
    SUBPROTOCOL,
    AnyClientMessage,
    Display,
    Heartbeat,
    HeartbeatAck,
    Hello,
    Input,
    Limits,
    Ready,
    Released,
    ServerMessage,
    Welcome,
)
from tests.links import LINK_ID
from tests.machine_client.journals import journal_in

TOKEN = "fh_a-secret-of-the-test"
WAIT_SECONDS = 30.0

Script = Callable[["Line"], Awaitable[None]]
NO_CLIPBOARD = MachineClipboard(UnavailableDesktop("there is none"), None, read=False, write=False)


class QuietInjector:
    """An injector that injects nothing and can be made to wait."""

    injected = 0
    effect: Effect = "happened"
    is_lost = False

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.released: Released | None = None
        self.on_inject: Callable[[], None] = lambda: None

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        def inject() -> Point:
            self.calls.append(body.input_name)
            self.on_inject()
            return Point(x=0, y=0)

        return inject

    is_interrupted = False

    def pause(self, seconds: float) -> None: ...

    def release(self, body: AnyInput) -> None: ...

    def pointer(self) -> Point:
        return Point(x=0, y=0)

    def interrupt(self) -> None:
        self.calls.append("interrupt")

    def release_all(self) -> None:
        self.calls.append("release")

    def take_released(self) -> Released | None:
        released, self.released = self.released, None
        return released

    def displays(self) -> list[Display]:
        return [Display(x=0, y=0, width=100, height=100)]

    def close(self) -> None:
        self.calls.append("close")


class Line:
    """The server's end of one connection."""

    def __init__(self, websocket: ServerConnection) -> None:
        self.websocket = websocket

    async def hear(self) -> AnyClientMessage:
        """The client's next message."""
        async with asyncio.timeout(WAIT_SECONDS):
            return CLIENT_MESSAGES.validate_json(await self.websocket.recv())

    async def say(self, message: ServerMessage) -> None:
        await self.websocket.send(message.model_dump_json())

    async def greet(self, spread_seconds: float = 0.0) -> Hello:
        """Take the hello, welcome the client, and take its ready."""
        hello = await self.hear()
        assert isinstance(hello, Hello)
        await self.say(
            Welcome(
                protocol=1,
                link_id=LINK_ID,
                machine_id="desk",
                server_time=now(),
                heartbeat_seconds=20,
                limits=Limits(unanswered_inputs=64, message_bytes=1000),
                reconnect_spread_seconds=spread_seconds,
            )
        )
        assert await self.hear() == Ready()
        return hello

    async def closed(self) -> tuple[int | None, str | None]:
        """Wait for the end; the code and reason that the client gave."""
        with suppress(ConnectionClosed):
            async with asyncio.timeout(WAIT_SECONDS):
                async for _ in self.websocket:
                    pass
        return self.websocket.close_code, self.websocket.close_reason


def now() -> int:
    return time.time_ns() // 1_000_000


def move(*, within: float = 10.0, command_id: UUID | None = None) -> Input:
    """A command that must begin within so many seconds."""
    return Input(
        link_id=LINK_ID,
        command_id=command_id or uuid4(),
        operation=Operation.MOUSE_MOVE,
        body={"x": 1, "y": 2},
        fingerprint="f",
        expires_at=now() + round(within * 1000),
        server_time=now(),
    )


def heartbeat(sequence: int) -> Heartbeat:
    return Heartbeat(sequence=sequence, server_time=now())


@dataclass
class ScriptedServer:
    """Runs the next script for each connection; refuses handshakes with ``statuses`` first."""

    scripts: deque[Script] = field(default_factory=deque)
    statuses: deque[int | Response] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    port: int = 0
    scheme: str = "http"
    failures: list[BaseException] = field(default_factory=list)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    async def finished(self) -> None:
        """Wait until every script has run; raise what one of them raised."""
        async with asyncio.timeout(WAIT_SECONDS):
            await self.done.wait()
        for failure in self.failures:
            raise failure

    def check(self, _connection: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        if not self.statuses:
            return None
        answer = self.statuses.popleft()
        return answer if isinstance(answer, Response) else response(answer)

    async def handle(self, websocket: ServerConnection) -> None:
        if not self.scripts:
            await websocket.wait_closed()
            return
        script = self.scripts.popleft()
        try:
            await script(Line(websocket))
        except BaseException as failure:
            self.failures.append(failure)
            self.done.set()
            raise
        if not self.scripts:
            self.done.set()
        await websocket.wait_closed()


async def greeted(line: Line) -> None:
    """Welcome the client, and no more."""
    await line.greet()


async def admitted(line: Line) -> None:
    """Welcome the client and hear its first heartbeat's answer."""
    await line.greet()
    await line.say(heartbeat(1))
    assert isinstance(await line.hear(), HeartbeatAck)


def closing_with(code: int, reason: str = "because") -> Any:
    """Welcome the client and close the link with this code."""

    async def script(line: Line) -> None:
        await line.greet()
        await line.websocket.close(code, reason)

    return script


def response(status: int, body: bytes = b"", **headers: str) -> Response:
    """An HTTP answer to a handshake, as something between may give it."""
    sent = Headers([("Content-Length", str(len(body))), ("Connection", "close")])
    sent.update({name.replace("_", "-"): value for name, value in headers.items()})
    return Response(status, http.HTTPStatus(status).phrase, sent, body)


def problem(problem_type: ProblemType, detail: str) -> Response:
    """A Farhand server's own refusal of a handshake."""
    body = json.dumps(ProblemError(problem_type, detail).body("request-1")).encode()
    return response(problem_type.status, body, Content_Type=MEDIA_TYPE)


@asynccontextmanager
async def scripted_server(
    *scripts: Script,
    statuses: tuple[int | Response, ...] = (),
    tls: ssl.SSLContext | None = None,
    **options: Any,
) -> AsyncIterator[ScriptedServer]:
    """Run a server whose connections follow the scripts, one each, in order."""
    server = ScriptedServer(deque(scripts), deque(statuses), scheme="https" if tls else "http")
    options = {"subprotocols": [Subprotocol(SUBPROTOCOL)], **options}
    if "sock" not in options:
        options |= {"host": "127.0.0.1", "port": options.get("port", 0)}
    async with serve(server.handle, process_request=server.check, ssl=tls, **options) as listening:
        server.port = next(iter(listening.sockets)).getsockname()[1]
        yield server


@asynccontextmanager
async def machine_client(
    address: str,
    state: Path,
    *,
    open_injector: Callable[[], Injector] = QuietInjector,
    open_view: Callable[[], DesktopView] | None = None,
    token: str = TOKEN,
    clipboard: MachineClipboard = NO_CLIPBOARD,
    **settings: Any,
) -> AsyncIterator[asyncio.Task[None]]:
    """Run a machine client; cancelled with the block, if it has not ended by itself."""
    read = MachineSettings(server=address, state_dir=state, token=token, **settings)
    journal = journal_in(read.journal_file)
    with closing(journal):
        client = MachineClient(
            read, read.read_credentials(), journal, open_injector, clipboard, open_view
        )
        task = asyncio.create_task(client.run(), name="machine client")  # noqa: TID251
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def ended(task: asyncio.Task[None]) -> BaseException | None:
    """What a client ended with, by itself."""
    async with asyncio.timeout(WAIT_SECONDS):
        await asyncio.wait((task,))
    return task.exception()


async def played(state: Path, *scripts: Script, **client: Any) -> None:
    """Run a machine client against a server until that has followed all of its scripts."""
    async with scripted_server(*scripts) as server, machine_client(server.address, state, **client):
        await server.finished()
