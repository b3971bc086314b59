"""Pictures that the steps of trajectories refer to, by their content."""

import re
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http.queries import IntegerText, Page, PageQuery
from schemas.values.pictures import PictureId
from schemas.values.times import Time

PictureMediaType = Literal["image/png", "image/jpeg"]

_IDS: Final = re.compile("[0-9a-f]{64}")

_BEGINNINGS: dict[PictureMediaType, bytes] = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
}


def is_picture_id(text: str) -> bool:
    """Whether a text can be the id of a picture, which no picture in Base64 is."""
    return _IDS.fullmatch(text) is not None


def media_type_of(content: bytes) -> PictureMediaType | None:
    """What a picture's first bytes say it is; None is no picture."""
    for media_type, beginning in _BEGINNINGS.items():
        if content.startswith(beginning):
            return media_type
    return None


class StoredPicture(BaseModel):
    """A picture, without its bytes."""

    id: PictureId = Field(description="The SHA-256 of its bytes; a step's picture names it.")
    media_type: PictureMediaType
    size: int = Field(ge=1, description="In bytes.")
    created_at: Time = Field(description="When it was sent first.")


class PictureOutlookQuery(PageQuery):
    """The query of ``GET /v1/pictures``."""

    within: Annotated[int, Field(ge=0, le=100 * 365 * 86_400), IntegerText] = Field(
        7 * 86_400, description="Only pictures that go within so many seconds."
    )


class GoingTrajectory(BaseModel):
    """A trajectory whose pictures go."""

    id: UUID
    name: str | None
    machine_id: str | None = Field(description="The machine that it was recorded on.")
    pictures_until: Time = Field(
        description="When they go, unless it is changed or approved by then."
    )


class PictureOutlook(Page[GoingTrajectory]):
    """What is kept of an organization's pictures, and the trajectories whose go, the next first."""

    lifetime: float | None = Field(
        description="Seconds that pictures are kept after a trajectory was changed last; null is "
        "for ever."
    )
    most_bytes: int | None = Field(
        description="Bytes beyond which those of what was not changed for the longest go; null is "
        "no bound."
    )
    bytes: int = Field(ge=0, description="What they take now.")
