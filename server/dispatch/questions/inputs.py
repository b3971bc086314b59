"""Inputs for the node with a machine's link, and what became of one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import model_validator

from schemas.inputs.bodies import Operation
from server.dispatch.command import Command, Ended, Pending, Sender
from server.dispatch.questions.clipboard import TextRead
from server.dispatch.questions.question import Done, LinkQuestion, NodeQuestion, Question


@dataclass(frozen=True)
class KnownCommand:
    """What is known of a command.

    Its ``state`` is the ledger's word for how far it has come, and no other follows one that
    ``is_final``.  ``ended`` is how it ended, where that is known.
    """

    command_id: UUID
    machine_id: str
    operation: Operation
    state: str
    is_final: bool
    accepted_at: datetime
    expires_at: datetime
    final_at: datetime | None
    ended: Ended | None


@dataclass(frozen=True, slots=True)
class LookUp(Question[KnownCommand | None]):
    """What is known of a command?  The machine is asked where it can settle it.

    None of one that is not known, or with ``machine_id`` is another machine's.
    """

    organization_id: UUID
    command_id: UUID
    machine_id: str | None = None


@dataclass(frozen=True, slots=True)
class Settle(Question[KnownCommand]):
    """What became of a command that may never have been sent?

    Where the ledger knows nothing of it, or no more than that somebody meant to send it, it is
    ended now: from then on it never will be.  The facts are those that its record has.  Only for as
    long as the ledger keeps what has ended.
    """

    sender: Sender
    machine_id: str
    command_id: UUID
    operation: Operation
    fingerprint: str
    accepted_at: datetime
    expires_at: datetime


class CarryOut(LinkQuestion[Ended | Pending]):
    """Carry out a command.

    ``forward_id`` is the same in every message by which a request is forwarded, and in no other:
    however many of them arrive, and whatever the reply, they get the same one.  A text that is too
    long for a message is given by the node ``text_at``.
    """

    type: Literal["carry_out"] = "carry_out"
    command: Command
    forward_id: UUID
    text_at: UUID | None = None

    @model_validator(mode="after")
    def _is_about_one_machine(self) -> Self:
        command = self.command
        about = self.organization_id, self.machine_id
        if (command.organization_id, command.machine_id) != about:
            raise ValueError("the command is about another machine")
        return self

    @classmethod
    def of(cls, command: Command, **how: Any) -> Self:
        """The message by which a command leaves for another node."""
        return cls(
            organization_id=command.organization_id,
            machine_id=command.machine_id,
            command=command,
            **how,
        )


class ResolveCommand(LinkQuestion[Done]):
    """Ask the machine what became of a command; its record then says it."""

    answer_seconds = 6.0

    type: Literal["resolve"] = "resolve"
    command_id: UUID


class ReadText(NodeQuestion[TextRead]):
    """Give the text of a command that was forwarded without it."""

    type: Literal["read_text"] = "read_text"
    forward_id: UUID
