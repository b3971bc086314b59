"""Who is told of commands and does nothing about it."""

from schemas.inputs.outcomes import Outcome
from server.dispatch.command import Command
from server.dispatch.ledger.timings import Timings
from server.store.commands import CommandRecord


class NoObserver:
    """Stands in where nothing is counted or recorded."""

    def ended(self, command: Command | CommandRecord, outcome: Outcome) -> None:
        """Nobody hears it."""

    def left_open(self, command: Command) -> None:
        """Nobody hears it."""

    def answered(self, timings: Timings, outcome: Outcome) -> None:
        """Nobody hears it."""
