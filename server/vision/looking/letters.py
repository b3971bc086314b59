"""What is left of a picture's edges without the lines of which boxes are drawn.

A field that has the focus, a button under the pointer and a dark theme draw the same boxes in other
strengths, and a chosen line gets a box that it had not.  What says which one it is, its letters and
signs, is left, and is the same.  So is a tick: its box is too small for a line.
"""

from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from server.vision.looking.pixels import Box, Pixels

ACROSS: Final = 24
"""Pixels of a line across: letters have none that are so long."""

DOWN: Final = 12
"""Of one down, which is a box's side only where it ends at a line across, as letters do not."""

CORNER: Final = 7
"""Pixels between the ends of both where a corner is round."""

FAINTEST: Final = 6
"""Grey levels between both sides of a line."""

EVENNESS: Final = 2.5
"""How many times as strong as at its weakest place a line is at most; what letters make up in a row
is not even."""

BESIDE: Final = 5
"""Pixels in which the edges of a line are drawn."""

CARET: Final = 4
ALONE: Final = 20
"""How wide a caret's edges are at most, and how much beside it, to the right, is empty: it stands
in a field where nothing was typed."""

Mask = NDArray[np.uint8]


def without_lines(picture: Pixels, edges: NDArray[np.float32]) -> NDArray[np.float32]:
    """The edges of a picture but for those of long lines, and of carets in empty fields."""
    grey: Any = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    across = _lines(grey[:-1], grey[1:], (ACROSS, 1), grey.shape)
    down = _lines(grey[:, :-1], grey[:, 1:], (1, DOWN), grey.shape)
    inner = cv2.erode(across, np.ones((1, 3), np.uint8))
    corners = cv2.dilate(across - inner, np.ones((2 * CORNER + 1,) * 2, np.uint8))
    sides, others = _parted(down, corners.astype(np.uint8))
    left: NDArray[np.float32] = edges.copy()
    left[cv2.dilate(across | sides, np.ones((BESIDE, BESIDE), np.uint8)) > 0] = 0
    for x, y, width, height in others:
        _take_caret(left, across, (int(x), int(y), int(width), int(height)))
    return left


def _lines(one: Any, other: Any, run: tuple[int, int], shape: tuple[int, ...]) -> Mask:
    """Where one side of a pixel differs from the other for so long, always about as strongly."""
    found = np.zeros(shape, np.uint8)
    kernel = np.ones((run[1], run[0]), np.uint8)
    for lighter, darker in ((one, other), (other, one)):
        differs: Any = cv2.subtract(lighter, darker)
        weakest, strongest = cv2.erode(differs, kernel), cv2.dilate(differs, kernel)
        is_even = (weakest >= FAINTEST) & (strongest <= EVENNESS * weakest)
        whole = cv2.dilate(is_even.astype(np.uint8), kernel)
        part = found[shape[0] - whole.shape[0] :, shape[1] - whole.shape[1] :]
        np.maximum(part, whole, out=part)
    return found


def _parted(down: Mask, corners: Mask) -> tuple[Mask, list[Box]]:
    """The lines that end at corners, and where the others are."""
    number, names, sizes, _ = cv2.connectedComponentsWithStats(down)
    is_side = np.zeros(number, bool)
    is_side[np.unique(names[(corners > 0) & (down > 0)])] = True
    is_side[0] = False
    boxes = [Box(*map(int, sizes[each][:4])) for each in np.flatnonzero(~is_side)[1:]]
    return is_side[names].astype(np.uint8), boxes


def _take_caret(left: NDArray[np.float32], across: Mask, found: tuple[int, int, int, int]) -> None:
    """Take away a line that stands alone between two lines across."""
    x, y, width, height = found
    if width > CARET:
        return
    top, bottom = max(0, y - 2), y + height + 2
    before = max(0, x - BESIDE)
    beside = left[top:bottom, before - BESIDE if before > BESIDE else 0 : before]
    after = left[top:bottom, x + width + BESIDE - 1 : x + width + ALONE]
    above, below = across[max(0, y - height) : y, x], across[y + height : y + 2 * height, x]
    is_in_field = above.any() and below.any()
    if (
        is_in_field
        and not (beside.size and beside.max() >= 12)
        and not (after.max(initial=0) >= 12)
    ):
        left[top:bottom, before : x + width + BESIDE - 1] = 0
