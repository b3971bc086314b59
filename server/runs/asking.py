"""What a run may ask of its machine, wherever that machine's link is."""

from typing import Protocol, TypeVar
from uuid import UUID

from server.dispatch.questions.question import Question, Refusal

R = TypeVar("R")


class Machine(Protocol):
    """The machine of one run, in whose name it is asked; and the pictures of what it does."""

    @property
    def organization_id(self) -> UUID:
        """The organization of both."""

    @property
    def machine_id(self) -> str:
        """The machine's id."""

    async def ask(self, question: Question[R]) -> R | Refusal:
        """What the machine answers, or why it does not.  Raises StoreUnavailable."""

    async def recorded(self, picture_id: str) -> bytes | None:
        """A picture that the steps refer to, as it was kept; None where it is not there any more.

        Raises StoreUnavailable.
        """
