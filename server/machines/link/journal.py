"""What a link hears of the machine's journal: a number that only grows, and not by leaps."""

from dataclasses import dataclass
from uuid import UUID

from server.machines.link.errors import UnexpectedAnswerError

MAX_ENTRIES_PER_COMMAND = 10_000
"""By how much one command may move the journal's number: a long one notes its progress."""


@dataclass(slots=True)
class JournalHeard:
    """The journal as this link knows it.

    ``greeted_with`` is its number in the hello, ``sequence`` the highest that was heard since, and
    ``mark`` the id of its last mark; None until there is one of this link.
    """

    greeted_with: int = 0
    sequence: int = 0
    mark: UUID | None = None

    def greeted(self, sequence: int) -> None:
        """The hello has come."""
        self.sequence = self.greeted_with = sequence

    def moved(self, sequence: int, *, commands: int, heartbeats: int) -> None:
        """Take the number after so many commands and heartbeats of this link.

        Raises UnexpectedAnswerError where no honest journal could have it.
        """
        if sequence < self.sequence:
            raise UnexpectedAnswerError(f"the journal went back from {self.sequence} to {sequence}")
        # One more than was asked for: what an earlier link left behind is written late.
        if sequence > self.greeted_with + (1 + commands + heartbeats) * MAX_ENTRIES_PER_COMMAND:
            raise UnexpectedAnswerError(
                f"the journal jumped from {self.sequence} to {sequence}, for {commands} commands"
            )
        self.sequence = sequence

    def marked(self, mark: UUID) -> None:
        """A heartbeat was answered: the journal has a mark of this link.

        Raises UnexpectedAnswerError where its number is still that of the hello.
        """
        if self.sequence <= self.greeted_with:
            raise UnexpectedAnswerError(
                f"the journal has no mark of this link: its number is {self.sequence}, "
                f"and was {self.greeted_with} in hello"
            )
        self.mark = mark
