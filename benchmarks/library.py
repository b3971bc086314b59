"""Makes a library of trajectories, seeded, as large as wanted, in minutes.

What a server would write one by one is written in bulk, by the same functions that it uses.
"""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from uuid import UUID

import pymongo

from server.store.mongodb.database import Database
from server.store.mongodb.documents import CODEC_OPTIONS, Document
from server.store.mongodb.transactions import in_transaction
from server.store.trajectories.counts import MAX_BUCKET, CountedTrajectory, TrajectoryCounts
from server.store.trajectories.documents import StoredTrajectory, document_of
from server.store.trajectories.indexer import SEGMENT, entry_of
from server.store.trajectories.search import name_order, search_text

WORKFLOWS = [UUID(int=number, version=4) for number in range(1, 301)]
NEEDLE_IN_NAMES = "Quixotry"
"""In one name of two thousand: what a search should find at once among a million."""

COLLECTIONS = ("trajectories", "trajectory_entries")

_START = datetime(2022, 1, 1, tzinfo=UTC)
_VERBS = (
    "Book",
    "Check",
    "Create",
    "Export",
    "File",
    "Print",
    "Refund",
    "Send",
    "Update",
    "Void",
)
_NOUNS = (
    *("invoice", "order", "delivery note", "customer", "contract", "payslip", "ticket", "claim"),
    *("Rechnung", "facture", "請求書", "счёт", "policy", "timesheet", "shipment", "statement"),
)
_PLACES = ("Berlin", "São Paulo", "Kraków", "Osaka", "Lagos", "Denver", "Zürich", "Hà Nội")
_WORDS = (
    *("opens", "the", "ledger", "and", "enters", "amount", "date", "of", "each", "line", "then"),
    *("saves", "prints", "closes", "window", "waits", "for", "approval", "by", "team", "in"),
)


def trajectories(organization_id: UUID, numbers: range, step_bytes: int) -> Iterator[Document]:
    """The documents with these numbers, the same whoever makes them; oldest first."""
    for number in numbers:
        random = Random(number)
        created_at = _START + timedelta(seconds=60 * number)
        name = (
            f"{random.choice(_VERBS)} {random.choice(_NOUNS)} {random.randrange(10**6)} "
            f"{random.choice(_PLACES)}"
        )
        if number % 2000 == 7:
            name += f" {NEEDLE_IN_NAMES}"
        description = " ".join(random.choices(_WORDS, k=10)) if random.random() < 0.5 else None
        own = UUID(int=random.getrandbits(128), version=4)
        step = b'[{"action":"click","x":1,"y":2,"text":"%s"}]' % (b"x" * step_bytes)
        yield document_of(
            StoredTrajectory(
                id=own,
                organization_id=organization_id,
                user_id=None,
                workflow_id=random.choice(WORKFLOWS),
                run_id=None,
                name=name,
                description=description,
                is_approved=random.random() < 0.3,
                is_generated=random.random() < 0.9,
                step_count=1,
                trajectory_data=step,
                dimensions=b'{"width":1280,"height":800}',
                original_input_values=b"{}",
                created_at=created_at,
                updated_at=created_at,
                version=1,
            ),
            {
                "search": search_text(own, name, description),
                "name_order": name_order(name),
                "unindexed": None,
            },
        )


async def fill(
    uri: str, database: str, organization_id: UUID, size: int, step_bytes: int = 60
) -> None:
    """Fill an empty database; its indexes are made at the end, which is quicker."""
    client: pymongo.MongoClient[Document] = pymongo.MongoClient(uri)
    with client:
        for name in COLLECTIONS:
            client[database][name].drop_indexes()
    share = -(-size // 64)
    shares = [range(begin, min(begin + share, size)) for begin in range(0, size, share)]
    with ProcessPoolExecutor(2) as processes:
        loop = asyncio.get_running_loop()
        await asyncio.gather(
            *(
                loop.run_in_executor(
                    processes, _insert, uri, database, organization_id, numbers, step_bytes
                )
                for numbers in shares
            )
        )
    opened = await Database.open(uri, database)
    try:
        await _count(opened, organization_id, size)
    finally:
        opened.close()


def _insert(
    uri: str, database: str, organization_id: UUID, numbers: range, step_bytes: int
) -> None:
    client: pymongo.MongoClient[Document] = pymongo.MongoClient(uri)
    with client:
        collections = client.get_database(database, CODEC_OPTIONS)
        documents = list(trajectories(organization_id, numbers, step_bytes))
        for begin in range(0, len(documents), 1000):
            some = documents[begin : begin + 1000]
            collections["trajectories"].insert_many(some, ordered=False)
            segment = (numbers.start + begin) // SEGMENT
            entries = [{**entry_of(document), "segment": segment} for document in some]
            collections["trajectory_entries"].insert_many(entries, ordered=False)


async def _count(database: Database, organization_id: UUID, size: int) -> None:
    counts = TrajectoryCounts(database)
    for begin in range(0, size, MAX_BUCKET):
        numbers = range(begin, min(begin + MAX_BUCKET, size))
        counted = [CountedTrajectory.of(each) for each in trajectories(organization_id, numbers, 0)]
        large = await in_transaction(database, partial(counts.add, trajectories=counted))
        for bucket in large:
            await in_transaction(database, partial(counts.split, bucket=bucket))
