"""Pictures of the screen, as they are wanted."""

from pydantic import BaseModel

from schemas.values.strict import StrictModel


class PictureRegion(BaseModel):
    """stub"""

    x: int
    y: int
    width: int
    height: int


class PictureWanted(StrictModel):
    """stub"""

    format: str = "png"
