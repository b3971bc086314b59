"""Which parts of a large screen are looked at, and that nothing in them is missed."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from server.vision.looking.pixels import Pixels
from server.vision.looking.texts import read
from server.vision.looking.tiles import LARGEST, SMALLEST, TiledDetector


@dataclass
class Asked:
    """In the place of the detector: it finds nothing, and knows what it was shown."""

    limit_side_len: int = 200
    shown: list[tuple[int, int]] = field(default_factory=list)
    limits: set[int] = field(default_factory=set)

    def __call__(self, picture: Pixels) -> SimpleNamespace:
        self.shown.append(picture.shape[:2])
        self.limits.add(self.limit_side_len)
        return SimpleNamespace(boxes=None, scores=None, img=None)


def blank(width: int, height: int) -> Pixels:
    return np.full((height, width, 3), 240, np.uint8)


def written(screen: Pixels, text: str, x: int, y: int, colour: int = 20) -> None:
    cv2.putText(screen, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (colour,) * 3, 1, cv2.LINE_AA)


def test_small_picture_is_looked_at_as_a_whole() -> None:
    asked = Asked()
    TiledDetector(asked)(blank(LARGEST, 100))
    assert (asked.shown, asked.limits) == ([(100, LARGEST)], {200})


def test_of_a_large_screen_only_what_there_is_to_see_is_looked_at() -> None:
    asked, screen = Asked(), blank(3840, 2160)
    detector = TiledDetector(asked)
    said = detector(screen)
    assert (said.boxes, said.scores, len(asked.shown)) == (None, None, 1)
    asked.shown.clear()
    for place in ((40, 60), (1900, 1000), (3600, 2150)):
        written(screen, "Order 47", *place)
    detector(screen)
    assert all(min(size) >= SMALLEST for size in asked.shown)
    assert sum(height * width for height, width in asked.shown) < 3840 * 2160 / 20
    assert asked.limits == {SMALLEST}
    detector(blank(300, 40))
    assert asked.limits == {SMALLEST, 200}


def test_screen_that_is_full_is_looked_at_as_a_whole() -> None:
    asked = Asked()
    noise = np.random.default_rng(1).integers(0, 255, (900, 2100, 3)).astype(np.uint8)
    TiledDetector(asked)(noise)
    assert sum(height * width for height, width in asked.shown) >= 900 * 2100


@pytest.mark.parametrize("colour", [20, 180])
def test_every_text_is_read_wherever_it_is_however_pale(colour: int) -> None:
    screen = blank(2100, 1000)
    places = [(1, 16), (680, 400), (1000, 420), (1850, 500), (900, 995), (1300, 700), (1300, 730)]
    for number, place in enumerate(places):
        written(screen, f"Invoice {number}", *place, colour=colour)
    found = sorted("".join(line.text.split()) for line in read(screen))
    assert found == [f"Invoice{number}" for number in range(len(places))]
