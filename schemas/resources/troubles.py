"""What was wrong with a machine lately: when, why and for how long."""

from typing import Literal

from pydantic import BaseModel, Field

from schemas.http.queries import Page
from schemas.values.times import Time

TroubleKind = Literal["offline", "no_input", "no_screen"]


class Trouble(BaseModel):
    """A time in which a machine could not be worked on, or not be seen."""

    kind: TroubleKind = Field(
        description="offline: it had no connection. no_input: its desktop took none. no_screen: "
        "its screen should have been seen, and could not."
    )
    reason: str = Field(description="Why, for a person.")
    since: Time
    until: Time | None = Field(description="null where it is not over.")
    seconds: float = Field(description="For how long, or until now.")


class TroublePage(Page[Trouble]):
    """A page of a machine's troubles, the latest first."""

    total: int = Field(description="Of the last 30 days, at most 101.")
