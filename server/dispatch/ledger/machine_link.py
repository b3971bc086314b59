"""What a machine's link can do for the ledger, which runs where the link lives."""

import asyncio
from contextlib import AbstractContextManager
from typing import Protocol
from uuid import UUID

from schemas.inputs.outcomes import Outcome
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Input, Resolve
from server.machines.link.greeting import Greeting
from server.machines.pending_outcomes import Question


class MachineLink(Protocol):
    """One machine's link that is up; ``up_since`` is milliseconds since 1970.

    ``epoch`` counts the links of the machine; ``journal_sequence`` and ``journal_mark`` are what
    this link heard last of its journal.
    """

    organization_id: UUID
    machine_id: str
    greeting: Greeting
    epoch: int
    up_since: int

    @property
    def link_id(self) -> UUID:
        """The link's own id, which every input names."""

    @property
    def journal_sequence(self) -> int:
        """The highest number of the journal."""

    @property
    def journal_mark(self) -> UUID | None:
        """The id of the journal's last mark, if its marks have ids."""

    @property
    def is_live(self) -> bool:
        """Whether inputs may be sent at once."""

    @property
    def is_over(self) -> bool:
        """Whether the link is closing or closed."""

    def slot(self, lease_hash: str | None = None) -> AbstractContextManager[None]:
        """Hold a slot for an input that came with the control lease of this hash, or with none.

        Raises a SubmissionRefusedError where it is not taken now.
        """

    async def until_live(self) -> None:
        """Wait until inputs may be sent.  Raises LinkDownError where that never comes."""

    def send(
        self, message: Input, answer_by: int, lease_hash: str | None = None
    ) -> "asyncio.Future[Outcome]":
        """Send an input; the future ends with its outcome, or with LinkLostError.

        ``lease_hash`` is of the control lease that it came with.  Raises a SubmissionRefusedError
        where nothing was sent.
        """

    def resolve(self, message: Resolve) -> Question:
        """Ask what became of a command that an earlier link sent.  Raises LinkDownError.

        Where another request with its key is being asked about, it is that question.
        """

    def close(self, code: CloseCode, reason: str) -> None:
        """End the link."""
