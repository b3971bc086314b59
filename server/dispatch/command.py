"""A command: an input that the server accepted."""

from dataclasses import dataclass, replace
from uuid import UUID, uuid4, uuid5

from schemas.inputs.bodies import AnyInput, Operation, WriteClipboard
from schemas.link.messages import Input
from server.clock import server_time
from server.dispatch.fingerprints import Fingerprints
from server.store.commands import CommandRecord


@dataclass(frozen=True, slots=True)
class Command:
    """An accepted input on its way: plain data, which any node could be handed.

    ``accepted_at``, ``expires_at`` (until when it may begin) and ``answer_by`` (until when it is
    to be answered) are milliseconds since 1970: the one clock that nodes share, so that setting it
    moves the ends of what is under way by as much.  A command without a key has an empty
    fingerprint: nothing can repeat it.  ``token_id`` and ``token_name`` are of who sent it.
    ``proof`` is that of the control lease that it came with; None where it came with none.  One
    that is ``in_stretch`` is a part of a hand's work, of which the audit has an entry for all
    together.
    """

    id: UUID
    organization_id: UUID
    machine_id: str
    body: AnyInput
    fingerprint: str
    accepted_at: int
    expires_at: int
    answer_by: int
    request_id: str
    minimal: bool
    token_id: UUID | None = None
    token_name: str | None = None
    proof: str | None = None
    in_stretch: bool = False

    def without_text(self) -> "Command":
        """The same without what is copied, which nobody needs once it was sent."""
        if not isinstance(self.body, WriteClipboard):
            return self
        return replace(self, body=self.body.model_copy(update={"text": ""}))

    @classmethod
    def accept(
        cls,
        *,
        organization_id: UUID,
        machine_id: str,
        body: AnyInput,
        key: str | None,
        fingerprints: Fingerprints,
        timeout: float,
        request_id: str,
        minimal: bool,
        token_id: UUID | None = None,
        token_name: str | None = None,
        proof: str | None = None,
        in_stretch: bool = False,
    ) -> "Command":
        """Accept an input now.

        It may begin until shortly before ``timeout`` seconds have passed, so that the machine's
        word that it did not begin still arrives in time; its own duration comes on top.
        """
        accepted_at = server_time()
        begin_within = timeout - min(1.0, timeout / 10)
        fingerprint = ""
        if key is not None:
            fingerprint = fingerprints.of(organization_id, key, (_content(machine_id, body),))
        return cls(
            id=uuid4() if key is None else uuid5(organization_id, key),
            organization_id=organization_id,
            machine_id=machine_id,
            body=body,
            fingerprint=fingerprint,
            accepted_at=accepted_at,
            expires_at=accepted_at + round(begin_within * 1000),
            answer_by=accepted_at + round((timeout + body.own_seconds) * 1000),
            request_id=request_id,
            minimal=minimal,
            token_id=token_id,
            token_name=token_name,
            proof=proof,
            in_stretch=in_stretch,
        )

    @property
    def operation(self) -> Operation:
        """Which of the inputs it is."""
        return self.body.operation

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
            request_id=self.request_id,
        )


def _content(machine_id: str, body: AnyInput) -> bytes:
    """What makes two requests the same: the address and the body as it was understood.

    Every operation has one address for each machine, so the two name the path.
    """
    return f"{body.operation}\n{machine_id}\n{body.model_dump_json()}".encode()
