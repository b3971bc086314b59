"""Interrupting a machine, and hearing that it is done."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

from schemas.link.messages import Interrupt
from server.machines.link.errors import UnexpectedAnswerError


@dataclass(slots=True)
class Interrupts:
    """Those of one link that the machine has not confirmed yet."""

    server_time: Callable[[], int]
    # Most links never have any, and many are at rest: an empty set would take its memory in each.
    _open: frozenset[UUID] = frozenset()

    @property
    def is_pending(self) -> bool:
        """Whether any is not confirmed."""
        return bool(self._open)

    def next(self) -> Interrupt:
        """One to be sent now."""
        request = uuid4()
        self._open |= {request}
        return Interrupt(request=request, server_time=self.server_time())

    def confirmed(self, request: UUID) -> None:
        """One is confirmed.  Raises UnexpectedAnswerError where none of this name is open."""
        if request not in self._open:
            raise UnexpectedAnswerError("confirmed an interrupt that it was not asked for")
        self._open -= {request}
