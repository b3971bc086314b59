"""Pictures that the steps of trajectories refer to, by their content."""

import re
from typing import Final, Literal

from pydantic import BaseModel, Field

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
