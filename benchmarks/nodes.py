"""``python -m benchmarks.nodes``: an input through another node, and two workers on one port.

Everything runs on loopback, and this process asks.  The floors are measured in the same rounds: a
request and its reply by nats-py alone, and Tornado answering without doing anything, as two
processes.
"""

import argparse
import asyncio
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import nats
from nats.aio.msg import Msg

from benchmarks.__main__ import TOGETHER, Step, measure, table
from benchmarks.load import Request, ask_together
from benchmarks.subjects import (
    MOVE,
    Api,
    Subject,
    farhand,
    floors,
    joined,
    mongodb,
    process,
)
from server.bus.nats_server import EmbeddedNats

MESSAGE = b"x" * 400
BARE_REPLY = "nats-py, request and reply"


@asynccontextmanager
async def nats_server(directory: Path) -> AsyncIterator[str]:
    """A nats-server of the benchmark's own; its URL."""
    embedded = EmbeddedNats(directory / "nats")
    try:
        yield await embedded.start()
    finally:
        await embedded.stop()


@asynccontextmanager
async def bare_reply(url: str) -> AsyncIterator[Step]:
    """Yields what measures so many requests and replies, one after another; in seconds."""
    asking, answering = await nats.connect(url), await nats.connect(url)

    async def answer(message: Msg) -> None:
        await message.respond(message.data)

    await answering.subscribe("bench", cb=answer)
    await answering.flush()

    async def ask(times: int) -> list[float]:
        seconds = []
        for _ in range(times):
            started = time.perf_counter()
            await asking.request("bench", MESSAGE, timeout=10)
            seconds.append(time.perf_counter() - started)
        return seconds

    try:
        yield ask
    finally:
        await asking.close()
        await answering.close()


@asynccontextmanager
async def machine_on(api: Api, token_file: Path, directory: Path) -> AsyncIterator[None]:
    """A machine client that injects nothing, on this server."""
    command = (sys.executable, "-m", "benchmarks.machine", api.url, str(token_file), str(directory))
    async with process(*command):
        await joined(api)
        yield


@asynccontextmanager
async def two_nodes(directory: Path, uri: str, url: str) -> AsyncIterator[Sequence[Subject]]:
    """Two nodes of one installation, and one machine, whose link the first has."""
    shared = {"FARHAND_NATS_URL": url, "FARHAND_MONGODB_DATABASE": "nodes"}
    first, second = ({**shared, "FARHAND_NODE_NAME": name} for name in ("first", "second"))
    async with (
        farhand(directory / "first", uri, settings=first) as (here, token),
        machine_on(here, token, directory / "first"),
        farhand(directory / "second", uri, like=here, settings=second) as (there, _),
    ):
        await joined(there)
        yield [
            Subject(f"{where}, {how}", api.input("mouse/move", MOVE, keyed=keyed))
            for keyed, how in ((False, "no key"), (True, "with a key"))
            for where, api in (("its own node", here), ("another node", there))
        ]


async def two_processes(directory: Path, uri: str, arguments: argparse.Namespace) -> str:
    """What two workers on one port answer in a second, beside two bare Tornado processes."""
    async with AsyncExitStack() as stack:
        ports = [await stack.enter_async_context(floors()) for _ in range(2)]
        alone, one_token = await stack.enter_async_context(farhand(directory / "one", uri))
        pair, two_token = await stack.enter_async_context(
            farhand(directory / "two", uri, workers=2)
        )
        await stack.enter_async_context(machine_on(alone, one_token, directory / "one"))
        await stack.enter_async_context(machine_on(pair, two_token, directory / "two"))
        bare = [Request(f"http://127.0.0.1:{port}/post", MOVE) for port in ports]
        subjects = {
            "one bare Tornado process": bare[:1],
            "two bare Tornado processes": bare,
            "one server, no key": [alone.input("mouse/move", MOVE)],
            "two workers, no key": [pair.input("mouse/move", MOVE)],
        }
        rates: dict[str, list[float]] = {name: [] for name in subjects}
        for _ in range(arguments.rounds):
            for name, requests in subjects.items():
                rates[name].append(await _rate(requests, arguments.together))
    return "\n".join(
        f"{name:42}{statistics.median(each):26.0f} a second" for name, each in rates.items()
    )


async def _rate(requests: Sequence[Request], times: int) -> float:
    """Requests a second, with the connections spread over several addresses."""
    share = len(requests)
    measured = await asyncio.gather(
        *(ask_together(each, times // share, TOGETHER // share) for each in requests)
    )
    return sum(each.rate for each in measured)


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        url = await stack.enter_async_context(nats_server(directory))
        steps = {BARE_REPLY: await stack.enter_async_context(bare_reply(url))}
        async with two_nodes(directory, uri, url) as subjects:
            figures, seconds = await measure(subjects, steps, arguments)
        rates = await two_processes(directory, uri, arguments)
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    print(table(figures))
    reply_ms = statistics.median(seconds[BARE_REPLY]) * 1000
    print(f"{BARE_REPLY:42}{reply_ms:10.2f}\n")
    for how in ("no key", "with a key"):
        more = figures[f"another node, {how}"].median_ms - figures[f"its own node, {how}"].median_ms
        what = f"another node costs more, {how}, in requests and replies"
        print(f"{what:64}{more / reply_ms:8.2f}   at most 2")
    print(f"\n{rates}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nodes", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alone", type=int, default=400, help="requests alone in a round")
    parser.add_argument("--together", type=int, default=3000, help="requests at once in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
