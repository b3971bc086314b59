"""One piece of work that is to be done once."""

from typing import Self

from farhand._async.connection import AsyncConnection
from farhand._async.machine import AsyncMachine
from farhand._session_file import SessionFile


class AsyncSession:
    """An open session; :meth:`Farhand.session` says what it is for.

    Its inputs have an order: they are for one task, or one thread, at a time.
    """

    def __init__(self, connection: AsyncConnection, file: SessionFile) -> None:
        self._connection = connection
        self._file = file

    async def __aenter__(self) -> Self:
        self._file.open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._file.finish()
        finally:
            self._file.close()

    def machine(self, machine_id: str) -> AsyncMachine:
        """A machine, all of whose inputs belong to this session; what only looks does not."""
        return AsyncMachine(self._connection, machine_id, self._file)
