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
from benchmarks.trajectories import Client, Row, median_ms, table
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


async def measure(
    uri: str,
    name: str,
    directory: Path,
    size: int,
    rows: dict[str, Row],
    *,
    changed: bool,
    times: int,
) -> float:
    """Fill a database and ask everything of it; the milliseconds of the first list of all."""
    database = await Database.open(uri, name)
    organization, _ = await OrganizationStore(database).ensure_default()
    pool_id = await fill(database, organization.id, size, changed=changed)
    machines = database.collection("machines")
    async with farhand(directory / name, uri) as (api, _):
        client = Client(api)
        started = time.perf_counter()
        client.get("/v1/machines?limit=1")
        first = (time.perf_counter() - started) * 1000
        for title, (template, plain_filter, order) in LISTS.items():
            limit = FILTERED_PAGE if plain_filter else PAGE
            path = f"/v1/machines?limit={limit}{template.format(ninety=size * 3 // 10 - limit)}"
            row = rows.setdefault(title, Row())
            row.found.append(json.loads(client.get(path))["total"])
            row.ours.append(await median_ms(partial(asyncio.to_thread, client.get, path), times))
            wanted = {"organization_id": organization.id, "deleted_at": None, **plain_filter}
            if "pools" in wanted:
                wanted["pools"] = pool_id

            async def plain(
                wanted: Document = wanted, order: str = order, limit: int = limit
            ) -> None:
                await machines.count_documents(wanted)
                await machines.find(wanted, sort=[(order, 1)], limit=limit).to_list(limit)

            row.plain.append(await median_ms(plain, times))
    database.close()
    return first


async def run(sizes: list[int], *, changed: bool, times: int) -> None:
    """Measure all, and print it."""
    rows: dict[str, Row] = {}
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        version = f"{platform.python_implementation()} {platform.python_version()}"
        print(f"{version}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        firsts = [
            await measure(
                uri, f"machines{size}", directory, size, rows, changed=changed, times=times
            )
            for size in sizes
        ]
    print(table(sizes, rows))
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
    parser.add_argument("--times", type=int, default=30, help="each list, at most")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    asyncio.run(run(sizes, changed=options.changed, times=options.times))


if __name__ == "__main__":
    main()
