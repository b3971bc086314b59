"""What is measured: a server with very many machines, its database, and the machines' process."""

import asyncio
import json
import os
import resource
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.fleet.measures import Asker
from benchmarks.load import Request
from benchmarks.restart import Node
from server.identity.authentication import new_secret, secret_hash
from server.store.mongodb.database import Database

DATABASE = "fleet"
WITNESS = "bench-0"
BEGUN_PER_SECOND = 400
PATIENCE_SECONDS = 600.0
MORE_FILES = 500
"""What a process opens beside one connection for each machine."""


def allow_files(machines: int) -> None:
    """Let this process and its children open as many files as there are machines, and some.

    Exits with a sentence where that is not allowed.
    """
    needed = machines + MORE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        sys.exit(
            f"{machines} machines need {needed} open files in one process, and this system allows "
            f"{hard}: raise the hard limit (ulimit -Hn {needed}, as root) or take fewer machines"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


@dataclass(frozen=True)
class Installed:
    """Machines in two organizations, one with many and one with few, and who may list them."""

    file: Path
    many: str
    few: str


async def install(uri: str, node: Node, many: int, few: int, directory: Path) -> Installed:
    """Add machines: one through the server, the others as copies of what that has stored."""
    added = json.loads(await node.until_answered("/v1/machines", b'{"id":"%b"}' % WITNESS.encode()))
    database = await Database.open(uri, DATABASE)
    machines, tokens = database.collection("machines"), database.collection("tokens")
    machine = await machines.find_one({"machine_id": WITNESS}, projection={"_id": False})
    token = await tokens.find_one({"machine_id": WITNESS})
    administrator = await tokens.find_one({"machine_id": None})
    if machine is None or token is None or administrator is None:
        raise RuntimeError("the server has stored no machine")
    other, lister = uuid4(), new_secret()
    lines, new_machines, new_tokens = [f"{WITNESS} {added['token']['token']}\n"], [], []
    for number in range(1, many + few):
        machine_id, secret = f"bench-{number}", new_secret()
        own: dict[str, Any] = {"machine_id": machine_id}
        if number >= many:
            own["organization_id"] = other
        new_machines.append({**machine, **own, "name": machine_id})
        new_tokens.append({**token, **own, "_id": uuid4(), "hash": secret_hash(secret)})
        lines.append(f"{machine_id} {secret}\n")
    copied = {"_id": uuid4(), "hash": secret_hash(lister), "organization_id": other}
    await tokens.insert_many([*new_tokens, {**administrator, **copied}])
    await machines.insert_many(new_machines)
    database.close()
    file = directory / "machines"
    await asyncio.to_thread(file.write_text, "".join(lines))
    return Installed(file, node.token, lister)


class Machines:
    """A process with machines, and what it says."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def tell(self, line: str) -> None:
        """Tell it what to do."""
        if self._process.stdin is None:
            raise RuntimeError("the machines' input is not piped")
        self._process.stdin.write(f"{line}\n".encode())

    async def hears(self, what: str) -> Any:
        """The next value that it says under this name."""
        if self._process.stdout is None:
            raise RuntimeError("the machines' output is not piped")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while line := await self._process.stdout.readline():
                if what in (said := json.loads(line)):
                    return said[what]
        raise RuntimeError("the machines' process has ended")

    def begin(self, per_second: float = BEGUN_PER_SECOND, most: int | None = None) -> None:
        """Let all but the witnesses connect: so many a second, and at most so many at once."""
        self.tell(f"go {per_second}" if most is None else f"go {per_second} {most}")

    async def heartbeats(self) -> int:
        """How many heartbeats were answered until now."""
        self.tell("count")
        return int(await self.hears("heartbeats"))

    async def where(self) -> list[int]:
        """The port to which each machine is connected, in the order of the file."""
        self.tell("where")
        return list(await self.hears("where"))


@asynccontextmanager
async def machines(ports: Sequence[int], file: Path, seed: int) -> AsyncIterator[Machines]:
    """All machines of a file; as many of them connect at once as there are ports."""
    listed = ",".join(map(str, ports))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.fleet.machines", listed, str(file), str(seed)),
        stdin=PIPE,
        stdout=PIPE,
        limit=16 * 1024 * 1024,
    )
    try:
        yield Machines(process)
    finally:
        process.terminate()
        await process.wait()


@dataclass
class Return:
    """How machines came back: seconds from the signal that ended the server."""

    ready: float
    times: Sequence[float]

    @property
    def rates(self) -> Sequence[int]:
        """How many came in each second in which any did, from the first to the last."""
        first = self.times[0]
        rates = [0] * (int(self.times[-1] - first) + 1)
        for each in self.times:
            rates[int(each - first)] += 1
        return rates


@asynccontextmanager
async def running(
    directory: Path, ending: signal.Signals = signal.SIGTERM, **settings: str
) -> AsyncIterator[Node]:
    """A server, which may be another process at the end, with settings of its own."""
    node = Node(directory, **settings)
    await node.start()
    try:
        await node.until_answered("/readyz")
        yield node
    finally:
        if node.process.returncode is None:
            await node.end(ending)


async def restart(node: Node, number: signal.Signals) -> float:
    """End the server by a signal and start it again; when the signal was sent."""
    signalled_at = time.time()
    await node.end(number)
    await node.start()
    return signalled_at


async def until_all_are_back(node: Node, fleet: Machines, signalled_at: float) -> Return:
    """Wait for all machines after the server was ended."""

    async def ready() -> float:
        await node.until_answered("/readyz")
        return time.time() - signalled_at

    ready_at, times = await asyncio.gather(ready(), fleet.hears("all"))
    return Return(ready_at, [each - signalled_at for each in times])


def listing(node: Node, token: str) -> Asker:
    """Asks for a page of machines."""
    return Asker(Request(f"{node.url}/v1/machines?limit=100", b"", token, method="GET"))


def moving(node: Node, token: str) -> Asker:
    """Asks for an input on the witness."""
    url = f"{node.url}/v1/computer/{WITNESS}/input/mouse/move"
    return Asker(Request(url, b'{"x":12,"y":34}', token))


def choose_settings(uri: str, heartbeat: float) -> None:
    """Set what every server of this run is started with."""
    os.environ["FARHAND_MONGODB_URI"] = uri
    os.environ["FARHAND_MONGODB_DATABASE"] = DATABASE
    os.environ["FARHAND_HEARTBEAT"] = str(heartbeat)
