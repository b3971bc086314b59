"""Writes that wait for the same collection, made together: one wait for the majority for all.

A group forms only of what waits while another write is under way, so a write that comes alone is
made at once, by itself.  Each write of a group succeeds or fails on its own.

The driver repeats none of them by itself: for each write that it may repeat, MongoDB writes down in
a collection of its own that it has happened.  Whoever makes these repeats them, and recognises what
is found then.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from server.errors import StoreError, StoreUnavailable
from server.store.mongodb.database import Database
from server.store.mongodb.documents import CODEC_OPTIONS, Collection, Document
from server.store.mongodb.error_translation import refused

logger = logging.getLogger(__name__)

MOST_TOGETHER: Final = 100
MOST_WAITING: Final = 10_000

Write = TypeVar("Write")
Result = TypeVar("Result")

Update = tuple[Document, Document]
"""Which document, and how it changes."""


class GroupedWrites(Generic[Write, Result]):
    """Makes writes of one kind, a group at a time.

    ``make_all`` makes several, in their order, and says of each what came of it: what is returned
    to its caller, or the error that is raised there.  Where it raises itself, and not because the
    database does not answer, each is made again alone, so that it does not matter who was in one
    group.
    """

    def __init__(
        self,
        database: Database,
        make_all: Callable[[Sequence[Write]], Awaitable[Sequence[Result | StoreError]]],
    ) -> None:
        self._database = database
        self._make_all = make_all
        self._is_writing = False
        self._waiting: dict[asyncio.Future[Result], Write] = {}

    async def make(self, write: Write) -> Result:
        """Make a write, within the database's timeout; a wait for its group counts.

        A caller that gives up before its group has begun takes its write back.  After that it may
        happen, as any other that was given up.
        """
        async with self._database.operation():
            if not self._is_writing:
                self._is_writing = True
                try:
                    return await self._alone(write)
                finally:
                    self._ended()
            if len(self._waiting) >= MOST_WAITING:
                raise StoreUnavailable("Too many writes wait for the database.")
            made: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
            self._waiting[made] = write
            try:
                return await made
            finally:
                self._waiting.pop(made, None)

    def _ended(self) -> None:
        """No write is under way any more: what waits is the next group."""
        self._is_writing = bool(self._waiting)
        if self._is_writing:
            callers = list(islice(self._waiting, MOST_TOGETHER))
            group = [(caller, self._waiting.pop(caller)) for caller in callers]
            self._database.tasks.start_and_report(self._make_together(group), "grouped writes")

    async def _make_together(self, group: list[tuple["asyncio.Future[Result]", Write]]) -> None:
        results: Sequence[Result | Exception] = ()
        try:
            results = await self._results([write for _, write in group])
        finally:
            # Where it was called off, nobody knows what came of any of them.
            self._ended()
            unknown = [StoreUnavailable("The write was called off.") for _ in group[len(results) :]]
            for (caller, _), result in zip(group, [*results, *unknown], strict=True):
                if caller.done():
                    continue
                if isinstance(result, Exception):
                    caller.set_exception(result)
                else:
                    caller.set_result(result)

    async def _results(self, writes: Sequence[Write]) -> Sequence[Result | Exception]:
        if len(writes) > 1:
            try:
                async with self._database.bounded():
                    return await self._make_all(writes)
            except StoreUnavailable as error:
                # One for each, as each is raised in another place.
                return [StoreUnavailable(*error.args) for _ in writes]
            except Exception as error:  # noqa: BLE001  whose it is, each finds out by itself
                # Not its own words: they may repeat what was to be written.
                kind = type(error).__name__
                logger.warning("a group of %d writes was refused: error=%s", len(writes), kind)
        return [await self._result(write) for write in writes]

    async def _alone(self, write: Write) -> Result:
        (result,) = await self._make_all([write])
        if isinstance(result, StoreError):
            raise result
        return result

    async def _result(self, write: Write) -> Result | Exception:
        try:
            async with self._database.bounded():
                return await self._alone(write)
        except Exception as error:  # noqa: BLE001  it is raised where the caller waits
            return error


def grouped_inserts(database: Database, collection: Collection) -> GroupedWrites[Document, None]:
    """Inserts documents; raises AlreadyExists where one is there, be it from an earlier try."""
    return GroupedWrites(database, partial(_insert, collection))


def grouped_updates(database: Database, collection: Collection) -> GroupedWrites[Update, bool]:
    """Changes documents; returns whether one was changed.

    False also where that is not known, because some of a group were changed and some not: look.
    """
    return GroupedWrites(database, partial(_update, collection))


async def _insert(
    collection: Collection, documents: Sequence[Document]
) -> Sequence[StoreError | None]:
    """Insert documents; of each the reason why not, or None.

    AlreadyExists is said where one is there, be it from an earlier try, and StoreUnavailable where
    nobody knows whether it will stay.
    """
    answer = await _answer(collection, {"insert": collection.name, "documents": documents})
    errors = _errors_of(answer, len(documents))
    return [errors.get(number) for number in range(len(documents))]


async def _update(collection: Collection, updates: Sequence[Update]) -> Sequence[bool | StoreError]:
    """Change documents; of each whether it was changed, or the reason why not.

    False also where that is not known, because some were changed and some were not: look.
    """
    changes = [{"q": wanted, "u": change} for wanted, change in updates]
    answer = await _answer(collection, {"update": collection.name, "updates": changes})
    if errors := _errors_of(answer, len(updates)):
        return [errors.get(number, False) for number in range(len(updates))]
    return [answer["nModified"] == len(updates)] * len(updates)


async def _answer(collection: Collection, command: Document) -> Document:
    # https://www.mongodb.com/docs/manual/reference/command/insert/ and .../update/
    answer: Document = await collection.database.command(
        {**command, "ordered": False, "writeConcern": collection.write_concern.document},
        codec_options=CODEC_OPTIONS,
    )
    return answer


def _errors_of(answer: Document, size: int) -> dict[int, StoreError]:
    """The errors of a command's writes, by their place in it.

    A write has its own; and of those that have none nobody knows whether they stay where a
    majority did not confirm them.
    """
    own: list[Any] = answer.get("writeErrors", [])
    errors = {each["index"]: refused(each["code"]) for each in own}
    if unconfirmed := answer.get("writeConcernError"):
        for number in range(size):
            errors.setdefault(number, refused(unconfirmed["code"]))
    return errors
