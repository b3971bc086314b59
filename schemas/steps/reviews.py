"""Reviews: whether a trajectory may be run is decided by somebody else than who made it."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from schemas.values.scalars import Fitting, Storable
from schemas.values.strict import StrictModel
from schemas.values.times import Time

ReviewState = Literal["open", "approved", "rejected", "withdrawn"]
ListedReviewState = Literal["pending", "open", "approved", "rejected", "withdrawn"]
"""What lists can be narrowed to; pending is what is still to be generated."""

Decision = Literal["approve", "reject", "withdraw"]

ContentHash = Annotated[str, Fitting("[0-9a-f]{64}", "must be 64 digits 0 to 9 and a to f")]

MAX_COMMENT_CHARACTERS = 2000


class Editor(BaseModel):
    """Who makes, changes or reviews a trajectory."""

    model_config = ConfigDict(frozen=True)

    token_id: UUID
    token_name: str
    user_id: UUID | None

    @property
    def author(self) -> str:
        """What somebody is known by as an author: the user, else the token."""
        return f"token:{self.token_id}" if self.user_id is None else f"user:{self.user_id}"


def authors_with(own_id: UUID) -> list[str]:
    """What the author with this id can be known by: it is that of a user, or of a token."""
    return [f"user:{own_id}", f"token:{own_id}"]


class Review(BaseModel):
    """What was decided about a trajectory's content, and by whom."""

    state: ReviewState = Field(
        description="approved: exactly this content may be run.  withdrawn: it was approved, and "
        "then it was changed or the approval taken back.  A rejection stays until the next "
        "decision; content_hash says what was rejected."
    )
    by: Editor | None = Field(
        None,
        description="Who decided, or withdrew the approval by what they changed; null while it is "
        "open.",
    )
    at: Time | None = None
    comment: str | None = None
    content_hash: ContentHash | None = Field(
        None, description="Of the content that was decided about."
    )


class NewReview(StrictModel):
    """The body of ``POST /v1/trajectories/{trajectory_id}/review``."""

    decision: Decision
    content_hash: ContentHash = Field(
        description="The content_hash of the trajectory as it was looked at: 409 where it has "
        "another content by now."
    )
    comment: (
        Annotated[str, Field(min_length=1, max_length=MAX_COMMENT_CHARACTERS), Storable] | None
    ) = Field(None, description="Why; for others to read.")
