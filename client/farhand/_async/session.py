"""One piece of work that is to be done once."""

from collections.abc import Awaitable, Callable
from typing import Self, TypeVar

from farhand._async.connection import AsyncConnection
from farhand._async.machine import AsyncMachine
from farhand._session_steps import SessionSteps

Value = TypeVar("Value")


class AsyncSession:
    """An open session; :meth:`Farhand.session` says what it is for.

    Its inputs have an order: they are for one task, or one thread, at a time.
    """

    def __init__(self, connection: AsyncConnection, steps: SessionSteps) -> None:
        self._connection = connection
        self._steps = steps

    async def __aenter__(self) -> Self:
        self._steps.open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._steps.finish()
        finally:
            self._steps.close()

    async def once(self, decide: Callable[[], Awaitable[Value]]) -> Value:
        """What ``decide`` returns, now or when the session came here before: it is called once.

        This is for what would not be the same again: a model's decision, the time, a number drawn.
        It is kept in the session's file, and must be JSON: numbers, texts, lists and dicts of them.
        """
        known = self._steps.decision()
        if known is None:
            with self._steps.deciding():
                value = await decide()
            known = self._steps.decide(value)
        return known.decided  # type: ignore[no-any-return]

    def machine(self, machine_id: str) -> AsyncMachine:
        """A machine, all of whose inputs belong to this session; what only looks does not."""
        return AsyncMachine(self._connection, machine_id, self._steps)
