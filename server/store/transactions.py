"""Transactions for the rooms above the store: work whose writes all happen, or none of them.

What they are given says what happens together; that MongoDB has sessions is known here and below.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from server.store.help.requests import HelpWrites
from server.store.idempotency import IdempotencyStore, KeyedRequest
from server.store.identity.makers import MakerReads
from server.store.mongodb.database import Database
from server.store.mongodb.transactions import Session, in_transaction
from server.store.recordings.writes import RecordingWrites
from server.store.runs.writes import RunWrites
from server.store.trajectories.workflows import WorkflowWrites
from server.store.trajectories.writes import TrajectoryWrites

T = TypeVar("T")

Result = dict[str, Any]
"""What the record of an idempotency key keeps: names, and values that MongoDB can store."""


class Transaction:
    """What one transaction can read and write; all of it sees one snapshot of the database."""

    def __init__(self, database: Database, session: Session) -> None:
        self.trajectories = TrajectoryWrites(database, session)
        self.workflows = WorkflowWrites(database, session)
        self.recordings = RecordingWrites(database, session)
        self.help = HelpWrites(database, session)
        self.runs = RunWrites(database, session)
        self.makers = MakerReads(database, session)


class Transactions:
    """Runs work in a transaction each.

    The work may be done several times, until it meets no other transaction, so it must change
    nothing but through the transaction.  What it raises is raised, and nothing is written then.
    """

    def __init__(self, database: Database, *, key_lifetime: timedelta) -> None:
        self._database = database
        self._keys = IdempotencyStore(database, key_lifetime)

    async def run(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """What ``work`` returns, once all that it wrote is committed.

        Raises StoreUnavailable where it takes too long, and then it may have been written.
        """
        return await in_transaction(
            self._database, lambda session: work(Transaction(self._database, session))
        )

    async def run_once(
        self, request: KeyedRequest | None, work: Callable[[Transaction], Awaitable[Result]]
    ) -> tuple[Result, bool]:
        """What ``work`` returned, and whether it did so for an earlier request with the same key.

        Then it is not done again.  Without a request it is done in any case.  Raises KeyReused
        where the key belongs to another request.
        """
        return await self._keys.once(
            request, lambda session: work(Transaction(self._database, session))
        )
