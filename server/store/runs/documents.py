"""A run as it is stored."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.runs.runs import Halted, RunStatus, StepResult
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
class StoredRun:
    """A run as it is stored.

    ``step`` is the number of the step that it is at, ``attempt`` the newest try of it.  ``lease``
    is whose turn it is to write it, and nobody else does; ``reserves`` the machine that it keeps
    from other runs.  ``wanted`` is what somebody has asked for and its node has not done yet.
    ``reservation`` stands for its control of the machine.  ``revision`` counts what was written.
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
    error: str | None = None
    retry_of: UUID | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    reserves: str | None = None
    wanted: str | None = None
    revision: int = 0

    @property
    def is_attempt_open(self) -> bool:
        """Whether its newest try may still happen, or be under way."""
        if self.attempt is None or self.attempt.is_done:
            return False
        return self.halted is None or not self.halted.is_unknown

    @property
    def is_done_at_step(self) -> bool:
        """Whether the input of the step that it is at was done."""
        attempt = self.attempt
        return attempt is not None and attempt.step == self.step and attempt.is_done


def run_document(run: StoredRun) -> Document:
    """The document of a new run."""
    document = {**vars(run), "_id": run.id, "steps": [], "lease": None, "wants_turn": True}
    document["sealed"] = run.sealed and asdict(run.sealed)
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
    fields["steps"] = tuple(StepResult.model_validate(each) for each in document.get("steps", ()))
    return StoredRun(id=document["_id"], **fields)
