"""A run as it is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from schemas.runs.runs import Halted, RunStatus, StepResult
from schemas.steps.reviews import Editor
from schemas.steps.step import Step
from server.store.mongodb.documents import Document, fields_of


@dataclass(frozen=True)
class StoredSecrets:
    """The secrets of a run as they are encrypted, and the id of the key."""

    key_id: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class StoredAttempt:
    """A try of a step's input: stored before the input is sent, under this attempt's own key.

    The facts are those by which the ledger knows the command; its text is in none of them.
    ``how`` and ``score`` say by what the step's place was found.
    """

    step: int
    number: int
    command_id: UUID
    operation: str
    fingerprint: str
    accepted_at: datetime
    expires_at: datetime
    began_at: datetime
    is_done: bool = False
    how: str | None = None
    score: float | None = None


@dataclass(frozen=True)
class StoredRepair:
    """What takes the place of a step, each as JSON text; one that was ``pointed`` at is run so."""

    number: int
    kind: Literal["pointed", "by_hand"]
    editor: Editor
    at: datetime
    steps: tuple[str, ...] = field(default=(), repr=False)

    @property
    def by(self) -> str:
        """The name of whose token it was."""
        return self.editor.token_name


@dataclass(frozen=True)
class StoredProposal:
    """The trajectory that has a run's repairs, and its content as the run left it."""

    id: UUID
    content_hash: bytes


@dataclass(frozen=True)
class StoredRepairs:
    """All repairs of a run, and what proposes them."""

    repairs: Sequence[StoredRepair]
    proposal: StoredProposal

    def document(self) -> Document:
        """What the run's document has of them."""
        documents = [
            {**vars(each), "editor": each.editor.model_dump(), "steps": [*each.steps]}
            for each in self.repairs
        ]
        return {"repairs": documents, "proposal": asdict(self.proposal)}


@dataclass(frozen=True)
class StoredRun:
    """A run as it is stored.

    ``step`` is the number of the step that it is at, ``attempt`` the newest try of it.  ``lease``
    is whose turn it is to write it, and nobody else does; ``reserves`` the machine that it keeps
    from other runs.  ``wanted`` is what somebody has asked for and its node has not done yet.
    ``reservation`` stands for its control of the machine.  ``halts`` counts how often it was
    halted, and ``revision`` what was written.
    """

    id: UUID
    organization_id: UUID
    workflow_id: UUID
    trajectory_id: UUID
    content_hash: bytes
    machine_id: str | None
    pool_ids: list[UUID] | None
    priority: int
    halt_timeout: int
    input_values: dict[str, str]
    step_count: int
    by: str
    token_id: UUID
    user_id: UUID | None
    created_at: datetime
    reservation: str = field(repr=False)
    secrets: list[str] = field(default_factory=list)
    sealed: StoredSecrets | None = field(default=None, repr=False)
    status: RunStatus = "scheduling"
    step: int = 1
    tries: int = 0
    attempt: StoredAttempt | None = None
    steps: tuple[StepResult, ...] = ()
    halted: Halted | None = None
    repairs: tuple[StoredRepair, ...] = ()
    proposal: StoredProposal | None = None
    error: str | None = None
    retry_of: UUID | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    reserves: str | None = None
    wanted: str | None = None
    halts: int = 0
    revision: int = 0

    @property
    def is_attempt_open(self) -> bool:
        """Whether its newest try may still happen, or be under way."""
        if self.attempt is None or self.attempt.is_done:
            return False
        return self.halted is None or not self.halted.is_try_over

    def repaired(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Its steps, those that somebody has pointed at something for done to that."""
        pointed = {each.number: each.steps[0] for each in self.repairs if each.kind == "pointed"}
        return tuple(
            Step.model_validate_json(pointed[number]) if number in pointed else step
            for number, step in enumerate(steps, 1)
        )

    @property
    def proposal_id(self) -> UUID | None:
        """The trajectory that has its repairs."""
        return None if self.proposal is None else self.proposal.id

    @property
    def is_done_at_step(self) -> bool:
        """Whether the input of the step that it is at was done."""
        attempt = self.attempt
        return attempt is not None and attempt.step == self.step and attempt.is_done


def run_document(run: StoredRun) -> Document:
    """The document of a new run."""
    document = {**vars(run), "_id": run.id, "steps": [], "lease": None, "wants_turn": True}
    document["sealed"] = run.sealed and asdict(run.sealed)
    document["repairs"] = []
    del document["id"], document["reserves"]
    return document


def stored_run(document: Mapping[str, Any]) -> StoredRun:
    """The run in a document; one that was read without its steps has none."""
    fields = fields_of(StoredRun, dict(document))
    attempt, halted = fields.get("attempt"), fields.get("halted")
    fields["attempt"] = attempt and StoredAttempt(**fields_of(StoredAttempt, attempt))
    sealed = fields.get("sealed")
    fields["sealed"] = sealed and StoredSecrets(**fields_of(StoredSecrets, sealed))
    fields["halted"] = halted and Halted.model_validate(halted)
    fields["repairs"] = tuple(map(_stored_repair, document.get("repairs", ())))
    proposal = fields.get("proposal")
    fields["proposal"] = proposal and StoredProposal(**fields_of(StoredProposal, proposal))
    fields["steps"] = tuple(StepResult.model_validate(each) for each in document.get("steps", ()))
    return StoredRun(id=document["_id"], **fields)


def _stored_repair(document: Document) -> StoredRepair:
    fields = fields_of(StoredRepair, document)
    # A list is read without their steps.
    steps = tuple(fields.get("steps", ()))
    return StoredRepair(**{**fields, "editor": Editor(**fields["editor"]), "steps": steps})
