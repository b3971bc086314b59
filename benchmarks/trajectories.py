"""``python -m benchmarks.trajectories``: lists and searches, as the library grows.

Each operation is asked over HTTP of a real server, at each size; beside it stands the plain query
on the same data, asked of MongoDB directly, which leaves out all that a server does.
"""

import argparse
import asyncio
import http.client
import json
import os
import platform
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlsplit

import pymongo

from benchmarks.library import NEEDLE_IN_NAMES, WORKFLOWS, fill
from benchmarks.subjects import Api, farhand, first_line, mongodb, process
from server.store.identity.organizations import OrganizationStore
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document

CACHE = "4GB"
"""What mongod may keep in memory: a million trajectories deserve more than the embedded default."""

PAGE = 100
NEWEST_FIRST = [("created_at", -1), ("_id", -1)]
OPERATIONS = {
    "page of 100": "",
    "page of 100, both kinds": "&is_generated=null",
    "page of 100 of a workflow": f"&workflow_id={WORKFLOWS[7]}",
    "page of 100 behind 90 %": "&skip={ninety}",
    "search, rare word": f"&search={NEEDLE_IN_NAMES.upper()}",
    "search, three characters": f"&search={NEEDLE_IN_NAMES[:3]}",
    "search, part of an id": "&search={id_part}",
    "search, long, of common words": "&search=" + quote("invoice 12345"),
    "search, nothing found": "&search=" + quote("no such thing"),
    "search, nearly everything": "&search=e",
}
"""What is asked for, by its name in the table; the plain query asks for the same."""

LATEST = "latest of a workflow"


@dataclass
class Row:
    """An operation's medians by size, in milliseconds, and those of the plain query."""

    found: list[int] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)


class Client:
    """Asks a server over one kept connection."""

    def __init__(self, api: Api) -> None:
        parts = urlsplit(api.url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        self._headers = {"Authorization": f"Bearer {api.token}"}

    def get(self, path: str) -> bytes:
        """The body of an answer that must be 200."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"asked for {path} and got {answer.status} {body[:200]!r}")
        return body


async def median_ms(once: Callable[[], Awaitable[object]]) -> float:
    """The median of up to 30 times, of fewer where they take long; after one that warms up."""
    await once()
    seconds: list[float] = []
    end = time.perf_counter() + 8
    while len(seconds) < 3 or (len(seconds) < 30 and time.perf_counter() < end):
        started = time.perf_counter()
        await once()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds) * 1000


async def alternating_ms(*ways: Callable[[], Awaitable[object]], times: int = 30) -> list[float]:
    """The median of each way, of rounds in which each has its turn; after two that warm up."""
    rounds: list[list[float]] = []
    for _ in range(times + 2):
        rounds.append([])
        for once in ways:
            started = time.perf_counter()
            await once()
            rounds[-1].append(time.perf_counter() - started)
    return [statistics.median(times) * 1000 for times in zip(*rounds[2:], strict=True)]


def plain_filter(base: Document, query: str) -> tuple[Document, int]:
    """What one would ask MongoDB for without an index for it: a regular expression, and a skip."""
    wanted, skip = {**base, "is_generated": True}, 0
    for name, _, value in (each.partition("=") for each in query.split("&") if each):
        match name:
            case "is_generated":
                del wanted["is_generated"]
            case "workflow_id":
                wanted["workflow_id"] = WORKFLOWS[7]
            case "skip":
                skip = int(value)
            case "search":
                text = re.escape(value.replace("%20", " ").lower())
                wanted["search"] = {"$regex": text}
    return wanted, skip


async def measure(uri: str, name: str, directory: Path, size: int, rows: dict[str, Row]) -> None:
    """Fill a database and ask everything of it."""
    started = time.perf_counter()
    database = await Database.open(uri, name)
    organization, _ = await OrganizationStore(database).ensure_default()
    await fill(uri, name, organization.id, size)
    print(f"{size:,} trajectories made in {time.perf_counter() - started:.0f} s", flush=True)
    collection = database.collection("trajectories")
    base = {"organization_id": organization.id}
    newest = await collection.find_one(base, sort=NEWEST_FIRST)
    facts = {"ninety": str(size * 8 // 10), "id_part": newest["_id"].hex()[-12:] if newest else ""}
    async with farhand(directory / name, uri) as (api, _):
        client = Client(api)
        for operation, template in OPERATIONS.items():
            query = template.format(**facts)
            path = f"/v1/trajectories?limit={PAGE}{query}"
            row = rows.setdefault(operation, Row())
            row.found.append(json.loads(client.get(path))["total"])
            row.ours.append(await median_ms(partial(asyncio.to_thread, client.get, path)))
            wanted, skip = plain_filter(base, query)

            async def plain(wanted: Document = wanted, skip: int = skip) -> None:
                await collection.count_documents(wanted)
                await collection.find(wanted, sort=NEWEST_FIRST, skip=skip, limit=PAGE).to_list(
                    PAGE
                )

            row.plain.append(await median_ms(plain))
        path = f"/v1/workflows/{WORKFLOWS[7]}/latest-trajectory"
        row = rows.setdefault(LATEST, Row())
        row.found.append(1)
        row.ours.append(await median_ms(lambda: asyncio.to_thread(client.get, path)))
        row.plain.append(float("nan"))
    database.close()


async def measure_bytes(uri: str, directory: Path) -> str:
    """A list of 1,000 with 5 KB each: memory of the server, and speed beside bare Tornado."""
    database = await Database.open(uri, "bytes")
    organization, _ = await OrganizationStore(database).ensure_default()
    await fill(uri, "bytes", organization.id, 1200, 5000)

    async def read() -> None:
        wanted = {"organization_id": organization.id, "is_generated": True}
        found = database.collection("trajectories").find(wanted, limit=1000, sort=NEWEST_FIRST)
        await found.to_list(None)

    path = "/v1/trajectories?limit=1000"
    async with (
        farhand(directory / "bytes", uri) as (api, _),
        process(sys.executable, "-m", "benchmarks.floors", "serve") as floor,
    ):
        port = await first_line(floor)
        client = Client(api)
        for _ in range(3):
            size = len(client.get("/v1/trajectories?limit=100"))
        before = _memory(api.pid, "VmRSS")
        _forget_peak(api.pid)
        size = len(client.get(path))
        grown = _memory(api.pid, "VmHWM") - before
        bare = Client(Api(f"http://127.0.0.1:{port}", ""))
        ours_ms, bare_ms, driver_ms = await alternating_ms(
            lambda: asyncio.to_thread(client.get, path),
            lambda: asyncio.to_thread(bare.get, f"/bytes?size={size}"),
            read,
        )
    database.close()
    return "\n".join(
        [
            f"{'list of 1,000 with 5 KB each (%.1f MB), ms' % (size / 1e6):60}{ours_ms:8.1f}",
            f"{'the same bytes from bare Tornado, ms':60}{bare_ms:8.1f}",
            f"{'the same documents from MongoDB by the bare driver, ms':60}{driver_ms:8.1f}",
            f"{'it / both together':60}{ours_ms / (bare_ms + driver_ms):8.2f}   at most 1.5",
            f"{'memory of the server grows by, MB':60}{grown / 1024:8.1f}   under 16",
        ]
    )


def _forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _memory(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    return int(found[1]) if found else 0


def table(sizes: list[int], rows: dict[str, Row]) -> str:
    """All medians, how they grow, and how much faster than the plain query the last one is."""
    heads = "".join(f"{f'{size:,}':>10}{'plain':>10}" for size in sizes)
    lines = [f"{'median ms, total included':32}{heads}{'grows':>8}{'faster':>8}{'found':>10}"]
    for name, row in rows.items():
        cells = "".join(
            f"{ours:10.2f}{plain:10.2f}" for ours, plain in zip(row.ours, row.plain, strict=True)
        )
        lines.append(
            f"{name:32}{cells}{row.ours[-1] / row.ours[0]:8.2f}"
            f"{row.plain[-1] / row.ours[-1]:8.1f}{row.found[-1]:10,}"
        )
    return "\n".join(lines)


def verdicts(rows: dict[str, Row]) -> str:
    """The largest size against the bounds that the project has set itself."""
    page, deep = rows["page of 100"], rows["page of 100 behind 90 %"]
    latest = rows[LATEST]
    lines = [
        ("a page of 100, largest / smallest", page.ours[-1] / page.ours[0], "at most 2"),
        ("latest of a workflow, the same", latest.ours[-1] / latest.ours[0], "at most 1.5"),
        ("a deep page: times faster than plain", deep.plain[-1] / deep.ours[-1], "at least 8"),
    ]
    for name, row in rows.items():
        if name.startswith("search") and row.found[-1] <= 1000:
            lines.append((f"{name}, ms", row.ours[-1], "under 30"))
            lines.append(("  times faster than plain", row.plain[-1] / row.ours[-1], "at least 50"))
    return "\n".join(f"{name:60}{figure:8.2f}   {bound}" for name, figure, bound in lines)


async def run(sizes: list[int]) -> None:
    """Measure all, and print it."""
    rows: dict[str, Row] = {}
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        client: pymongo.MongoClient[Document] = pymongo.MongoClient(uri)
        with client:
            cache = {"wiredTigerEngineRuntimeConfig": f"cache_size={CACHE}"}
            client.admin.command({"setParameter": 1, **cache})
        version = f"{platform.python_implementation()} {platform.python_version()}"
        print(f"{version}, {os.cpu_count()} cores, a cache of {CACHE} for MongoDB")
        for size in sizes:
            await measure(uri, f"library{size}", directory, size, rows)
        bytes_text = await measure_bytes(uri, directory)
    if sizes:
        print(table(sizes, rows))
        print()
        print(verdicts(rows))
    print(bytes_text)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trajectories", description=__doc__)
    parser.add_argument(
        "--sizes",
        default="10000,100000,1000000",
        help="how many trajectories, comma-separated; none: the list of 1,000 alone",
    )
    sizes = parser.parse_args().sizes
    asyncio.run(run([int(size) for size in sizes.split(",") if size]))


if __name__ == "__main__":
    main()
