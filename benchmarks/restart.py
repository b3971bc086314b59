"""``python -m benchmarks.restart``: how soon a server works again after a SIGKILL.

A server with an embedded MongoDB, and many machines that are connected and wait.  The server is
killed and started again at once, as often as there are rounds.  All times are from the kill; a
service manager's own pause before it restarts a program comes on top.
"""

import argparse
import asyncio
import json
import os
import platform
import re
import signal
import socket
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient, HTTPRequest

PATIENCE_SECONDS = 120.0
POLL_SECONDS = 0.02
ADDING_AT_ONCE = 8
MOVE = b'{"x":12,"y":34}'
_RECOVERED = re.compile(r"the embedded MongoDB is ready after ([0-9.]+) s")


@dataclass
class Round:
    """Seconds from the kill; ``mongod`` is how long mongod itself took from its start."""

    mongod: float
    ready: float
    first_input: float
    first_link: float
    all_links: float


LABELS = {
    "mongod": "of that, mongod from its start until it is primary",
    "ready": "until /readyz answers 200",
    "first_input": "until an input to a machine that is back is answered",
    "first_link": "until the first machine is back",
    "all_links": "until all machines are back",
}


class Node:
    """One server, killed and started again on one data directory and one port.

    ``settings`` are variables of its environment.
    """

    process: Process

    def __init__(self, directory: Path, **settings: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._directory = directory
        self._settings = settings
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = directory / "server.log"

    @property
    def token(self) -> str:
        """The administrator's token; empty before there is one."""
        file = self._directory / "data" / "admin-token"
        return file.read_text().strip() if file.exists() else ""

    async def start(self) -> None:
        """Start it, and wait for nothing."""
        with self.log.open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "server", "serve", "--port", str(self.port)),
                *("--data-dir", str(self._directory / "data")),
                stdout=log,
                stderr=log,
                env={**os.environ, **self._settings},
            )

    async def end(self, number: signal.Signals) -> None:
        """Send it a signal, and wait until it is gone."""
        self.process.send_signal(number)
        await self.process.wait()

    async def until_answered(self, path: str, body: bytes | None = None) -> bytes:
        """Ask again and again until it answers 200; the answer."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up_at:
            if (answer := await self.ask(path, body)) is not None:
                return answer
            await asyncio.sleep(POLL_SECONDS)
        raise RuntimeError(f"no answer to {path}; see {self.log}")

    async def ask(self, path: str, body: bytes | None = None) -> bytes | None:
        """Ask once, as the administrator; None where it does not answer with a success."""
        request = HTTPRequest(
            self.url + path,
            "GET" if body is None else "POST",
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            body,
            request_timeout=PATIENCE_SECONDS,
        )
        try:
            return (await AsyncHTTPClient().fetch(request)).body
        except Exception:  # noqa: BLE001  whatever it is, it is no answer
            return None


async def add_machines(node: Node, count: int, file: Path) -> None:
    """Add machines, and write their ids and tokens."""
    lines, numbers = [], iter(range(count))

    async def add() -> None:
        for number in numbers:
            body = json.dumps({"id": f"bench-{number}"}).encode()
            added = json.loads(await node.until_answered("/v1/machines", body))
            lines.append(f"{added['id']} {added['token']['token']}\n")

    await asyncio.gather(*(add() for _ in range(ADDING_AT_ONCE)))
    await asyncio.to_thread(file.write_text, "".join(lines))


class Swarm:
    """The process with all machines, and what it says."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def hears(self, what: str) -> tuple[str, float]:
        """The id of the machine that is back first, or last of all, and when that was."""
        if self._process.stdout is None:
            raise RuntimeError("the machines' output is not piped")
        while True:
            line = await asyncio.wait_for(self._process.stdout.readline(), PATIENCE_SECONDS)
            said = json.loads(line)
            if what in said:
                return said[what], said["at"]


@asynccontextmanager
async def swarm(node: Node, file: Path) -> AsyncIterator[Swarm]:
    """Machines that connect, and come back whenever they lose the server."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.swarm", node.url, str(file)), stdout=PIPE
    )
    try:
        yield Swarm(process)
    finally:
        process.terminate()
        await process.wait()


async def restart(node: Node, machines: Swarm) -> Round:
    """Kill the server, start it again, and time what follows."""
    await node.end(signal.SIGKILL)
    killed_at = time.time()
    await node.start()

    async def ready() -> float:
        await node.until_answered("/readyz")
        return time.time() - killed_at

    async def working() -> tuple[float, float]:
        machine_id, back_at = await machines.hears("first")
        await node.until_answered(f"/v1/computer/{machine_id}/input/mouse/move", MOVE)
        return back_at - killed_at, time.time() - killed_at

    ready_at, (first_link, first_input) = await asyncio.gather(ready(), working())
    _, all_at = await machines.hears("all")
    recovered = _RECOVERED.search(node.log.read_text())
    return Round(
        mongod=float(recovered[1]) if recovered else float("nan"),
        ready=ready_at,
        first_input=first_input,
        first_link=first_link,
        all_links=all_at - killed_at,
    )


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    rounds = []
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        node = Node(Path(name))
        await node.start()
        await node.until_answered("/readyz")
        await add_machines(node, arguments.machines, Path(name) / "machines")
        async with swarm(node, Path(name) / "machines") as machines:
            await machines.hears("all")
            for _ in range(arguments.rounds):
                await asyncio.sleep(arguments.pause)
                rounds.append(await restart(node, machines))
        await node.end(signal.SIGTERM)
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}, {arguments.machines} machines, {len(rounds)} rounds"
    )
    print(f"{'seconds from the SIGKILL':58}{'median':>8}{'worst':>8}")
    for each in fields(Round):
        seconds = [getattr(one, each.name) for one in rounds]
        print(f"{LABELS[each.name]:58}{statistics.median(seconds):8.2f}{max(seconds):8.2f}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restart", description=__doc__)
    parser.add_argument("--machines", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pause", type=float, default=5.0, help="seconds before each kill")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
