"""``python -m benchmarks.machine_lists``: lists of machines, as a fleet grows.

Each list is asked over HTTP of a real server, at each size, a page with its total (of ten machines
where there is a filter, which as many fit at each size); beside it
stands the plain query on the same data, asked of MongoDB directly, which leaves out all that a
server does, and knows of states only what is stored.  ``--changed`` asks while every machine has
changed within the last two minutes, as after a restart: that is when a list reads the most.
"""

import argparse
import asyncio
import json
import os
import platform
import re
import tempfile
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Final
from uuid import UUID, uuid4

from bson import Int64

from benchmarks.subjects import farhand, mongodb
from benchmarks.trajectories import Client, Row, alternating_ms, table
from server.store.identity.organizations import OrganizationStore
from server.store.machines.machines import MachineStore
from server.store.machines.pools import PoolStore
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document

PAGE, FILTERED_PAGE = 100, 10
NODE: Final = UUID(int=7)
REASONS = ("the connection was lost", "its network went away", "the machine client has ended")
LISTS: Final[dict[str, tuple[str, Document, str]]] = {
    "by id": ("", {}, "machine_id"),
    "by name": ("&sort=name", {}, "name"),
    "newest first": ("&sort=-created_at", {}, "created_at"),
    "by state, with counts": ("&sort=state&counts=true", {}, "state_since"),
    "of a pool, by name": ("&pool=Berlin&sort=name", {"pools": "{pool}"}, "name"),
    "with one of two tags, by name": (
        "&tag=till,spare&sort=name",
        {"tags": {"$in": ["till", "spare"]}},
        "name",
    ),
    "paused, by name, with counts": (
        "&state=paused&sort=name&counts=true",
        {"paused": True},
        "name",
    ),
    "two words, by name": (
        "&search=till%20away&sort=name",
        {"name": re.compile("till", re.IGNORECASE), "reason": re.compile("away")},
        "name",
    ),
    "of a version, behind 90 %": (
        "&version=0.2.0&sort=name&skip={ninety}",
        {"client.client_version": "0.2.0"},
        "name",
    ),
}
"""What is asked for, and what of MongoDB: its filter, and what it sorts by."""


async def fill(database: Database, organization_id: UUID, size: int, *, changed: bool) -> UUID:
    """As many machines as wanted, and the pool that a third of them are in."""
    machines, random = database.collection("machines"), Random(size)
    pool = await PoolStore(database).create(organization_id, "Berlin", None, by="benchmark")
    await MachineStore(database).create(organization_id, "model", "model")
    model = await machines.find_one({"machine_id": "model"}) or {}
    await machines.delete_one({"machine_id": "model"})
    moment = datetime.now(UTC)
    documents = []
    for number in range(size):
        kind = random.random()
        ago = timedelta(seconds=random.randrange(90 if changed else 10**6))
        client = {
            "platform": "Linux",
            "client_version": f"0.{random.randrange(3)}.0",
            "displays": [{"x": 0, "y": 0, "width": 1280, "height": 800, "scale": 1.0}],
            "desktop": "x11",
        }
        linked: Document = {
            "connected_at": moment,
            "client": client,
            "link": {"node_id": NODE, "node_name": "away", "attempt": uuid4()},
        }
        ended = {**linked, "disconnected_at": moment, "reason": random.choice(REASONS)}
        paused = {**linked, "paused": True, "paused_since": moment, "pause": {"by": "Ada"}}
        facts = linked if kind < 0.6 else ended if kind < 0.8 else paused if kind < 0.9 else {}
        document = {
            **model,
            **facts,
            "machine_id": f"desk-{number}",
            "name": f"{random.choice(('Till', 'Desk', 'Kiosk'))} {random.randrange(size)}",
            "tags": random.sample(["till", "spare", "floor-1", "floor-2"], random.randrange(3)),
            "pools": [pool.id] if random.random() < 0.3 else [],
            "created_at": moment - ago,
            "state_since": moment - ago,
            "changed_at": moment - ago,
            "change_id": Int64(number),
        }
        del document["_id"]
        documents.append(document)
    await machines.insert_many(documents)
    return pool.id


class Fleet:
    """So many machines in a database of their own, behind a server of their own."""

    def __init__(self, database: Database, organization_id: UUID, size: int) -> None:
        self._machines = database.collection("machines")
        self._wanted: Document = {"organization_id": organization_id, "deleted_at": None}
        self._database, self._size = database, size

    async def start(
        self, stack: AsyncExitStack, uri: str, directory: Path, *, changed: bool
    ) -> float:
        """Make the machines and start the server; the milliseconds of the first list of all."""
        organization_id = self._wanted["organization_id"]
        self._pool_id = await fill(self._database, organization_id, self._size, changed=changed)
        api, _ = await stack.enter_async_context(farhand(directory, uri))
        self._client = Client(api)
        started = time.perf_counter()
        self._client.get("/v1/machines?limit=1")
        return (time.perf_counter() - started) * 1000

    async def ask(self, title: str) -> int:
        """Ask the server for one of the `LISTS`; how many machines fit."""
        template, plain_filter, _ = LISTS[title]
        limit = FILTERED_PAGE if plain_filter else PAGE
        asked = template.format(ninety=self._size * 3 // 10 - limit)
        found = await asyncio.to_thread(self._client.get, f"/v1/machines?limit={limit}{asked}")
        total: int = json.loads(found)["total"]
        return total

    async def ask_plainly(self, title: str) -> None:
        """Ask MongoDB for much the same."""
        _, plain_filter, order = LISTS[title]
        limit = FILTERED_PAGE if plain_filter else PAGE
        wanted = {**self._wanted, **plain_filter}
        if "pools" in wanted:
            wanted["pools"] = self._pool_id
        await self._machines.count_documents(wanted)
        await self._machines.find(wanted, sort=[(order, 1)], limit=limit).to_list(limit)


async def run(sizes: list[int], *, changed: bool, times: int) -> None:
    """Measure all, the sizes in turn, and print it."""
    rows: dict[str, Row] = {}
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        version = f"{platform.python_implementation()} {platform.python_version()}"
        print(f"{version}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        fleets, firsts = [], []
        for size in sizes:
            database = await Database.open(uri, f"machines{size}")
            stack.callback(database.close)
            organization, _ = await OrganizationStore(database).ensure_default()
            fleet = Fleet(database, organization.id, size)
            firsts.append(
                await fleet.start(stack, uri, directory / f"machines{size}", changed=changed)
            )
            fleets.append(fleet)
        for title in LISTS:
            ways = [partial(fleet.ask, title) for fleet in fleets]
            ways_of_mongodb = [partial(fleet.ask_plainly, title) for fleet in fleets]
            medians = await alternating_ms(*ways, *ways_of_mongodb, times=times)
            found = [await fleet.ask(title) for fleet in fleets]
            rows[title] = Row(found, medians[: len(sizes)], medians[len(sizes) :])
        load = os.getloadavg()[0]
    print(table(sizes, rows))
    print(f"load {load:.1f} at the end")
    print()
    print(f"{'the first list of all, ms':60}" + "".join(f"{first:10.1f}" for first in firsts))
    for title, row in rows.items():
        print(f"{f'{title}, largest / smallest':60}{row.ours[-1] / row.ours[0]:8.2f}   at most 2")
        if "counts" in title:
            print(f"{f'{title}, ms':60}{row.ours[-1]:8.2f}   at most 50")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.machine_lists", description=__doc__)
    parser.add_argument("--sizes", default="100,10000", help="how many machines, comma-separated")
    parser.add_argument("--changed", action="store_true", help="all of them just now")
    parser.add_argument("--times", type=int, default=30, help="of each list")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    asyncio.run(run(sizes, changed=options.changed, times=options.times))


if __name__ == "__main__":
    main()
