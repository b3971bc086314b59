# Made of farhand/_async by client/unasync.py: change it there.
"""One piece of work that is to be done once."""

from collections.abc import Callable
from typing import Self, TypeVar

from farhand._session_file import SessionFile
from farhand._sync.connection import Connection
from farhand._sync.machine import Machine

Value = TypeVar("Value")


class Session:
    """An open session; :meth:`Farhand.session` says what it is for.

    Its inputs have an order: they are for one task, or one thread, at a time.
    """

    def __init__(self, connection: Connection, file: SessionFile) -> None:
        self._connection = connection
        self._file = file

    def __enter__(self) -> Self:
        self._file.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._file.finish()
        finally:
            self._file.close()

    def once(self, decide: Callable[[], Value]) -> Value:
        """What ``decide`` returns, now or when the session came here before: it is called once.

        This is for what would not be the same again: a model's decision, the time, a number drawn.
        It is kept in the session's file, and must be JSON: numbers, texts, lists and dicts of them.
        """
        known = self._file.decisions()
        return self._file.decided(known[0] if known else decide())  # type: ignore[no-any-return]

    def machine(self, machine_id: str) -> Machine:
        """A machine, all of whose inputs belong to this session; what only looks does not."""
        return Machine(self._connection, machine_id, self._file)
