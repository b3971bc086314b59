"""What may be told of commands on their way, to whoever counts and records them."""

from typing import Protocol

from schemas.inputs.outcomes import Outcome
from server.dispatch.command import Command
from server.dispatch.ledger.timings import Timings
from server.store.commands import CommandRecord


class CommandObserver(Protocol):
    """Is told of commands, and must take no time: their callers wait meanwhile."""

    def ended(self, command: Command | CommandRecord, outcome: Outcome) -> None:
        """The final outcome is known, and stored where there is a key.

        It may be told again of the same command.
        """

    def left_open(self, command: Command) -> None:
        """The command was sent, and its outcome is not known yet."""

    def answered(self, timings: Timings, outcome: Outcome) -> None:
        """A command went all the way to its machine and back, in these times."""
