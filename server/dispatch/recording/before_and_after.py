"""What a machine showed around an input: before and after it, and under its place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from schemas.inputs.actions import Actions
from schemas.inputs.bodies import (
    ClickMouse,
    FocusElement,
    InputBody,
    InvokeElement,
    MoveMouse,
    PressKeys,
    ScrollMouse,
    WriteClipboard,
)
from schemas.inputs.key_combinations import Chord, parse_combination
from schemas.inputs.selectors import Selector
from schemas.link.element_messages import SeenElement
from schemas.steps.surroundings import Around as StoodAround
from schemas.values.pictures import Region

Elements = Mapping[str, SeenElement]
"""Elements by their refs."""

_GOING_ON: Final = frozenset(
    {"tab", "enter", "escape", "up", "down", "left", "right", "home", "end"}
)
"""Keys that lead to another field, or to another place in one, and change no text."""

_SHIFTING: Final = frozenset({"shift", "shift_r", "altgr"})


@dataclass(slots=True)
class BeforeAndAfter:
    """The elements before an input and after it; None where these are not known, or not yet.

    ``before`` may be from before other inputs, none of which changes a text; it is fresh where
    there were none at all.  So it is with ``after``.  ``number`` counts the inputs that may change
    texts, of which this is one.
    """

    before: Elements | None
    is_before_fresh: bool
    number: int
    after: Elements | None = None
    is_after_fresh: bool = False
    is_over: bool = False
    """Whether it will not be looked again."""


@dataclass(slots=True)
class Beneath:
    """What is under the place of an input, or has the focus when keys come.

    What is None is not known, or not in time.

    ``seen`` are the elements that there were before the input, by their refs, and ``left`` those
    that there were after it; None where they are not known, or other inputs came between.  Keys
    have no place: they go to what has the focus.
    """

    place: tuple[int, int] | None
    seen: Elements
    selector: Selector | None = None
    box: Region | None = None
    around: StoodAround | None = None
    ref: str | None = None
    left: Elements | None = None


def changes_texts(body: InputBody) -> int:
    """How many texts an input may change: those that are typed, pasted, dropped or removed."""
    match body:
        case Actions():
            inputs = (each for each in body.actions if isinstance(each, InputBody))
            return sum(changes_texts(each) for each in inputs)
        case MoveMouse() | ScrollMouse() | InvokeElement() | FocusElement() | WriteClipboard():
            return 0
        case ClickMouse():
            # The middle button pastes.
            return int(body.button == "middle")
        case PressKeys():
            return 0 if _only_goes_on(body) else 1
        case _:
            return 1


def is_quiet(body: InputBody) -> bool:
    """Whether an input changes nothing: a hand's moves come too often to count, as keys come up."""
    if isinstance(body, PressKeys):
        chords = parse_combination(body.text)
        return (body.down is False and not _has_command(chords)) or all(map(_only_shifts, chords))
    return isinstance(body, MoveMouse)


def _only_goes_on(body: PressKeys) -> bool:
    chords = parse_combination(body.text)
    return body.down is False or all(
        _only_shifts(each)
        or (
            each.key is not None
            and each.key.name in _GOING_ON
            and all(modifier.name in _SHIFTING for modifier in each.modifiers)
        )
        for each in chords
    )


def _only_shifts(chord: Chord) -> bool:
    return chord.key is None and all(each.name in _SHIFTING for each in chord.modifiers)


def _has_command(chords: Iterable[Chord]) -> bool:
    """Whether a modifier is among them that does something when it comes up, as Alt does."""
    return any(each.name not in _SHIFTING for chord in chords for each in chord.modifiers)
