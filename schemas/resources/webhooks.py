"""Webhooks: what happened is told to addresses of an organization's own, signed."""

import re
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from schemas.http.queries import Page
from schemas.resources.machines import PauseReason
from schemas.resources.pools import PoolIds, PoolReference
from schemas.values.scalars import Fitting, Note
from schemas.values.strict import StrictModel
from schemas.values.times import Time

MOST_WEBHOOKS: Final = 100
"""Of one organization."""

_NO_ZONE: Final = "must be a time zone such as Europe/Berlin or UTC"
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the public beginning of every secret, as the standard has it
LONGEST_URL: Final = 2000

WebhookEvent = Literal["machine_offline", "machine_online", "help_requested", "run_complete"]
"""What a webhook can be told of; later versions add to these."""


def _web_address(text: str) -> str:
    """The same text.  Raises an error where it is no address that a webhook can lead to."""
    try:
        parts = urlsplit(text)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_right = is_right and re.fullmatch(r"[\x21-\x7e]+", text) is not None
    except ValueError:
        is_right = False
    if not is_right:
        raise PydanticCustomError(
            "webhook_url", "must be an address such as https://example.com/farhand, in ASCII"
        )
    if parts.username is not None or parts.fragment:
        raise PydanticCustomError("webhook_url", "must have neither a user nor a # in it")
    return text


WebhookUrl = Annotated[str, Field(max_length=LONGEST_URL), AfterValidator(_web_address)]


def _each_once(events: list[WebhookEvent]) -> list[WebhookEvent]:
    return sorted(set(events))


WebhookEvents = Annotated[list[WebhookEvent], Field(min_length=1), AfterValidator(_each_once)]


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise PydanticCustomError("time_zone", _NO_ZONE) from None
    return name


TimeOfDay = Annotated[
    str, Fitting("([01][0-9]|2[0-3]):[0-5][0-9]", "must be a time of day, such as 22:00")
]


class QuietHours(StrictModel):
    """When a webhook is told of nothing: what happens meanwhile comes at their end."""

    begin: TimeOfDay = Field(description="Such as 22:00.")
    end: TimeOfDay = Field(description="Such as 06:00: on the next day where it is not later.")
    time_zone: Annotated[str, AfterValidator(_known_zone)] = Field(
        description="Such as Europe/Berlin.", max_length=64
    )


class NewWebhook(StrictModel):
    """The body of ``POST /v1/webhooks``."""

    url: WebhookUrl = Field(description="Where events are posted to.")
    events: WebhookEvents = Field(description="Which events.")
    pool_ids: PoolIds = Field([], description="Of machines in these pools alone; none: of all.")
    description: Note | None = None
    quiet_hours: QuietHours | None = None


class WebhookChange(StrictModel):
    """The body of ``PATCH /v1/webhooks/{webhook_id}``; what is left out stays."""

    url: WebhookUrl | None = None
    events: WebhookEvents | None = None
    pool_ids: PoolIds | None = None
    description: Note | None = None
    quiet_hours: QuietHours | None = None


class Webhook(BaseModel):
    """A webhook; its secret is not in it."""

    id: UUID
    url: str
    events: list[str]
    pools: list[PoolReference] = Field(description="None: it is told of all machines.")
    description: str | None
    quiet_hours: QuietHours | None
    created_at: Time
    created_by: str = Field(description="The name of the token that made it.")
    dropped: int = Field(
        description="Deliveries that were given up unsent, because too many waited."
    )


class CreatedWebhook(Webhook):
    """An answer that shows the secret, with which deliveries are signed: here alone."""

    secret: str


class WebhookPage(Page[Webhook]):
    """A page of webhooks, newest first."""


class SecretRotation(StrictModel):
    """The body of ``POST /v1/webhooks/{webhook_id}/rotate``."""

    overlap: Annotated[int, Field(strict=True, ge=0, le=604_800)] = Field(
        86_400,
        description="For so many seconds deliveries are signed with the secret before as well.",
    )


DeliveryState = Literal["waiting", "delivered", "failed"]


class Delivery(BaseModel):
    """What was or will be posted to a webhook, and how that went."""

    id: UUID = Field(description="Every try has it as its webhook-id.")
    event: str
    state: DeliveryState = Field(
        description="waiting: it is tried, again and again for three days.  failed: given up."
    )
    attempts: int
    status: int | None = Field(description="What the receiver answered last.")
    error: str | None = Field(description="Why the last try failed, for a person.")
    created_at: Time
    last_attempt_at: Time | None
    next_attempt_at: Time | None


class DeliveryPage(Page[Delivery]):
    """A page of deliveries, newest first, and how many were given up unsent."""

    dropped: int


class NewExpectedOffline(StrictModel):
    """The body of ``PUT /v1/machines/{machine_id}/expected-offline``."""

    until: Time = Field(description="At most 30 days from now.")
    reason: PauseReason | None = None


class ExpectedOffline(BaseModel):
    """That nobody has to be told where a machine is away."""

    machine_id: str
    until: Time
    reason: str | None
    by: str = Field(description="The name of the token that said so.")
