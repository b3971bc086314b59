"""Between the pixels of the picture that a model has and those of the desktop."""

from dataclasses import dataclass
from math import ceil

from farhand._models.steps import Region
from farhand.types import Picture, PictureContent, Point


@dataclass(frozen=True)
class View:
    """The picture of the whole desktop that a model has: its size, and what it shows.

    The machine itself puts the places of inputs on the desktop; this is for all else.
    """

    width: int
    height: int
    left: int
    top: int
    desktop_width: int
    desktop_height: int

    @classmethod
    def of(cls, picture: Picture | PictureContent) -> "View":
        """What a model knows once it has this picture."""
        shown = picture.region
        return cls(picture.width, picture.height, shown.x, shown.y, shown.width, shown.height)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        return self.width, self.height

    def part(self, region: Region) -> dict[str, int] | None:
        """The part of the desktop in a region of the picture; None where it is none of it."""
        left, top, right, bottom = region
        if not (0 <= left < right <= self.width and 0 <= top < bottom <= self.height):
            return None
        x, y = left * self.desktop_width // self.width, top * self.desktop_height // self.height
        return {
            "x": self.left + x,
            "y": self.top + y,
            "width": ceil(right * self.desktop_width / self.width) - x,
            "height": ceil(bottom * self.desktop_height / self.height) - y,
        }

    def pixel(self, point: Point) -> tuple[int, int]:
        """The picture's pixel in which the middle of a pixel of the desktop lies."""
        return (
            (2 * (point.x - self.left) + 1) * self.width // (2 * self.desktop_width),
            (2 * (point.y - self.top) + 1) * self.height // (2 * self.desktop_height),
        )
