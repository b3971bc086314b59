"""Reads the texts of a picture, line by line, and finds one among them.

A reader takes O for 0 and l for 1.  So a text is found only where it was read as it is written, and
what is found is a reason to go on, never a proof of what stands there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any, Final

from rapidocr import RapidOCR

from schemas.values.pictures import MAX_PICTURE_SIDE
from server.vision.looking.pixels import Box, Pixels
from server.vision.looking.tiles import TiledDetector

SURE: Final = 0.8
"""Below that a line is told, and nothing is found in it."""

_PARAMETERS: Final[dict[str, Any]] = {
    "Global.log_level": "critical",
    # Screens are upright.
    "Global.use_cls": False,
    # Large screens are looked at tile by tile, and not made smaller.
    "Global.max_side_len": 4 * MAX_PICTURE_SIDE,
    # A region may be one line, which is sought in it all the same.
    "Global.width_height_ratio": -1,
    # The shorter side: of small regions it would be 736, which takes ten times as long.
    "Det.limit_type": "min",
    "Det.limit_side_len": 200,
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read: its words in their order, each with its place."""

    text: str
    score: float
    box: Box
    words: tuple[tuple[str, Box], ...] = ()


def read(screen: Pixels) -> list[Line]:
    """The lines, from the top to the bottom, and from left to right."""
    found = _reader()(screen, return_word_box=True)
    if found.txts is None or found.boxes is None or found.scores is None:
        return []
    words = found.word_results
    if words is None or len(words) != len(found.txts):
        words = ((),) * len(found.txts)
    lines = [
        Line(text, float(score), _box(corners), tuple(_words(own)))
        for text, score, corners, own in zip(
            found.txts, found.scores, found.boxes, words, strict=True
        )
    ]
    return sorted(lines, key=lambda line: (line.box.y, line.box.x))


def place_of(text: str, lines: Sequence[Line]) -> Box | None:
    """Where a text stands, in whole words of one line that was surely read, or None."""
    return next((box for line in lines if (box := _place_in(line, text)) is not None), None)


def nearest(texts: Iterable[str], lines: Sequence[Line]) -> list[str]:
    """The texts of the lines, those that are most like one of the sought ones first."""
    sought = [_letters(text) for text in texts]

    def likeness(line: Line) -> float:
        return max(SequenceMatcher(None, each, _letters(line.text)).ratio() for each in sought)

    return [line.text for line in sorted(lines, key=likeness, reverse=True)]


def _place_in(line: Line, text: str) -> Box | None:
    if line.score < SURE:
        return None
    # Whether a gap is a space is the reader's guess: none of them counts.
    letters, sought = _letters(line.text), _letters(text)
    begins_word = _word_beginnings(line.text)
    start = letters.find(sought)
    while start >= 0:
        end = start + len(sought)
        is_whole = _ends(letters, start, begins_word) and _ends(letters, end, begins_word)
        if is_whole:
            return _around(line, start, end)
        start = letters.find(sought, start + 1)
    return None


def _ends(letters: str, place: int, begins_word: set[int]) -> bool:
    """Whether a word may end before this place: at a space, an end, or what is in no word."""
    if place in (0, len(letters)) or place in begins_word:
        return True
    return not (letters[place - 1].isalnum() and letters[place].isalnum())


def _word_beginnings(text: str) -> set[int]:
    """Where words begin in the letters of a text."""
    beginnings, before = set(), 0
    for word in text.split():
        beginnings.add(before)
        before += len(word)
    return beginnings


def _around(line: Line, start: int, end: int) -> Box:
    """The words that these letters are of; the whole line where they are not known."""
    boxes, before = [], 0
    for word, box in line.words:
        after = before + len(_letters(word))
        if before < end and after > start:
            boxes.append(box)
        before = after
    if not boxes or before != len(_letters(line.text)):
        return line.box
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right = max(box.x + box.width for box in boxes)
    bottom = max(box.y + box.height for box in boxes)
    return Box(left, top, right - left, bottom - top)


def _letters(text: str) -> str:
    return "".join(text.split())


def _words(found: Iterable[Any]) -> list[tuple[str, Box]]:
    return [(word, _box(corners)) for word, _, corners in found if corners is not None]


def _box(corners: Any) -> Box:
    across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return Box(min(across), min(down), max(across) - min(across), max(down) - min(down))


@cache
def _reader() -> Any:
    """Made once: its models take a second to load."""
    reader: Any = RapidOCR(params=_PARAMETERS)
    # Loading it is no part of its interface, nor is who detects: its version has a bound.
    reader.text_det = TiledDetector(reader._load_det_model())  # noqa: SLF001
    return reader
