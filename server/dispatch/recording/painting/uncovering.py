"""Takes the pointer off a picture, with what an earlier one shows of the place below it.

What a program draws otherwise because the pointer is there, such as the button below it, goes as
well.  Nothing else of the earlier picture is taken: it may show what is not there any more.
"""

from collections.abc import Sequence
from typing import Final

from PIL import Image, ImageChops

from schemas.link.picture_frames import Picture
from server.dispatch.recording.painting.blackening import pixels_of, with_pixels

MOST_LOOKED: Final = 6
"""Earlier pictures, each of which takes some milliseconds."""

CELL: Final = 8
"""Pixels of a side."""

BESIDE: Final = 3
"""Cells by which two changes of one line are apart that are one, as both sides of a button are."""

ACROSS: Final = 160
DOWN: Final = 32
"""Pixels to each side of a place: so much is compared, and above and below."""

LINE: Final = 16
"""Pixels above and below a place within which nothing else has changed: else it is another line."""

TALLEST: Final = 48
"""What the pointer changes is at most so high: itself, or a line that is drawn otherwise."""

REACH: Final = 24
"""Pixels from a place within which the pointer begins that is there."""

DISTINCT: Final = 24
"""Grey levels, of 255, by which pixels differ that show something else."""

_Cell = tuple[int, int]
_Box = tuple[int, int, int, int]


def uncovered(picture: Picture, earlier: Sequence[Picture], place: tuple[int, int]) -> Picture:
    """A picture without the pointer at a place; as it is where none of the earlier ones fits."""
    at = place[0] - picture.region.x, place[1] - picture.region.y
    is_smaller = tuple(picture.size) != (picture.region.width, picture.region.height)
    if is_smaller or (shown := pixels_of(picture)) is None:
        return picture
    for each in earlier[:MOST_LOOKED]:
        if (each.size, each.region) != (picture.size, picture.region):
            continue
        before = pixels_of(each)
        if before is not None and (box := _changed(shown, before, at)) is not None:
            shown.paste(before.crop(box), box[:2])
            return with_pixels(picture, shown)
    return picture


def _changed(shown: Image.Image, before: Image.Image, at: tuple[int, int]) -> _Box | None:
    """What the pointer has changed around a place; None where that cannot be told."""
    left, top = max(0, at[0] - ACROSS), max(0, at[1] - DOWN)
    box = left, top, min(shown.width, at[0] + ACROSS), min(shown.height, at[1] + DOWN)
    differs = ImageChops.difference(shown.crop(box), before.crop(box)).convert("L")
    changed = _cells(differs.point(lambda level: 255 if level >= DISTINCT else 0))
    place = at[0] - left, at[1] - top
    pointer = _grown({each for each in changed if _is_near(each, place)}, changed)
    others = changed - pointer
    if not pointer or any(abs(y * CELL + CELL // 2 - place[1]) <= LINE for _, y in others):
        return None
    columns, rows = [x for x, _ in pointer], [y for _, y in pointer]
    found = min(columns), min(rows), max(columns) + 1, max(rows) + 1
    if (found[3] - found[1]) * CELL > TALLEST:
        return None
    return (
        left + found[0] * CELL,
        top + found[1] * CELL,
        min(left + found[2] * CELL, box[2]),
        min(top + found[3] * CELL, box[3]),
    )


def _cells(changed: Image.Image) -> set[_Cell]:
    """The cells in which anything is white."""
    cells = changed.reduce(CELL)
    pixels = cells.load()
    assert pixels is not None  # noqa: S101  it has just been made
    return {(x, y) for x in range(cells.width) for y in range(cells.height) if pixels[x, y]}


def _is_near(cell: _Cell, place: tuple[int, int]) -> bool:
    middle = cell[0] * CELL + CELL // 2, cell[1] * CELL + CELL // 2
    return max(abs(middle[0] - place[0]), abs(middle[1] - place[1])) <= REACH


def _grown(some: set[_Cell], cells: set[_Cell]) -> set[_Cell]:
    """Some cells, and all that are beside them, and beside those, and so on."""
    found, new = set(some), set(some)
    while new:
        beside = {(x + across, y + down) for x, y in new for across, down in _STEPS}
        new = (beside & cells) - found
        found |= new
    return found


_STEPS: Final = [(across, down) for across in range(-BESIDE, BESIDE + 1) for down in (-1, 0, 1)]
