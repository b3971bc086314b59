# Made of farhand/_async by client/unasync.py: change it there.
"""One piece of work that is to be done once."""

from collections.abc import Callable
from typing import Self, TypeVar

from farhand._session_steps import SessionSteps
from farhand._sync.connection import Connection
from farhand._sync.machine import Machine

Value = TypeVar("Value")


class Session:
    """An open session; :meth:`Farhand.session` says what it is for.

    Its inputs have an order: they are for one task, or one thread, at a time.
    """

    def __init__(self, connection: Connection, steps: SessionSteps) -> None:
        self._connection = connection
        self._steps = steps

    def __enter__(self) -> Self:
        self._steps.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._steps.finish()
        finally:
            self._steps.close()

    def once(self, decide: Callable[[], Value]) -> Value:
        """What ``decide`` returns, now or when the session came here before: it is called once.

        This is for what would not be the same again: a model's decision, the time, a number drawn.
        It is kept in the session's file, and must be JSON: numbers, texts, lists and dicts of them.
        """
        known = self._steps.decision()
        if known is None:
            with self._steps.deciding():
                value = decide()
            known = self._steps.decide(value)
        return known.decided  # type: ignore[no-any-return]

    def machine(self, machine_id: str) -> Machine:
        """A machine, all of whose inputs belong to this session; what only looks does not."""
        return Machine(self._connection, machine_id, self._steps)
