"""What the server answers about who may do what, and about how machines are put together."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Anything that the server answers."""

    # Built at the first use: whoever imports the library needs few of them.
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class PoolReference(Answer):
    """Which pool, for programs and for people."""

    id: UUID
    name: str


class Pool(Answer):
    """Machines that are looked after together."""

    id: UUID
    name: str
    description: str | None
    offline_after: int | None
    """Seconds that a machine may be away before webhooks are told; None: as the server has it."""
    machines: int
    """How many are in it."""
    created_at: datetime
    created_by: str


class RecordingReference(Answer):
    """That a machine is recorded."""

    id: UUID
    by: str
    """The name of the token that records."""
    since: datetime
    of: Literal["everybody", "me"]
    secret: bool
    """Whether what is typed now is said to be a secret."""


class Recording(RecordingReference):
    """A recording, which runs or has ended."""

    machine_id: str
    trajectory_id: UUID
    """Its steps are there as soon as they are done."""
    workflow_id: UUID
    keep_texts: bool
    state: Literal["recording", "stopped"]
    stopped_at: datetime | None
    why_stopped: str | None
    reason: str | None
    """Why it has ended, for a person."""
    steps: int
    gaps: int
    """How many steps mark that something may be missing."""
    secrets: int
    """How many steps have a secret in a text's place."""
    pictures: int
    picture_bytes: int
    last_step_at: datetime | None


class HelpRequest(Answer):
    """What a program asks people, and what became of it."""

    id: UUID
    machine_id: str
    kind: Literal["help", "approval"]
    reason: str
    state: Literal["open", "answered", "withdrawn", "timed_out"]
    created_at: datetime
    expires_at: datetime
    """When it ends if nobody answers."""
    by: str
    """The name of the token that asks."""
    answer: Literal["done", "cannot", "approve", "deny"] | None
    comment: str | None
    answered_by: str | None
    """The name of the token that answered."""
    ended_at: datetime | None
    run_id: UUID | None = None
    """The run that is halted and asks."""


class QuietHours(Answer):
    """When a webhook is told of nothing: what happens meanwhile comes at their end."""

    begin: str
    end: str
    time_zone: str


class Webhook(Answer):
    """An address that is told what happens."""

    id: UUID
    url: str
    events: list[str]
    pools: list[PoolReference]
    """None: it is told of all machines."""
    description: str | None
    quiet_hours: QuietHours | None
    created_at: datetime
    created_by: str
    dropped: int
    """Deliveries that were given up unsent, because too many waited."""


class CreatedWebhook(Webhook):
    """The only answer that has the secret, with which deliveries are signed."""

    secret: str


class Delivery(Answer):
    """What was or will be posted to a webhook, and how that went."""

    id: UUID
    event: str
    state: str
    attempts: int
    status: int | None
    error: str | None
    created_at: datetime
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None


class ExpectedOffline(Answer):
    """That nobody has to be told where a machine is away."""

    machine_id: str
    until: datetime
    reason: str | None
    by: str


class Token(Answer):
    """A token, without its secret."""

    id: UUID
    name: str
    organization_id: UUID
    user_id: UUID | None
    role: str | None
    scopes: list[str]
    machine_id: str | None
    pool_ids: list[UUID] | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class CreatedToken(Token):
    """A new token: the only answer with its secret."""

    token: str = Field(repr=False)


class ConsoleSession(Answer):
    """A browser that is signed in to the console with a token."""

    id: UUID
    token_id: UUID
    token_name: str
    user_agent: str | None
    created_at: datetime
    last_used_at: datetime
    """It may have been used for a minute since."""
    expires_at: datetime
    """When it ends at the latest."""
    current: bool
    """Whether the request came with its own cookie: not from this library."""


class Invitation(Answer):
    """A code with which hosts become machines, without the code."""

    id: UUID
    name: str | None
    machine_id: str | None
    uses: int
    used: int
    """How many have joined with it, or wait for approval."""
    approval: bool
    tags: list[str]
    pools: list[PoolReference]
    created_at: datetime
    created_by: str
    expires_at: datetime


class CreatedInvitation(Invitation):
    """A new invitation: the only answer with its code."""

    code: str = Field(repr=False)


class Join(Answer):
    """A host that came with an invitation."""

    id: UUID
    host: str
    address: str
    state: Literal["waiting", "joined", "refused"]
    machine_id: str | None
    created_at: datetime


class Trouble(Answer):
    """A time in which a machine could not be worked on, or not be seen."""

    kind: Literal["offline", "no_input", "no_screen"]
    reason: str
    since: datetime
    until: datetime | None
    """None where it is not over."""
    seconds: float


class Organization(Answer):
    """A tenant."""

    id: UUID
    name: str
    created_at: datetime
    parent_id: UUID | None


class BulkItem(Answer):
    """What became of one of many machines."""

    machine_id: str
    status: Literal["done", "not_found", "failed"]
    detail: str | None = None
    """What was wrong, for a person."""


class BulkResult(Answer):
    """What became of many machines, each for itself."""

    items: list[BulkItem]
    done: int
    failed: int
    """Those that were not found among them."""


class StateCounts(Answer):
    """How many machines are in each state."""

    online: int
    offline: int
    paused: int
    no_input: int
    not_set_up: int
    """Of those that are offline."""
    in_trouble: int
    """Offline though set up, without input, or without the screen that should be seen."""
    fine: int
    """Neither in trouble nor to be set up."""
    outdated: int
    """Whose client is older than the server."""


class TagCount(Answer):
    """How many machines have a tag."""

    tag: str
    machines: int


class PoolCount(PoolReference):
    """How many machines are in a pool."""

    machines: int
