"""How pictures of a screen are wanted."""

from dataclasses import dataclass

from schemas.link.picture_frames import PictureFormat


@dataclass(frozen=True, slots=True)
class ScreenshotOptions:
    """One picture, at most so large; None is the screen's own size.  ``quality`` is of JPEG."""

    format: PictureFormat
    width: int | None
    height: int | None
    quality: int


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """A live screen, at most so large; None is the screen's own size.

    ``rate`` is pictures a second, at most.
    """

    width: int | None
    height: int | None
    quality: int
    rate: float
