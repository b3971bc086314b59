"""The commands of one link: which wait for an answer, until when, and what was answered."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from schemas.inputs.actions import LONGEST_COMMAND_SECONDS
from schemas.inputs.outcomes import Expired, NotCarriedOut, Outcome, Refused
from server.machines.link.errors import LinkBusyError, UnexpectedAnswerError

REMEMBERED_OUTCOMES = 1000

KEY_REUSED = "idempotency_key_reused"
"""How a machine refuses what came under a key that its journal has from another request."""

LATE_SECONDS = 5.0
"""After its answer was due, until a command is overdue: a machine that is slow is not stuck."""

RUNNING_SECONDS = LONGEST_COMMAND_SECONDS + 30.0
"""For a command of an earlier link that the machine says still runs."""


@dataclass(slots=True)
class LinkCommands:
    """What was sent and asked on a link, and the bound on what may be unanswered.

    ``unanswered`` are the commands that the machine has not acknowledged yet, with the time by
    ``clock`` at which each answer is due; ``overdue`` are those for which that time is long past:
    they hold no slot any more, and their acknowledgement is still taken.  ``resolving`` are those
    that the machine was asked about.  ``several`` are the unanswered ones that are several actions.
    ``asked`` counts all commands and questions of this link.
    """

    limit: int
    clock: Callable[[], float]
    unanswered: dict[UUID, float] = field(default_factory=dict)
    # Empty, a set takes three times what a dict does.
    overdue: dict[UUID, None] = field(default_factory=dict)
    resolving: dict[UUID, None] = field(default_factory=dict)
    several: dict[UUID, None] = field(default_factory=dict)
    asked: int = 0
    _reserved: int = 0
    _reported: dict[UUID, None] = field(default_factory=dict)
    _outcomes: dict[UUID, Outcome] = field(default_factory=dict)

    @property
    def are_there(self) -> bool:
        """Whether any is unanswered, or about to be sent."""
        return bool(self._reserved or self.unanswered)

    @property
    def run_several(self) -> bool:
        """Whether several actions run now: the machine begins what it has in its order."""
        return next(iter(self.unanswered), None) in self.several

    def check_room(self) -> None:
        """Raise LinkBusyError where every slot is taken."""
        if self._reserved + len(self.unanswered) >= self.limit:
            raise LinkBusyError

    def reserve(self) -> None:
        """Hold a slot for a command that will be submitted."""
        self.check_room()
        self._reserved += 1

    def free(self) -> None:
        """Give back a slot that was reserved: the command has taken one by now, or never will."""
        self._reserved -= 1

    def submit(self, command_id: UUID, answer_by: float, *, is_several: bool) -> None:
        """A command is sent, which may be several actions.  Raises LinkBusyError."""
        if len(self.unanswered) >= self.limit:
            raise LinkBusyError
        self.asked += 1
        # Days later the same key may bring the same id with another end.
        self._outcomes.pop(command_id, None)
        self._reported.pop(command_id, None)
        # Where we send late, as after a database that was away, the machine is not late.
        self.unanswered[command_id] = max(answer_by, self.clock())
        if is_several:
            self.several[command_id] = None

    def ask(self, command_id: UUID) -> None:
        """The machine is asked what became of a command."""
        self.asked += 1
        self.resolving[command_id] = None

    def check_acknowledged(self, command_id: UUID) -> None:
        """Raise UnexpectedAnswerError where no acknowledgement of this command is awaited."""
        if not (self._is_awaited(command_id) or command_id in self._reported):
            raise UnexpectedAnswerError(
                f"acknowledged {command_id}, which is not waiting for an acknowledgement"
            )

    def acknowledge(self, command_id: UUID, outcome: Outcome) -> Outcome:
        """The machine has said how a command ended; returns what it had said first."""
        # A command that was also asked about is settled by whichever answer comes first.
        settled = self._settle(command_id, outcome)
        self._answered(command_id)
        self._reported.pop(command_id, None)
        return settled

    def check_reported(self, command_id: UUID) -> None:
        """Raise UnexpectedAnswerError where the machine was not asked about this command."""
        if command_id not in self.resolving:
            raise UnexpectedAnswerError(f"reported on {command_id}, which it was not asked about")

    def report(self, command_id: UUID, outcome: Outcome | None) -> Outcome | None:
        """The machine has said what became of a command; None is that it still runs.

        Returns how the command ended, or None where an acknowledgement will say so.
        """
        if outcome is None and command_id not in self._outcomes:
            # Still running: its acknowledgement will follow on this link.
            if command_id not in self.overdue:
                self.unanswered.setdefault(command_id, self.clock() + RUNNING_SECONDS)
            settled = None
        elif _is_of_another_request(outcome) and self._is_awaited(command_id):
            # The request that was asked about never came, and another has its key by now.
            settled = None
        else:
            settled = self._settle(command_id, outcome)
            if self._answered(command_id):
                # Its acknowledgement may be on its way; what never began has none.
                self._reported[command_id] = None
                if len(self._reported) > REMEMBERED_OUTCOMES:
                    del self._reported[next(iter(self._reported))]
        del self.resolving[command_id]
        return settled

    @property
    def overdue_at(self) -> float:
        """When the next of them will be overdue; infinite where none waits."""
        return min(self.unanswered.values(), default=math.inf) + LATE_SECONDS

    def find_overdue(self) -> bool:
        """Let time pass; returns whether the machine is late with a command since now."""
        due = self.clock() - LATE_SECONDS
        late = [command_id for command_id, by in self.unanswered.items() if by <= due]
        was_late = bool(self.overdue)
        for command_id in late:
            del self.unanswered[command_id]
            self.several.pop(command_id, None)
            self.overdue[command_id] = None
        return bool(late) and not was_late

    def abandon(self) -> tuple[UUID, ...]:
        """Nothing will be answered any more; returns what was open."""
        open_commands = tuple(self.unanswered.keys() | self.overdue.keys() | self.resolving.keys())
        self.unanswered.clear()
        self.several.clear()
        self.overdue.clear()
        self.resolving.clear()
        return open_commands

    def _is_awaited(self, command_id: UUID) -> bool:
        """Whether a command was sent on this link, and its acknowledgement is to come."""
        return command_id in self.unanswered or command_id in self.overdue

    def _answered(self, command_id: UUID) -> bool:
        """A command has ended; returns whether its acknowledgement was awaited."""
        was_awaited = self._is_awaited(command_id)
        self.unanswered.pop(command_id, None)
        self.overdue.pop(command_id, None)
        self.several.pop(command_id, None)
        return was_awaited

    def _settle(self, command_id: UUID, outcome: Outcome | None) -> Outcome:
        if outcome is not None and _is_of_another_request(outcome):
            return outcome  # Said of this request; the earlier outcome was another's.
        first = self._outcomes.setdefault(command_id, outcome) if outcome else None
        if first is None or outcome is None or not _agree(first, outcome):
            raise UnexpectedAnswerError(
                f"said of {command_id} what contradicts its earlier outcome"
            )
        if len(self._outcomes) > REMEMBERED_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]
        return first


def _is_of_another_request(outcome: Outcome | None) -> bool:
    """Whether the machine has another request under the key."""
    return isinstance(outcome, Refused) and outcome.code == KEY_REUSED


def _agree(first: Outcome, later: Outcome) -> bool:
    """Whether two answers about one command can both be true."""
    # What came too late is in no journal: asked about, it was never carried out.
    never = (Expired, NotCarriedOut)
    return first == later or (isinstance(first, never) and isinstance(later, never))
