"""Finds the text that stood at a place of a recorded picture in another one, in whatever font.

A text is the one that is meant where all of its line reads as it did.  A reader takes some signs
for others: so whatever it may have taken for that text counts as a further place.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from schemas.values.pictures import Size
from server.vision.findings import MOST_PLACES, Part, PlaceFound, Question
from server.vision.looking import pixels
from server.vision.looking.pixels import Box, Pixels
from server.vision.looking.recorded import LARGEST_PART, box_in
from server.vision.looking.texts import Line, read

SURE: Final = 0.9
"""How sure the reader has to be of each text in the line: of 112 lines that were drawn 0.9 to 1.5
times as large, light or dark, 107 were found so, and of 112 with another character none was."""

BESIDE: Final = 24.0
OVER: Final = 10.0
"""Pixels between a text and a place that is still its own, such as one on its button."""

LEAST_SCALE: Final = 0.5
MOST_SCALE: Final = 2.5

SAME_LINE: Final = 0.5
"""Of the lower one's height, that two texts of one line share."""

ASTRAY: Final = 0.35
"""How much closer or further than by the texts' own scale another text may stand."""

ASTRAY_PIXELS: Final = 12.0

_TAKEN_FOR: Final = str.maketrans("oqdliíì|!1¡szbg", "000111111115286")
"""Letters, after which those that readers take for one another are the same."""


def places(question: Question, part: Part, content: bytes) -> tuple[PlaceFound, ...]:
    """Where the text may be, those whose line reads the same first."""
    screen, kept, _ = part.taken_apart(content)
    recorded = pixels.decoded(kept)
    shown = Question(region=part.picture, size=Size(recorded.shape[1], recorded.shape[0]))
    line, around = (box_in(each, shown) for each in (part.line, part.around))
    at = part.text_at
    assert at is not None  # noqa: S101  else it is sought by its picture
    place = pixels.in_picture(at, shown)
    lines = _read_part(recorded, _both(line, around))
    if (target := _text_at(lines, place)) is None:
        return ()
    row = [each for each in _row_of(target, lines) if _share(each.box, line)]
    others = [
        each for each in lines if each not in row and each != target and _share(each.box, around)
    ]
    now = read(pixels.decoded(screen))
    found = [
        PlaceFound(
            at=pixels.on_desktop(each.box, question),
            scale=round(_scale(target, each), 3),
            similarity=round(each.score, 3),
            line=_line_again(target, row, each, now),
            around=_around_again(target, [*row, *others], each, now),
            was=pixels.on_desktop(target.box, shown),
        )
        for each in _alike(target, now)
    ]
    return tuple(sorted(found, key=lambda each: (-each.line, -each.around)))[:MOST_PLACES]


def _read_part(picture: Pixels, part: Box) -> list[Line]:
    """The lines of a part of a picture, where they are in all of it."""
    if part.width * part.height > LARGEST_PART:
        raise ValueError("the part is too large")
    left, top = int(part.x), int(part.y)
    cut = picture[top : top + int(part.height), left : left + int(part.width)]
    return [
        Line(each.text, each.score, each.box._replace(x=each.box.x + left, y=each.box.y + top))
        for each in read(cut)
    ]


def _text_at(lines: Sequence[Line], place: tuple[float, float]) -> Line | None:
    """The text at a place, or right beside it; None where none was surely read there."""
    near = [
        each
        for each in lines
        if -BESIDE <= place[0] - each.box.x <= each.box.width + BESIDE
        and -OVER <= place[1] - each.box.y <= each.box.height + OVER
    ]
    if not near:
        return None
    closest = min(near, key=lambda each: _distance(each.box, place))
    return closest if closest.score >= SURE and letters(closest.text) else None


def _alike(target: Line, lines: Sequence[Line]) -> Iterator[Line]:
    """All that reads as the text, or would if signs were taken for those that look like them."""
    sought = _unsure(target.text)
    for each in lines:
        if _unsure(each.text) == sought and LEAST_SCALE <= _scale(target, each) <= MOST_SCALE:
            yield each


def _line_again(target: Line, row: Sequence[Line], found: Line, now: Sequence[Line]) -> float:
    """1 where all of a text's line reads as it did, and is sure; else less."""
    scale = _scale(target, found)
    sides = []
    for is_left in (True, False):
        was = _beside(target, row, is_left=is_left)
        reach = max((_gap(target, each) for each in was), default=0.0)
        # Where nothing stood there, nothing may stand closer than what could be seen of the line.
        limit = (reach or 2 * BESIDE) * scale * (1 + ASTRAY) + ASTRAY_PIXELS
        there = [
            each
            for each in _beside(found, _row_of(found, now), is_left=is_left)
            if _gap(found, each) <= limit
        ]
        sides.append(_side_again(was, there, is_left=is_left))
    texts_again = letters(target.text) == letters(found.text) and found.score >= SURE
    return (sides[0] + sides[1] + texts_again) / 3


def _side_again(was: Sequence[Line], there: Sequence[Line], *, is_left: bool) -> bool:
    """Whether one side of a line reads as it did, however its texts were put together."""
    sought, found = ("".join(letters(each.text) for each in some) for some in (was, there))
    if not sought or any(each.score < SURE for each in (*was, *there)):
        return not sought and not found
    return found.endswith(sought) if is_left else found.startswith(sought)


def _around_again(target: Line, others: Sequence[Line], found: Line, now: Sequence[Line]) -> float:
    """Which part of the texts around one stands around another, each about where it stood."""
    if not others:
        return 0.0  # What the text is alone could be anywhere.
    scale = _scale(target, found)
    again = sum(_is_there(each, target, found, scale, now) for each in others)
    return round(again / len(others), 4)


def _is_there(other: Line, target: Line, found: Line, scale: float, now: Sequence[Line]) -> bool:
    away = _away(target, other)
    for each in now:
        if letters(each.text) != letters(other.text):
            continue
        if all(
            abs(one - before * scale) <= abs(before * scale) * ASTRAY + ASTRAY_PIXELS * scale
            for one, before in zip(_away(found, each), away, strict=True)
        ):
            return True
    return False


def _row_of(target: Line, lines: Sequence[Line]) -> list[Line]:
    """The other texts of the same line, from left to right."""
    row = [each for each in lines if each != target and _is_same_line(each.box, target.box)]
    return sorted(row, key=lambda each: each.box.x)


def _beside(target: Line, row: Sequence[Line], *, is_left: bool) -> list[Line]:
    middle = target.box.middle[0]
    return [each for each in row if (each.box.middle[0] < middle) == is_left]


def _gap(target: Line, other: Line) -> float:
    """Pixels between two texts of one line, to the nearer end of the other one."""
    one, two = target.box, other.box
    return max(two.x - (one.x + one.width), one.x - (two.x + two.width), 0.0)


def _away(one: Line, other: Line) -> tuple[float, float]:
    """From the middle of one text to that of another one's left end."""
    return other.box.x - one.box.x, other.box.middle[1] - one.box.middle[1]


def _scale(was: Line, now: Line) -> float:
    return now.box.width / max(was.box.width, 1.0)


def _is_same_line(one: Box, other: Box) -> bool:
    shared = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return shared > SAME_LINE * min(one.height, other.height)


def _share(one: Box, other: Box) -> bool:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return across > 0 and down > 0


def _both(one: Box, other: Box) -> Box:
    left, top = min(one.x, other.x), min(one.y, other.y)
    right = max(one.x + one.width, other.x + other.width)
    bottom = max(one.y + one.height, other.y + other.height)
    return Box(left, top, right - left, bottom - top)


def _distance(box: Box, place: tuple[float, float]) -> float:
    across = max(box.x - place[0], place[0] - box.x - box.width, 0)
    down = max(box.y - place[1], place[1] - box.y - box.height, 0)
    return float(across + down)


def letters(text: str) -> str:
    """A text without its spaces: whether a gap is one is the reader's guess."""
    return "".join(text.split())


def _unsure(text: str) -> str:
    return letters(text).casefold().translate(_TAKEN_FOR)
