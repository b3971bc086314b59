"""Finds what a secret leads to, so that those who guess secrets slow down nobody but themselves.

A secret that nobody knows can only be told from a good one by asking the database.  Whoever sends
many of them could keep it busy, so an address that has guessed wrong too often is asked for
together with all others like it: one query, several times a second, however many secrets wait.
Everybody gets the true answer, at once or a moment later: nobody is turned away for what others
at the same address do, and a secret that was good before never waits.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from server.store.mongodb.batches import Batches
from server.tasks import Tasks

FREE_ATTEMPTS: Final = 10
"""Unknown secrets from one address that are looked up at once, one after another."""

FORGIVEN_PER_SECOND: Final = 1.0
MAX_ADDRESSES: Final = 10_000
BATCH_SECONDS: Final = 0.1
MAX_BATCH: Final = 1000
"""Secrets in one query; more wait for the next one."""

Found = TypeVar("Found")


class FailedAttempts:
    """How often addresses sent unknown secrets of late, as a token bucket for each."""

    def __init__(self) -> None:
        self._spent: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def record(self, address: str) -> None:
        """An address sent an unknown secret."""
        self._spent[address] = (min(self._now_spent(address) + 1, FREE_ATTEMPTS), time.monotonic())
        self._spent.move_to_end(address)
        if len(self._spent) > MAX_ADDRESSES:
            self._spent.popitem(last=False)

    def are_too_many(self, address: str) -> bool:
        """Whether an address has no free attempt left."""
        return self._now_spent(address) > FREE_ATTEMPTS - 1

    def _now_spent(self, address: str) -> float:
        spent, noted_at = self._spent.get(address, (0.0, 0.0))
        return max(spent - (time.monotonic() - noted_at) * FORGIVEN_PER_SECOND, 0.0)


class SecretLookup(Generic[Found]):
    """Looks secrets up by their hashes.

    ``find`` asks the database for several hashes at once, and returns what it has of them.
    """

    def __init__(
        self,
        find: Callable[[Sequence[bytes]], Awaitable[Mapping[bytes, Found]]],
        failed_attempts: FailedAttempts,
        background: Tasks,
    ) -> None:
        self._find = find
        self._failed_attempts = failed_attempts
        self._background = background
        self._together = Batches(self._find_all, background, "look up secrets")
        # As many as there are requests, each of which has a connection of its own.
        self._waiting: dict[bytes, asyncio.Future[Found | None]] = {}

    async def find(self, digest: bytes, address: str, *, was_valid: bool) -> Found | None:
        """What the secret of this hash leads to, or None.

        ``was_valid`` is whether it was valid before.  The caller says with ``record_failure``
        where it is not valid now.  Raises a StoreError.
        """
        if was_valid:
            # Not behind all the machines that come back at once.
            return (await self._find([digest])).get(digest)
        if not self._failed_attempts.are_too_many(address):
            return await self._together.answer(digest)
        return await self._find_in_batch(digest)

    async def _find_all(self, digests: Sequence[bytes]) -> Sequence[Found | None]:
        found = await self._find([*dict.fromkeys(digests)])
        return [found.get(digest) for digest in digests]

    def record_failure(self, address: str) -> None:
        """A secret from this address is unknown, or not good any more."""
        self._failed_attempts.record(address)

    async def _find_in_batch(self, digest: bytes) -> Found | None:
        waiting = self._waiting.get(digest)
        if waiting is None:
            if not self._waiting:
                self._background.start_and_report(self._answer_batches(), "look up secrets")
            waiting = self._waiting[digest] = asyncio.get_running_loop().create_future()
        # Others may wait for the same.
        return await asyncio.shield(waiting)

    async def _answer_batches(self) -> None:
        while self._waiting:
            await asyncio.sleep(BATCH_SECONDS)
            digests = list(self._waiting)[:MAX_BATCH]
            try:
                found = await self._find(digests)
            except Exception as error:  # noqa: BLE001 - each who waits is told
                for digest in digests:
                    _fail(self._waiting.pop(digest), error)
            else:
                for digest in digests:
                    _answer(self._waiting.pop(digest), found.get(digest))


def _answer(waiting: asyncio.Future[Found | None], found: Found | None) -> None:
    if not waiting.done():
        waiting.set_result(found)


def _fail(waiting: asyncio.Future[Found | None], error: Exception) -> None:
    if not waiting.done():
        waiting.set_exception(error)
        waiting.exception()  # Whoever waited may have gone.
