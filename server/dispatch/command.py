"""A command: an input that the server accepted; and every way in which it can end."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self
from uuid import UUID, uuid4, uuid5

from pydantic import BeforeValidator, Field, SerializeAsAny, ValidationInfo

from schemas.inputs.actions import COMMAND_BODIES, Actions, AnyBody
from schemas.inputs.bodies import InputBody, Operation, WriteClipboard
from schemas.inputs.outcomes import Outcome
from schemas.link.messages import Input
from schemas.values.scalars import MachineId, Name
from server.clock import milliseconds, server_time
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.questions.question import Milliseconds, Question, Refusal, Reply
from server.store.commands import CommandRecord

Hash = Annotated[str, Field(max_length=64)]


class Ended(Reply):
    """A command has ended, and how: final, and the same for whoever asks.

    ``operation``, ``accepted_at``, ``request_id`` and ``minimal`` (whether no body was wanted) are
    those of the request that came first under its key; ``is_replayed`` is whether another one has
    got this before.
    """

    type: Literal["ended"] = "ended"
    command_id: UUID
    machine_id: str
    operation: Operation
    accepted_at: int
    ended_at: int
    request_id: str
    minimal: bool
    outcome: Outcome
    is_replayed: bool = False

    @classmethod
    def of(cls, command: "Command | CommandRecord", outcome: Outcome, ended_at: int) -> Self:
        """The end of a command, on its way or recorded."""
        if isinstance(command, Command):
            command_id, accepted_at = command.id, command.accepted_at
            request_id = command.sender.request_id
        else:
            command_id, accepted_at = command.command_id, milliseconds(command.accepted_at)
            request_id = command.request_id
        return cls(
            command_id=command_id,
            machine_id=command.machine_id,
            operation=Operation(command.operation),
            accepted_at=accepted_at,
            ended_at=ended_at,
            request_id=request_id,
            minimal=command.minimal,
            outcome=outcome,
        )

    def replayed(self) -> Self:
        """The same, for somebody who asks after the first."""
        return self.model_copy(update={"is_replayed": True})


class Pending(Reply):
    """A command may have been sent, and nothing is known of its end yet."""

    type: Literal["pending"] = "pending"
    command_id: UUID


CommandReply = Ended | Pending | Refusal
"""What becomes of a command, for whoever asks."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who asks for something: the request, its token, and by which right.

    ``lease_hash`` is that of the control lease that it came with; None where it came with none.
    What is ``in_segment`` is a part of a hand's work, of which the audit has an entry for all
    together.  ``recording`` is that of its own which it names, if it names one, and ``user_id`` the
    token's user.  Who ``has_secrets`` is a run: whatever it types may be one of them.
    """

    organization_id: UUID
    token_id: UUID
    token_name: Name
    request_id: Annotated[str, Field(max_length=64)]
    lease_hash: Hash | None = None
    in_segment: bool = False
    recording: UUID | None = None
    user_id: UUID | None = None
    has_secrets: bool = False


def _of_its_operation(body: Any, info: ValidationInfo) -> Any:
    if isinstance(body, InputBody) or "operation" not in info.data:
        return body
    return COMMAND_BODIES[info.data["operation"]].model_validate(body)


@dataclass(frozen=True, slots=True)
class Command(Question[Ended | Pending]):
    """An accepted input on its way: plain data, which any node could be handed.

    It is made of what was validated already, and checked again only where it comes from another
    node.

    ``accepted_at``, ``expires_at`` (until when it may begin) and ``answer_by`` (until when it is
    to be answered) are milliseconds since 1970: the one clock that nodes share, so that setting it
    moves the ends of what is under way by as much.  A command without a key has an empty
    fingerprint: nothing can repeat it.  ``minimal`` is whether no body is wanted in the answer.
    """

    id: UUID
    sender: Sender
    machine_id: MachineId
    operation: Operation
    body: Annotated[SerializeAsAny[InputBody], BeforeValidator(_of_its_operation)]
    fingerprint: Hash
    accepted_at: Milliseconds
    expires_at: Milliseconds
    answer_by: Milliseconds
    minimal: bool

    @classmethod
    def accept(
        cls,
        sender: Sender,
        machine_id: str,
        body: AnyBody,
        *,
        fingerprints: Fingerprints,
        timeout: float,
        key: str | None = None,
        minimal: bool = False,
    ) -> Self:
        """Accept an input now; ``key`` is its Idempotency-Key.

        It may begin until shortly before ``timeout`` seconds have passed, so that the machine's
        word that it did not begin still arrives in time; its own duration comes on top.
        """
        accepted_at = server_time()
        begin_within = timeout - min(1.0, timeout / 10)
        organization_id, fingerprint = sender.organization_id, ""
        if key is not None:
            fingerprint = fingerprints.of(organization_id, key, (_content(machine_id, body),))
        return cls(
            id=uuid4() if key is None else uuid5(organization_id, key),
            sender=sender,
            machine_id=machine_id,
            operation=body.input_name,
            body=body,
            fingerprint=fingerprint,
            accepted_at=accepted_at,
            expires_at=accepted_at + round(begin_within * 1000),
            answer_by=accepted_at + round((timeout + body.own_seconds) * 1000),
            minimal=minimal,
        )

    @property
    def organization_id(self) -> UUID:
        """The sender's, which is the machine's."""
        return self.sender.organization_id

    @property
    def is_keyed(self) -> bool:
        """Whether a retry may ask for this command again."""
        return bool(self.fingerprint)

    @property
    def request_key(self) -> tuple[UUID, str]:
        """What tells this request from every other: equal for all its retries."""
        return self.id, self.fingerprint

    def is_recorded_in(self, record: CommandRecord) -> bool:
        """Whether a record under this command's key is of this request, and of no other."""
        return record.fingerprint == self.fingerprint

    def without_text(self) -> Self:
        """The same without what is copied, or without its actions: nobody needs them once sent."""
        if isinstance(self.body, Actions):
            return replace(self, body=self.body.without_texts())
        if not isinstance(self.body, WriteClipboard):
            return self
        return self.with_text("")

    def with_text(self, text: str) -> Self:
        """The same with another text to be copied."""
        return replace(self, body=self.body.model_copy(update={"text": text}))

    def message(self, link_id: UUID) -> Input:
        """What the machine is told on a link."""
        # Made of what was validated already; to check it again would take as long as all the rest.
        return Input.model_construct(
            link_id=link_id,
            command_id=self.id,
            operation=self.operation,
            body=self.body.model_dump(),
            fingerprint=self.fingerprint,
            expires_at=self.expires_at,
            server_time=server_time(),
            request_id=self.sender.request_id,
        )


def _content(machine_id: str, body: AnyBody) -> bytes:
    """What makes two requests the same: the address and the body as it was understood.

    Every operation has one address for each machine, so the two name the path.
    """
    return f"{body.input_name}\n{machine_id}\n{body.model_dump_json()}".encode()
