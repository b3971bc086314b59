"""``python -m benchmarks.hostile``: what others notice of requests that are meant to hurt.

Each attack is a process of its own that sends without a pause; meanwhile this one reads a list and
sends an input that no machine takes, again and again, and looks at the server's memory.  Before
and after each attack the same is measured in peace.
"""

import argparse
import asyncio
import json
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from benchmarks.subjects import Api, farhand, mongodb, process

MEGABYTE: Final = 1024 * 1024
BODY_BYTES: Final = 12_000_000
SENDERS: Final = 2
HALF_SENT: Final = 11_000_000
HALF_SENDERS: Final = 100
BAD_TOKENS_A_SECOND: Final = 900
BAD_TOKEN_SENDERS: Final = 32
PAUSE_SECONDS: Final = 0.01


def _trajectory(**members: object) -> bytes:
    facts = {"workflow_id": str(UUID(int=1)), "dimensions": {"width": 1, "height": 1}}
    return json.dumps({**facts, "trajectory_data": None, **members}).encode()


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
}

KINDS: Final = (*BODIES, "halves", "guesses")


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

    if kind == "halves":
        await asyncio.gather(*(halves() for _ in range(HALF_SENDERS)))
    elif kind == "guesses":
        await asyncio.gather(*(guesses() for _ in range(BAD_TOKEN_SENDERS)))
    else:
        await asyncio.gather(*(bodies() for _ in range(SENDERS)))


async def observe(api: Api, seconds: float) -> tuple[list[float], int]:
    """How long others' requests take, and the largest memory meanwhile, in bytes."""
    took, memory = [], 0
    host, port = urlsplit(api.url).hostname, urlsplit(api.url).port
    reader, writer = await asyncio.open_connection(host, port)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        writer.write(_get(api.token))
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split()[0]))
        took.append(time.perf_counter() - began)
        memory = max(memory, resident(api.pid))
        await asyncio.sleep(PAUSE_SECONDS)
    writer.close()
    return took, memory


def resident(pid: int) -> int:
    """A process's resident memory in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the process has no memory")


@asynccontextmanager
async def attacked(api: Api, kind: str) -> AsyncIterator[None]:
    """While somebody attacks."""
    command = (sys.executable, "-m", "benchmarks.hostile", "--attack", kind)
    async with process(*command, "--address", api.url, "--token", api.token) as attacker:
        if attacker.stdout is not None:
            await attacker.stdout.readline()
        yield
        attacker.kill()


async def measure(kinds: Sequence[str], seconds: float) -> None:
    """Attack in each of these ways, and print what was seen."""
    print(f"{'':32}{'median ms':>12}{'in peace':>10}{'longest ms':>12}{'memory MB':>11}")
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        async with mongodb(Path(name)) as uri:
            for number, kind in enumerate(kinds):
                async with farhand(Path(name) / f"server{number}", uri) as (api, _):
                    peace, before = await observe(api, seconds)
                    async with attacked(api, kind):
                        took, memory = await observe(api, seconds)
                print(
                    f"{kind:32}{statistics.median(took) * 1000:12.2f}"
                    f"{statistics.median(peace) * 1000:10.2f}{max(took) * 1000:12.1f}"
                    f"{(memory - before) / MEGABYTE:+11.0f}",
                    flush=True,
                )


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
