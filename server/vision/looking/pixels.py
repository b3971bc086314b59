"""Pictures as OpenCV has them, and places in them."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from schemas.inputs.sights import Place
from schemas.values.pictures import Region
from server.vision.findings import Question

Pixels = NDArray[np.uint8]

cv2.setNumThreads(1)


class Box(NamedTuple):
    """A rectangle of a picture, in its own pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2


def decoded(picture: bytes) -> Pixels:
    """The pixels: blue, green and red.  Raises ValueError."""
    pixels = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR_BGR)
    if pixels is None:
        raise ValueError("no picture")
    return pixels.astype(np.uint8, copy=False)


def on_desktop(box: Box, shown: Question) -> Region:
    """Where on the desktop something lies that a picture shows."""
    scale_x, scale_y = _scales(shown)
    return Region(
        shown.region.x + round(box.x * scale_x),
        shown.region.y + round(box.y * scale_y),
        max(1, round(box.width * scale_x)),
        max(1, round(box.height * scale_y)),
    )


def in_picture(place: Place, shown: Question) -> tuple[float, float]:
    """Where a picture shows a place of the desktop."""
    scale_x, scale_y = _scales(shown)
    return (place.x - shown.region.x) / scale_x, (place.y - shown.region.y) / scale_y


def _scales(shown: Question) -> tuple[float, float]:
    return shown.region.width / shown.size.width, shown.region.height / shown.size.height
