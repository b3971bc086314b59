"""What is measured: each subject's processes, started and stopped."""

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any
from urllib.request import Request as UrlRequest
from urllib.request import urlopen
from uuid import uuid4

from benchmarks.load import Request
from machine_client.journal.file import JournalFile
from machine_client.journal.journal import Journal
from server.store.embedded_mongod import EmbeddedMongoDB
from server.store.mongodb.database import Database

START_SECONDS = 30.0
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
MOVE = b'{"x":12,"y":34}'
CLICK = b'{"x":12,"y":34}'


@dataclass(frozen=True)
class Subject:
    """Something to ask, by its name in the table."""

    name: str
    request: Request


@asynccontextmanager
async def process(
    *command: str, log: int | IO[bytes] = DEVNULL, **environment: str
) -> AsyncIterator[Process]:
    """A child process, ended at the end; ``log`` takes what it says on its standard error."""
    child = await asyncio.create_subprocess_exec(
        *command, stdout=PIPE, stderr=log, env={**os.environ, **environment}
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.send_signal(signal.SIGTERM)
            await child.wait()


async def first_line(child: Process) -> str:
    """The first line that a child prints."""
    if child.stdout is None:
        raise RuntimeError("the child's output is not piped")
    line = await asyncio.wait_for(child.stdout.readline(), START_SECONDS)
    if not line:
        raise RuntimeError("a benchmark's process ended before it was ready")
    return line.decode().strip()


@asynccontextmanager
async def floors() -> AsyncIterator[str]:
    """The server of both floors; yields its port."""
    async with process(sys.executable, "-m", "benchmarks.floors", "serve") as server:
        yield await first_line(server)


@asynccontextmanager
async def bare_post() -> AsyncIterator[Subject]:
    """A POST that Tornado answers without doing anything."""
    async with floors() as port:
        yield Subject("bare Tornado POST", Request(f"http://127.0.0.1:{port}/post", MOVE))


@asynccontextmanager
async def bare_tunnel() -> AsyncIterator[Subject]:
    """The same through a websocket and back, without validation."""
    async with _tunnel("answer") as request:
        yield Subject("bare tunnel", request)


@asynccontextmanager
async def clicking_tunnel(display: str) -> AsyncIterator[Subject]:
    """The same, and a click by pynput at its far end."""
    async with _tunnel("click", {"DISPLAY": display}) as request:
        yield Subject("bare tunnel, click by pynput on Xvfb", request)


@asynccontextmanager
async def _tunnel(
    far_end: str, environment: Mapping[str, str] = NO_SETTINGS
) -> AsyncIterator[Request]:
    program = sys.executable, "-m", "benchmarks.floors"
    async with (
        floors() as port,
        process(*program, far_end, port, log=DEVNULL, **environment) as child,
    ):
        await first_line(child)
        yield Request(f"http://127.0.0.1:{port}/tunnel", MOVE)


@dataclass(frozen=True)
class Api:
    """A server of ours with one machine."""

    url: str
    token: str
    pid: int = 0

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Ask the server, as its administrator."""
        return self._asked(path, json.dumps(body).encode())

    def get(self, path: str) -> dict[str, Any]:
        """Read from the server, as its administrator."""
        return self._asked(path, None)

    def _asked(self, path: str, body: bytes | None) -> dict[str, Any]:
        request = UrlRequest(
            self.url + path,
            body,
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urlopen(request, timeout=START_SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def input(
        self, operation: str, body: bytes, *, keyed: bool = False, machine: str = "bench"
    ) -> Request:
        """An input for the machine."""
        url = f"{self.url}/v1/computer/{machine}/input/{operation}"
        return Request(url, body, self.token, keyed)


@asynccontextmanager
async def farhand(
    directory: Path,
    uri: str,
    log: int | IO[bytes] = DEVNULL,
    *,
    workers: int = 1,
    like: Api | None = None,
    settings: Mapping[str, str] = NO_SETTINGS,
) -> AsyncIterator[tuple[Api, Path]]:
    """A server with a machine that has yet to join; yields the file with its token, too.

    One ``like`` another is a node of the same installation, and has the same machine.
    """
    await asyncio.to_thread(directory.mkdir)
    command = (
        *(sys.executable, "-m", "server", "serve", "--port", "0", "--data-dir", str(directory)),
        *("--workers", str(workers)),
    )
    chosen = {
        "FARHAND_MONGODB_URI": uri,
        "FARHAND_MONGODB_DATABASE": directory.name,
        **settings,
    }
    async with process(*command, log=log, **chosen) as server:
        address = directory / "address"
        await until(address.exists)
        if like is not None:
            yield Api(address.read_text().strip(), like.token, server.pid), directory
            return
        token = (directory / "admin-token").read_text().strip()
        api = Api(address.read_text().strip(), token, server.pid)
        added = await asyncio.to_thread(api.post, "/v1/machines", {"id": "bench"})
        token_file = directory / "machine-token"
        token_file.write_text(added["token"]["token"])
        yield api, token_file


@asynccontextmanager
async def machine_without_injection(api: Api, token_file: Path) -> AsyncIterator[None]:
    """The machine of a server joins it, and injects nothing."""
    command = sys.executable, "-m", "benchmarks.machine", api.url
    async with process(*command, str(token_file), str(token_file.parent)):
        await joined(api)
        yield


@asynccontextmanager
async def farhand_without_injection(directory: Path, uri: str) -> AsyncIterator[Sequence[Subject]]:
    """The whole way but for the desktop."""
    async with (
        farhand(directory / "plain", uri) as (api, token_file),
        machine_without_injection(api, token_file),
    ):
        yield [
            Subject("farhand, no key", api.input("mouse/move", MOVE)),
            Subject("farhand, with a key", api.input("mouse/move", MOVE, keyed=True)),
        ]


@dataclass(frozen=True)
class Desktop:
    """A server with one machine that is joined on a virtual X server."""

    api: Api
    display: str
    machine_pid: int


@asynccontextmanager
async def desktop(directory: Path, uri: str) -> AsyncIterator[Desktop]:
    """Everything that injects, and captures the screen."""
    async with (
        xvfb() as display,
        farhand(directory, uri) as (api, token_file),
        process(*joining(api, token_file, display)) as machine,
    ):
        await joined(api)
        yield Desktop(api, display, machine.pid)


@asynccontextmanager
async def another_machine(api: Api, name: str, directory: Path) -> AsyncIterator[Desktop]:
    """One more machine of a server, joined on a virtual X server of its own."""
    added = await asyncio.to_thread(api.post, "/v1/machines", {"id": name})
    await asyncio.to_thread(directory.mkdir)
    token_file = directory / "machine-token"
    token_file.write_text(added["token"]["token"])
    async with xvfb() as display, process(*joining(api, token_file, display)) as machine:
        await joined(api, name)
        yield Desktop(api, display, machine.pid)


def joining(api: Api, token_file: Path, display: str) -> Sequence[str]:
    """The command of a machine client that keeps its files beside its token's."""
    return (
        *(sys.executable, "-m", "machine_client", "join", "--server", api.url),
        *("--token-file", str(token_file), "--display", display),
        *("--state-dir", str(token_file.parent)),
    )


@asynccontextmanager
async def xvfb() -> AsyncIterator[str]:
    """A virtual X server; yields its display."""
    async with x_server("Xvfb", "-screen", "0", "1280x800x24") as display:
        yield display


@asynccontextmanager
async def x_server(*command: str) -> AsyncIterator[str]:
    """An X server that chooses its display, and yields it."""
    read, write = os.pipe()
    server = await asyncio.create_subprocess_exec(
        *(*command, "-displayfd", str(write), "-nolisten", "tcp"), pass_fds=(write,), stderr=DEVNULL
    )
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            yield f":{(await asyncio.to_thread(pipe.readline)).strip()}"
    finally:
        server.terminate()
        await server.wait()


@asynccontextmanager
async def farhand_with_injection(directory: Path, uri: str) -> AsyncIterator[Sequence[Subject]]:
    """The whole way into a virtual X server, beside a tunnel that goes there."""
    async with (
        desktop(directory / "injecting", uri) as there,
        clicking_tunnel(there.display) as tunnel,
    ):
        api = there.api
        yield [
            tunnel,
            Subject("farhand, move on Xvfb", api.input("mouse/move", MOVE)),
            Subject("farhand, click on Xvfb", api.input("mouse/click", CLICK)),
            Subject("farhand, key on Xvfb", api.input("keyboard/key", b'{"text":"a"}')),
        ]


@asynccontextmanager
async def mongodb(directory: Path) -> AsyncIterator[str]:
    """The one MongoDB that everything here writes to; yields its URI."""
    embedded = EmbeddedMongoDB(directory / "mongodb")
    try:
        yield await embedded.start()
    finally:
        await embedded.stop()


@asynccontextmanager
async def majority_write(uri: str) -> AsyncIterator[Callable[[int], Awaitable[list[float]]]]:
    """Yields what measures so many majority writes, one after another, through Motor; in seconds.

    What is written is about what the ledger writes, to the MongoDB that the ledger writes to.
    """
    database = await Database.open(uri, "benchmark")
    collection = database.collection("writes")

    async def write(times: int) -> list[float]:
        seconds = []
        for _ in range(times):
            document = {"_id": uuid4(), "state": "SENT", "fingerprint": "0" * 64}
            started = time.perf_counter()
            await collection.insert_one(document)
            seconds.append(time.perf_counter() - started)
        return seconds

    try:
        yield write
    finally:
        database.close()


@contextmanager
def flushed_intent(directory: Path) -> Iterator[Callable[[int], Awaitable[list[float]]]]:
    """Yields what measures so many flushed entries of a machine's journal; in seconds."""
    journal = Journal(JournalFile(directory / "journal" / "journal.sqlite3"))

    async def intend(times: int) -> list[float]:
        seconds = []
        for _ in range(times):
            command_id = uuid4()
            started = time.perf_counter()
            journal.intend(command_id, "0" * 64)
            seconds.append(time.perf_counter() - started)
        return seconds

    try:
        yield intend
    finally:
        journal.close()


async def joined(api: Api, machine: str = "bench") -> None:
    """Wait until a server's machine takes inputs."""
    path = f"/v1/computer/{machine}/input/mouse/move"

    def answers() -> bool:
        try:
            api.post(path, {"x": 1, "y": 1})
        except OSError:
            return False
        return True

    await until(answers)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that takes some time to start."""
    deadline = time.monotonic() + START_SECONDS
    while not await asyncio.to_thread(condition):
        if time.monotonic() > deadline:
            raise RuntimeError("a benchmark's process was not ready in time")
        await asyncio.sleep(0.05)
