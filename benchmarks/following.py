"""``python -m benchmarks.following``: how fast the list index follows, and how long others wait.

30,000 trajectories of 1 KB are there at once, without an import's own work; then as many are
imported in one request.  Pages and searches are asked for all the while, and again when the index
has everything.  The floor is what the bare driver needs to insert the entries of as many into a
collection with the same indexes, 400 at once, which has half of the work of indexing in it.
"""

import argparse
import asyncio
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.fleet.measures import processor_seconds
from benchmarks.imports import EDITOR, Importer, lines
from benchmarks.subjects import farhand
from benchmarks.trajectories import Client
from schemas.resources.trajectories import ImportedTrajectory
from server.store.embedded_mongod import EmbeddedMongoDB
from server.store.identity.organizations import OrganizationStore
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.trajectories.indexer import BATCH, SEGMENT, entry_of
from server.store.trajectories.writes import new_document
from server.tasks import Tasks
from server.trajectories.creation import new_trajectory

AT_LEAST = 3000
AT_MOST = 3.0
TOGETHER = 250
PAUSE_SECONDS = 0.1
SETTLED_TIMES = 30
ASKED = {
    "a page of 100": "/v1/trajectories?is_generated=null&limit=100",
    "a search, 1 found": "/v1/trajectories?is_generated=null&limit=100&search=customer%2012345",
}
FLOOR = "the bare driver's entries, 400 at once"
ALONE = "the index, nothing imported meanwhile"
TOGETHER_WITH_IMPORT = "imported in one request, and indexed"


@dataclass
class Row:
    """One way: its seconds, and the processor's time of both; what others waited meanwhile."""

    seconds: float = 0.0
    mongod: float = 0.0
    server: float = 0.0
    asked: dict[str, list[float]] = field(default_factory=dict)


class Measured:
    """The processes, and how what is done takes their time."""

    def __init__(self, mongod: int, server: int, client: Client) -> None:
        self._pids = mongod, server
        self._client = client

    async def during(
        self, work: Callable[[], Coroutine[Any, Any, object]], *, asking: bool = True
    ) -> Row:
        """Do it, and ask meanwhile."""
        before = [processor_seconds(pid) for pid in self._pids]
        started = time.perf_counter()
        working = Tasks().start(work(), "work")
        row = Row()
        while asking and not working.done():
            await self.ask(row)
        await working
        row.seconds = time.perf_counter() - started
        row.mongod, row.server = (
            processor_seconds(pid) - begun for pid, begun in zip(self._pids, before, strict=True)
        )
        return row

    async def ask(self, row: Row) -> None:
        """Ask for each once, one after another."""
        for name, path in ASKED.items():
            started = time.perf_counter()
            await asyncio.to_thread(self._client.get, path)
            row.asked.setdefault(name, []).append((time.perf_counter() - started) * 1000)
            await asyncio.sleep(PAUSE_SECONDS)


def documents(database: Database, organization: UUID, given: list[bytes]) -> list[Document]:
    """What an import stores."""
    made = (ImportedTrajectory.model_validate_json(line) for line in given)
    return [new_document(database, new_trajectory(organization, EDITOR, each)) for each in made]


async def insert(database: Database, name: str, some: list[Document], together: int) -> None:
    """Insert documents by the bare driver."""
    collection = database.collection(name)
    for begin in range(0, len(some), together):
        await collection.insert_many(some[begin : begin + together], ordered=False)


async def measure(
    measured: Measured, importer: Importer, floor: Database, served: Database, count: int
) -> dict[str, Row]:
    """Each way in its turn, and at the end what is asked when all is settled."""
    organization, _ = await OrganizationStore(served).ensure_default()
    waiting = documents(served, organization.id, list(lines(1, count)))
    entries = [
        {**entry_of(document), "segment": number // SEGMENT}
        for number, document in enumerate(waiting)
    ]
    rows = {
        FLOOR: await measured.during(
            lambda: insert(floor, "trajectory_entries", entries, BATCH), asking=False
        )
    }
    # Both have as many waiting behind them as the index knows: it is not quicker when it is small.
    await insert(served, "trajectories", waiting, TOGETHER)
    rows[ALONE] = await measured.during(importer.indexed)
    given = list(lines(2, count))

    async def imported() -> None:
        await importer.stream(given)
        await importer.indexed()

    rows[TOGETHER_WITH_IMPORT] = await measured.during(imported)
    rows["settled"] = Row()
    for _ in range(SETTLED_TIMES):
        await measured.ask(rows["settled"])
    return rows


def table(rows: dict[str, Row], count: int) -> str:
    """What came of it, beside what it is meant to be."""
    told = [f"{'':42}{'a second':>10}{'mongod ms':>10}{'server ms':>10}"]
    for name, row in rows.items():
        if row.seconds:
            share = (row.mongod / count * 1000, row.server / count * 1000)
            told.append(f"{name:42}{count / row.seconds:10.0f}{share[0]:10.3f}{share[1]:10.3f}")
    told.append(f"\n{'median ms, total included':42}{'settled':>10}{'meanwhile':>10}{'times':>10}")
    for name in (ALONE, TOGETHER_WITH_IMPORT):
        for asked in ASKED:
            settled, meanwhile = (
                statistics.median(rows[each].asked[asked]) for each in ("settled", name)
            )
            what = f"{asked}; {name}"[:41]
            told.append(f"{what:42}{settled:10.1f}{meanwhile:10.1f}{meanwhile / settled:10.2f}")
    return "\n".join(
        [*told, f"\n{ALONE}: at least {AT_LEAST}; meanwhile: at most {AT_MOST:.0f} times"]
    )


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        embedded = EmbeddedMongoDB(directory / "mongodb")
        stack.push_async_callback(embedded.stop)
        uri = await embedded.start()
        api, _ = await stack.enter_async_context(farhand(directory / "server", uri))
        floor, served = await Database.open(uri, "floor"), await Database.open(uri, "server")
        stack.callback(floor.close)
        stack.callback(served.close)
        measured = Measured(embedded.pid or 0, api.pid, Client(api))
        importer = Importer(api, floor, served, directory)
        rows = await measure(measured, importer, floor, served, arguments.lines)
    load = os.getloadavg()[0]
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f}")
    print(table(rows, arguments.lines))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.following", description=__doc__)
    parser.add_argument("--lines", type=int, default=30_000)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
