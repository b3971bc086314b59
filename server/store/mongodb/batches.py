"""Asks the database once for what many want to know at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Final, Generic, TypeVar

from server.errors import StoreError
from server.tasks import Tasks

INTERVAL_SECONDS: Final = 0.02
"""Between the beginnings of two operations, at least: what comes meanwhile goes together."""

MOST: Final = 256
"""Questions in one operation; more wait for the next one."""

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Batches(Generic[Question, Answer]):
    """Answers many questions by few operations, one operation after another.

    ``ask`` answers several questions in their order.  Who comes alone is served at once; whoever
    comes soon after an operation has begun is served by the next, which so sees what was written
    before.  No operation has two questions of one ``key``, where there are keys.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[Question]], Awaitable[Sequence[Answer]]],
        tasks: Tasks,
        name: str,
        key: Callable[[Question], Hashable] | None = None,
    ) -> None:
        self._ask = ask
        self._tasks = tasks
        self._name = name
        self._key = key
        self._waiting: list[tuple[Question, asyncio.Future[Answer]]] = []
        self._is_asking = False
        self._began_at = float("-inf")

    async def answer(self, question: Question) -> Answer:
        """The answer to one question.  Raises what the operation raises."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if not self._is_asking:
            self._is_asking = True
            self._tasks.start_and_report(self._answer_all(), self._name)
        return await future

    async def _answer_all(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            while self._waiting:
                if (left := self._began_at + INTERVAL_SECONDS - clock()) > 0:
                    await asyncio.sleep(left)
                self._began_at = clock()
                await self._answer_some(self._take())
        finally:
            self._is_asking = False
            waiting, self._waiting = self._waiting, []
            for _, future in waiting:
                future.cancel()

    def _take(self) -> list[tuple[Question, asyncio.Future[Answer]]]:
        """Those that go together next; whoever has given up is left out."""
        taken: list[tuple[Question, asyncio.Future[Answer]]] = []
        left: list[tuple[Question, asyncio.Future[Answer]]] = []
        keys = set[Hashable]()
        for question, future in self._waiting:
            key = object() if self._key is None else self._key(question)
            if len(taken) >= MOST or key in keys:
                left.append((question, future))
            elif not future.done():
                keys.add(key)
                taken.append((question, future))
        self._waiting = left
        return taken

    async def _answer_some(self, some: list[tuple[Question, asyncio.Future[Answer]]]) -> None:
        if not some:
            return
        try:
            answers = await self._ask([question for question, _ in some])
        except Exception as error:  # noqa: BLE001  each who waits is told
            if len(some) > 1 and not isinstance(error, StoreError):
                # One of them may be at fault, which is no reason to fail the others.
                for one in some:
                    await self._answer_some([one])
                return
            for _, future in some:
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # Whoever waited may have gone.
            return
        except BaseException:
            # The program ends.
            for _, future in some:
                future.cancel()
            raise
        for (_, future), answer in zip(some, answers, strict=True):
            if not future.done():
                future.set_result(answer)
