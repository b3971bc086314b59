"""``python -m benchmarks.hostile``: what others notice of requests that are meant to hurt.

Each attack is a process of its own that sends without a pause; meanwhile this one reads a list,
again and again, and looks at the server's memory and its log.  Before each attack the same is
measured in peace.
"""

import argparse
import asyncio
import json
import os
import platform
import secrets
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Final
from urllib.parse import urlsplit
from uuid import UUID

from benchmarks.hostile_links import HAND_KINDS, LINK_KINDS, attack_by_hand, attack_by_links
from benchmarks.subjects import Api, farhand, machine_without_injection, mongodb, process

MEGABYTE: Final = 1024 * 1024
BODY_BYTES: Final = 12_000_000
SENDERS: Final = 2
HALF_SENT: Final = 11_000_000
HALF_SENDERS: Final = 100
BAD_TOKENS_A_SECOND: Final = 900
BAD_TOKEN_SENDERS: Final = 32
PAUSE_SECONDS: Final = 0.01
ROUNDS: Final = 2
HAND_CLOSED_SECONDS: Final = 0.5
HAND_MEDIANS: Final = 2.0


def _trajectory(**members: object) -> bytes:
    facts = {"workflow_id": str(UUID(int=1)), "dimensions": {"width": 1, "height": 1}}
    return json.dumps({**facts, "trajectory_data": None, **members}, ensure_ascii=False).encode()


def _unknown() -> bytes:
    return b"{" + b",".join(b'"k%d":1' % number for number in range(990_000)) + b"}"


def _wide() -> bytes:
    members = {f"k{number}": 1 for number in range(800_000)}
    return _trajectory(dimensions={"width": 1, "height": 1, **members})


BODIES: Final[Mapping[str, Callable[[], bytes]]] = {
    "990,000 unknown members": _unknown,
    "99,000 unknown members": lambda: _trajectory(**{f"k{n}": 1 for n in range(99_000)}),
    "800,000 keys in dimensions": _wide,
    "3,900,000 empty steps": lambda: _trajectory(trajectory_data=[{}] * 3_900_000),
    "99,000 values, all right": lambda: _trajectory(trajectory_data=[{"a": [1.5] * 97}] * 1000),
    "12 MB of text, all right": lambda: _trajectory(trajectory_data=[{"a": "x" * BODY_BYTES}]),
    "12 MB of text, and a mistake": lambda: _trajectory(
        trajectory_data=[{"a": "x" * BODY_BYTES}], mistake=1
    ),
    "12 MB of text, one letter wide": lambda: _trajectory(
        trajectory_data=[{"a": "\N{SLIGHTLY SMILING FACE}" + "x" * BODY_BYTES}]
    ),
}

KINDS: Final = (*BODIES, "halves", "guesses", *LINK_KINDS, *HAND_KINDS)


def _post(body: bytes, token: str | None, length: int | None = None) -> bytes:
    authorization = "" if token is None else f"Authorization: Bearer {token}\r\n"
    return (
        "POST /v1/trajectories HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"{authorization}Content-Length: {length or len(body)}\r\n\r\n"
    ).encode() + body


def _get(token: str) -> bytes:
    return (
        f"GET /v1/workflows HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    )


async def _ask(address: str, content: bytes, *, waits: bool = True) -> None:
    """Send a request on a connection of its own, and read its answer, if there is one."""
    host, port = urlsplit(address).hostname, urlsplit(address).port
    reader, writer = await asyncio.open_connection(host, port)
    with suppress(ConnectionError):
        writer.write(content)
        if waits:
            await writer.drain()
            await reader.readuntil(b"\r\n\r\n")
        else:
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(), 5)
    writer.close()


async def attack(kind: str, address: str, token: str) -> None:
    """Send what hurts until this process is ended."""
    if kind in BODIES:
        content = _post(BODIES[kind](), token)
    print("ready", flush=True)

    async def bodies() -> None:
        while True:
            await _ask(address, content)

    async def halves() -> None:
        await _ask(address, _post(b" " * HALF_SENT, None, HALF_SENT + 1), waits=False)

    async def guesses() -> None:
        host, port = urlsplit(address).hostname, urlsplit(address).port
        reader, writer = await asyncio.open_connection(host, port)
        while True:
            due = time.monotonic() + BAD_TOKEN_SENDERS / BAD_TOKENS_A_SECOND
            writer.write(_get("fh_" + secrets.token_urlsafe(32)))
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split()[0]))
            await asyncio.sleep(due - time.monotonic())

    if kind in LINK_KINDS:
        await attack_by_links(kind, address, token)
    elif kind in HAND_KINDS:
        await attack_by_hand(kind, address, token)
    elif kind == "halves":
        await asyncio.gather(*(halves() for _ in range(HALF_SENDERS)))
    elif kind == "guesses":
        await asyncio.gather(*(guesses() for _ in range(BAD_TOKEN_SENDERS)))
    else:
        await asyncio.gather(*(bodies() for _ in range(SENDERS)))


async def observe(api: Api, seconds: float) -> tuple[list[float], int]:
    """How long others' requests take, and the largest memory meanwhile, in bytes."""
    took = []
    forget_peak(api.pid)
    host, port = urlsplit(api.url).hostname, urlsplit(api.url).port
    reader, writer = await asyncio.open_connection(host, port)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        writer.write(_get(api.token))
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split()[0]))
        took.append(time.perf_counter() - began)
        await asyncio.sleep(PAUSE_SECONDS)
    writer.close()
    return took, peak_memory(api.pid)


def forget_peak(pid: int) -> None:
    """Let the peak of a process's resident memory begin anew."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak_memory(pid: int) -> int:
    """The most resident memory that a process had, in bytes: also while it answered nobody."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the process has no memory")


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


@dataclass
class Attacker:
    """A process that attacks; ``closed_after`` is in seconds, for each link that it flooded."""

    closed_after: Sequence[float] = ()


@asynccontextmanager
async def attacked(api: Api, kind: str, token: str) -> AsyncIterator[Attacker]:
    """While somebody attacks with this token; what the attacker saw is there at the end."""
    command = (sys.executable, "-m", "benchmarks.hostile", "--attack", kind)
    seen = Attacker()
    async with process(*command, "--address", api.url, "--token", token) as child:
        if child.stdout is None:
            raise RuntimeError("the attacker's output is not piped")
        await child.stdout.readline()
        yield seen
        child.kill()
        seen.closed_after = [float(line) for line in (await child.stdout.read()).split()]


async def measure(kinds: Sequence[str], seconds: float) -> None:
    """Attack in each of these ways, and print what was seen."""
    print(f"{platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'':34}{'median ms':^18}{'longest ms':^18}{'memory':>8}{'log':>8}{'closed':>10}")
    print(f"{'':34}{'attack    peace':>18}{'attack    peace':>18}{'MB':>8}{'MB':>8}{'after s':>10}")
    with TemporaryDirectory(prefix="farhand-bench-") as name:
        async with mongodb(Path(name)) as uri:
            for number, kind in enumerate(kinds):
                directory = Path(name) / f"server{number}"
                with TemporaryFile() as log:
                    async with AsyncExitStack() as stack:
                        serving = farhand(directory, uri, log)
                        api, token_file = await stack.enter_async_context(serving)
                        if kind in HAND_KINDS:
                            machine = machine_without_injection(api, token_file)
                            await stack.enter_async_context(machine)
                        token = token_file.read_text() if kind in LINK_KINDS else api.token
                        print(await _row(api, kind, token, log, seconds), flush=True)


async def _row(api: Api, kind: str, token: str, log: IO[bytes], seconds: float) -> str:
    """Peace and attack in turn, ``ROUNDS`` times, as a line of the table, with bounds beneath."""
    peace: list[float] = []
    took: list[float] = []
    closed_after: list[float] = []
    growth = logged = before = 0
    for _ in range(ROUNDS):
        quiet, memory = await observe(api, seconds / ROUNDS)
        before = before or memory
        peace += quiet
        size = _size(log)
        async with attacked(api, kind, token) as attacker:
            loud, memory = await observe(api, seconds / ROUNDS)
            logged = max(logged, _size(log) - size)
        took += loud
        closed_after += attacker.closed_after
        growth = max(growth, memory - before)
    medians = f"{statistics.median(took) * 1000:9.2f}{statistics.median(peace) * 1000:9.2f}"
    longest = f"{max(took) * 1000:9.1f}{max(peace) * 1000:9.1f}"
    closed = f"{max(closed_after):10.2f}" if closed_after else ""
    sizes = f"{growth / MEGABYTE:+8.0f}{logged / MEGABYTE:8.2f}"
    row = f"{kind:34}{medians}{longest}{sizes}{closed}"
    if kind in HAND_KINDS:
        ratio = statistics.median(took) / statistics.median(peace)
        row += (
            f"\n    closed after, s{max(closed_after, default=seconds):10.2f}"
            f"   at most {HAND_CLOSED_SECONDS:g}"
            f"\n    median / in peace{ratio:8.2f}   at most {HAND_MEDIANS:g}"
        )
    return row


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="; ".join(KINDS))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    parser.add_argument("--token", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.attack:
        asyncio.run(attack(given.attack, given.address, given.token))
    else:
        asyncio.run(measure(given.kinds or KINDS, given.seconds))


if __name__ == "__main__":
    main()
