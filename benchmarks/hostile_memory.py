"""``python -m benchmarks.hostile_memory``: what stays in memory of those who never take or answer.

Readers who ask for exports, trajectories and pictures and take nothing, while others send inputs
under keys; machines that never acknowledge what is copied; and VNC servers that say too much to the
machine client.  Each stands beside its bound; `python -m benchmarks.hostile_memory texts` measures
one of them.
"""

import argparse
import asyncio
import os
import platform
import socket
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks.fleet.measures import processor_seconds
from benchmarks.hostile import MEGABYTE, forget_peak, peak_memory
from benchmarks.hostile_vnc import FLOODS, Flood, flooding_server
from benchmarks.load import ask_alone
from benchmarks.subjects import (
    MOVE,
    Api,
    farhand,
    machine_without_injection,
    mongodb,
    process,
)
from benchmarks.swarm import hello
from schemas.link.messages import (
    CONNECT_PATH,
    SERVER_MESSAGES,
    SUBPROTOCOL,
    Capability,
    Heartbeat,
    HeartbeatAck,
    Ready,
    Welcome,
)
from server.tasks import Tasks

READERS: Final = 150
TRAJECTORIES: Final = 12
TRAJECTORY_BYTES: Final = 9_000_000
PICTURE_BYTES: Final = 11_900_000
BODY_TIMEOUT: Final = 5
"""Seconds after which a reader that takes nothing is cut off."""
READER_SECONDS: Final = 8.0
"""After which a reader who got an answer asks for another one, and before that for none."""
MOST_WAIT: Final = 0.3

MACHINES: Final = 3
TEXTS: Final = 63
TEXT_BYTES: Final = MEGABYTE
INPUT_TIMEOUT: Final = 8
GONE_SECONDS: Final = 10.0
MOST_KEPT: Final = 30

MOST_OF_A_CLIENT: Final = 100


def memory(pid: int) -> float:
    """The resident memory of a process, in megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the process has no memory")


async def measure_answers(directory: Path, uri: str, seconds: float) -> None:
    """How long others' keyed inputs wait while long answers are not read, and the memory."""
    print(f"{READERS} readers who take nothing{'':13}{'input, s':^24}{'memory, MB':^28}")
    print(f"{'':42}{'median':>8}{'longest':>8}{'peace':>8}{'before':>9}{'peak':>8}{'after':>8}")
    settings = {"FARHAND_BODY_TIMEOUT": str(BODY_TIMEOUT)}
    async with (
        farhand(directory / "answers", uri, settings=settings) as (api, token_file),
        machine_without_injection(api, token_file),
    ):
        paths = await asyncio.to_thread(_fill, api)
        reader = api.post("/v1/tokens", {"name": "reader", "scopes": ["trajectories:read"]})
        for name, path in paths.items():
            print(await _unread(api, str(reader["token"]), name, path, seconds), flush=True)


async def _unread(api: Api, token: str, name: str, path: str, seconds: float) -> str:
    peace = await _inputs(api, seconds)
    before = memory(api.pid)
    forget_peak(api.pid)
    readers = Tasks()
    for _ in range(READERS):
        readers.start(_read_nothing(api, token, path), "read nothing")
    took = await _inputs(api, seconds)
    peak = peak_memory(api.pid) / MEGABYTE
    await readers.close(0)
    await asyncio.sleep(2 * BODY_TIMEOUT)
    return (
        f"{name:42}{statistics.median(took):8.3f}{max(took):8.3f}{max(peace):8.3f}"
        f"{before:9.0f}{peak:8.0f}{memory(api.pid):8.0f}   longest at most {MOST_WAIT:g} s"
    )


async def _inputs(api: Api, seconds: float) -> list[float]:
    took: list[float] = []
    until = time.monotonic() + seconds
    request = api.input("mouse/move", MOVE, keyed=True)
    while time.monotonic() < until:
        took += (await ask_alone(request, 20)).seconds
    return took


def _fill(api: Api) -> dict[str, str]:
    """Make what is read; the path of each kind of long answer."""
    with httpx.Client(
        base_url=api.url, headers={"Authorization": f"Bearer {api.token}"}, timeout=60
    ) as client:
        for _ in range(TRAJECTORIES):
            new = {
                "workflow_id": str(uuid4()),
                "dimensions": {"width": 1, "height": 1},
                "trajectory_data": [{"text": "x" * TRAJECTORY_BYTES}],
            }
            made = client.post("/v1/trajectories", json=new).raise_for_status()
        content = b"\x89PNG\r\n\x1a\n" + bytes(PICTURE_BYTES)
        kept = client.post("/v1/pictures", content=content, headers={"Content-Type": "image/png"})
        return {
            "exports": "/v1/trajectories/export?is_generated=null",
            "trajectories": made.headers["Location"],
            "pictures": kept.raise_for_status().headers["Location"],
        }


async def _read_nothing(api: Api, token: str, path: str) -> None:
    """Ask, take the first bytes of the answer and nothing more, and ask again."""
    host, port = urlsplit(api.url).hostname, urlsplit(api.url).port
    loop = asyncio.get_running_loop()
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    while True:
        with socket.socket() as taking, suppress(OSError):
            taking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            taking.setblocking(False)
            await loop.sock_connect(taking, (host, port))
            await loop.sock_sendall(taking, request)
            head = await loop.sock_recv(taking, 64)
            await asyncio.sleep(READER_SECONDS if b" 200 " in head else 1)


async def measure_texts(directory: Path, uri: str) -> None:
    """What a server keeps of texts that machines never acknowledge."""
    print(f"{MACHINES} x {TEXTS} texts of 1 MiB, unacknowledged{'':14}{'memory, MB':^32}")
    print(f"{'':42}{'before':>9}{'peak':>8}{'after':>8}{'more':>8}")
    for keyed, is_there in ((False, True), (True, True), (True, False)):
        name = ("with a key" if keyed else "without") + ("" if is_there else ", machines away")
        settings = {"FARHAND_INPUT_TIMEOUT": str(INPUT_TIMEOUT)}
        place = directory / f"texts-{keyed}-{is_there}".lower()
        async with farhand(place, uri, settings=settings) as (api, _):
            figures = await _texts(api, keyed=keyed, is_there=is_there)
            before, peak, after = figures
            print(
                f"{name:42}{before:9.0f}{peak:8.0f}{after:8.0f}{after - before:+8.0f}"
                f"   at most +{MOST_KEPT}",
                flush=True,
            )


async def _texts(api: Api, *, keyed: bool, is_there: bool) -> tuple[float, float, float]:
    async with AsyncExitStack() as stack:
        names = [f"machine-{number}" for number in range(MACHINES)]
        for name in names:
            made = await asyncio.to_thread(api.post, "/v1/machines", {"id": name})
            if is_there:
                await stack.enter_async_context(_silent(api, made["token"]["token"]))
        await asyncio.sleep(2)
        before = memory(api.pid)
        forget_peak(api.pid)
        async with httpx.AsyncClient(
            base_url=api.url,
            headers={"Authorization": f"Bearer {api.token}"},
            timeout=90,
            limits=httpx.Limits(max_connections=TEXTS),
        ) as client:
            for name in names:
                await asyncio.gather(*(_write(client, name, keyed=keyed) for _ in range(TEXTS)))
        peak = peak_memory(api.pid) / MEGABYTE
    await asyncio.sleep(GONE_SECONDS)
    return before, peak, memory(api.pid)


async def _write(client: httpx.AsyncClient, machine: str, *, keyed: bool) -> None:
    headers = {"Idempotency-Key": str(uuid4())} if keyed else {}
    body = {"text": str(uuid4()) + "x" * (TEXT_BYTES - 36)}
    answer = await client.put(f"/v1/computer/{machine}/clipboard", json=body, headers=headers)
    if answer.status_code not in (503, 504):
        raise RuntimeError(f"a write was answered with {answer.status_code}: {answer.text[:200]}")


@asynccontextmanager
async def _silent(api: Api, token: str) -> AsyncIterator[None]:
    """A machine that takes every input, and acknowledges none."""
    able = Capability(available=True)
    said = hello(uuid4(), 0).model_copy(update={"clipboard_read": able, "clipboard_write": able})
    is_live = asyncio.Event()
    async with connect(
        api.url.replace("http", "ws", 1) + CONNECT_PATH,
        additional_headers={"Authorization": f"Bearer {token}"},
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        compression=None,
        ping_interval=None,
        proxy=None,
    ) as websocket:

        async def listen() -> None:
            sequence = 0
            async for frame in websocket:
                match SERVER_MESSAGES.validate_json(frame):
                    case Welcome():
                        await websocket.send(Ready().model_dump_json())
                    case Heartbeat(sequence=beat):
                        sequence += 1
                        mark = HeartbeatAck(sequence=beat, journal_sequence=sequence, mark=uuid4())
                        await websocket.send(mark.model_dump_json())
                        is_live.set()

        await websocket.send(said.model_dump_json())
        listening = Tasks()
        listening.start(listen(), "listen")
        try:
            await asyncio.wait_for(is_live.wait(), 30)
            yield
        finally:
            await listening.close(0)


async def measure_vnc(directory: Path, uri: str, seconds: float) -> None:
    """What a machine client takes while its VNC server floods it."""
    print(f"{'a VNC server that floods':42}{'left after, s':>14}{'peak, MB':>10}{'of a core':>11}")
    async with farhand(directory / "vnc", uri) as (api, token_file):
        for kind, flood in FLOODS.items():
            print(await _flooded(api, token_file, kind, flood, seconds), flush=True)


async def _flooded(api: Api, token_file: Path, kind: str, flood: Flood, seconds: float) -> str:
    async with flooding_server(flood) as (port, left_after):
        command = (
            *(sys.executable, "-m", "machine_client", "join", "--server", api.url),
            *("--token-file", str(token_file), "--state-dir", str(token_file.parent)),
            *("--vnc", f"127.0.0.1:{port}"),
        )
        async with process(*command) as client:
            looking = Tasks()
            looking.start(_look(api), "ask for pictures")
            await asyncio.sleep(seconds / 3)
            before = processor_seconds(client.pid)
            await asyncio.sleep(seconds)
            share = (processor_seconds(client.pid) - before) / seconds
            peak = peak_memory(client.pid) / MEGABYTE
            await looking.close(0)
    left = f"{max(left_after):14.2f}" if left_after else f"{'never':>14}"
    return f"{kind:42}{left}{peak:10.0f}{share:11.2f}   at most {MOST_OF_A_CLIENT} MB"


async def _look(api: Api) -> None:
    """Ask for pictures of the screen, which there are none of."""
    async with httpx.AsyncClient(
        base_url=api.url, headers={"Authorization": f"Bearer {api.token}"}, timeout=60
    ) as client:
        while True:
            with suppress(httpx.HTTPError):
                await client.get("/v1/computer/bench/display/screenshot")
            await asyncio.sleep(0.2)


async def measure(kinds: Sequence[str], seconds: float) -> None:
    """Measure these, and print what was seen."""
    print(f"{platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with TemporaryDirectory(prefix="farhand-bench-") as name:
        async with mongodb(Path(name)) as uri:
            for kind in kinds:
                match kind:
                    case "answers":
                        await measure_answers(Path(name), uri, seconds)
                    case "texts":
                        await measure_texts(Path(name), uri)
                    case _:
                        await measure_vnc(Path(name), uri, seconds)
                print()


KINDS: Final = ("answers", "texts", "vnc")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hostile_memory", description=__doc__
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="; ".join(KINDS))
    parser.add_argument("--seconds", type=float, default=15.0)
    given = parser.parse_args()
    asyncio.run(measure(given.kinds or KINDS, given.seconds))


if __name__ == "__main__":
    main()
