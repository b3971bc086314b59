"""Inputs of every operation whose events say which command they belong to.

A number below `CONTENTS` is the content of one input: a place of its own for the mouse, a sequence
of its own for keys.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults.arrivals import (
    FIELD,
    HELD_KEYS,
    MODIFIERS,
    POINTER,
    TYPED_KEYS,
    Kind,
    Place,
    Step,
)

WIDTH, HEIGHT = 1280, 800
"""The size of every desk in pixels."""

# An event outside the screen is seen at its edge: no command's place is there.
_COLUMNS = WIDTH - 1
CONTENTS = _COLUMNS * HEIGHT
# Prime to the number of places and to that of the keys: one after another they are far apart, and
# none comes twice.
_STRIDE = 390_001

_CHORDS = 3
_CHARACTERS = 4
_HELD_AT_ONCE = 3
_WHEEL_STEPS = (1, 1, 2, 3)

COPY = "clipboard/write"
FILL = "element/set_value"
BATCH = "actions"
_PARTS_AT_MOST = 5
_PART = CONTENTS // (_PARTS_AT_MOST + 1)
"""How far the content of an action is from that of the one before: no run has so many commands."""

_TEXT_TIMES = (1,) * 12 + (500, 4000, 10_000)
"""What is said so often is a word, or comes in pieces: from X, or over the link as well."""


@dataclass(frozen=True)
class Input:
    """A body, and the events that it must make, in this order; none where it must be refused.

    Between the two motions of a drag, ``is_drag``, come others on the straight line.  ``lets_go``
    is what it releases, of which events come only where it is down.  ``copied`` is the selection
    and the text that it copies, or puts into a field, without any event.  ``parts`` are the actions
    of a batch.
    """

    operation: str
    body: Mapping[str, Any]
    steps: tuple[Step, ...] = ()
    is_drag: bool = False
    lets_go: tuple[str, ...] = ()
    must_be_refused: bool = False
    copied: tuple[str, bytes] | None = None
    parts: tuple["Input", ...] = ()

    @property
    def is_seen(self) -> bool:
        """Whether a witness sees it, whatever was pressed before."""
        return bool(self.steps) or self.copied is not None

    @property
    def has_place(self) -> bool:
        """Whether a place of its own tells its events from others'."""
        return self.operation.startswith("mouse/")


Maker = Callable[[int], Input]
"""Makes an input with a given content."""


def place_of(content: int) -> Place:
    """The place that a content below `CONTENTS` stands for."""
    assert content < CONTENTS, "there are no more places"
    y, x = divmod(content * _STRIDE % CONTENTS, _COLUMNS)
    return Place(x, y)


def random_maker(
    rng: random.Random, *, copies: bool = True, has_field: bool = False
) -> tuple[Maker, Maker | None]:
    """An operation, and for one that keeps something pressed the one that releases it."""
    moved, filled = (4, 14) if has_field else (10, 0)
    kinds: list[tuple[int, Callable[[random.Random], tuple[Maker, Maker | None]]]] = [
        (26 if has_field else 34, _click),
        (8, _button_held),
        (12, _scroll),
        (12, _drag),
        (moved, _move),
        (10, _one_combination),
        (8, _one_text),
        (3, lambda _: (_keys_held, _keys_released)),
        (3, _outside),
        (8 if copies else 0, _copy),
        (14, _batch),
        (filled, _fill),
    ]
    kind = rng.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]
    return kind(rng)


def _button(rng: random.Random) -> str:
    return rng.choice(["left", "left", "right", "middle"])


def _motion(place: Place) -> Step:
    return Step(Kind.MOTION, POINTER, place)


def _strokes(what: str, place: Place | None = None, times: int = 1) -> tuple[Step, ...]:
    """Press and release, so often."""
    return (Step(Kind.PRESS, what, place), Step(Kind.RELEASE, what, place)) * times


def _click(rng: random.Random) -> tuple[Maker, None]:
    button, clicks = _button(rng), rng.choice([1, 1, 1, 2, 3])

    def make(content: int) -> Input:
        place = place_of(content)
        return Input(
            "mouse/click",
            place._asdict() | {"button": button, "clicks": clicks},
            (_motion(place), *_strokes(button, place, clicks)),
        )

    return make, None


def _button_held(rng: random.Random) -> tuple[Maker, Maker]:
    button = _button(rng)

    def hold(content: int) -> Input:
        place = place_of(content)
        return Input(
            "mouse/click",
            place._asdict() | {"button": button, "down": True},
            (_motion(place), Step(Kind.PRESS, button, place)),
        )

    def release(content: int) -> Input:
        place = place_of(content)
        return Input(
            "mouse/click",
            place._asdict() | {"button": button, "down": False},
            (_motion(place),),
            lets_go=(button,),
        )

    return hold, release


def _scroll(rng: random.Random) -> tuple[Maker, None]:
    direction, amount = rng.choice(["up", "down", "left", "right"]), rng.choice(_WHEEL_STEPS)

    def make(content: int) -> Input:
        place = place_of(content)
        return Input(
            "mouse/scroll",
            place._asdict() | {"direction": direction, "amount": amount},
            (_motion(place), *_strokes(f"wheel {direction}", place, amount)),
        )

    return make, None


def _drag(rng: random.Random) -> tuple[Maker, None]:
    button, duration = _button(rng), rng.choice([None, 0.1, 0.5])
    end = place_of(rng.randrange(CONTENTS))

    def make(content: int) -> Input:
        start = place_of(content)
        return Input(
            "mouse/drag",
            {
                "start_x": start.x,
                "start_y": start.y,
                "to_x": end.x,
                "to_y": end.y,
                "duration": duration,
                "button": button,
            },
            (
                _motion(start),
                Step(Kind.PRESS, button, start),
                _motion(end),
                Step(Kind.RELEASE, button, end),
            ),
            is_drag=True,
        )

    return make, None


def _move(_chance: random.Random) -> tuple[Maker, None]:
    def make(content: int) -> Input:
        place = place_of(content)
        return Input("mouse/move", place._asdict(), (_motion(place),))

    return make, None


def _combination(content: int) -> Input:
    """Some chords with the same modifiers."""
    mask = 1 + content % (2 ** len(MODIFIERS) - 1)
    modifiers = [name for bit, name in enumerate(MODIFIERS) if mask >> bit & 1]
    chords = [(*modifiers, key) for key in _digits(content, TYPED_KEYS, _CHORDS)]
    return Input(
        "keyboard/key",
        {"text": " ".join("+".join(chord) for chord in chords)},
        tuple(step for chord in chords for step in _chord(chord)),
    )


def _text(content: int) -> Input:
    """Some letters and digits; which letters are capitals is of the content too."""
    keys = _digits(content, TYPED_KEYS, _CHARACTERS)
    capitals = [key.isalpha() and content >> index & 1 for index, key in enumerate(keys)]
    characters = list(zip(keys, capitals, strict=True))
    return Input(
        "keyboard/type",
        {"text": "".join(key.upper() if capital else key for key, capital in characters)},
        tuple(
            step
            for key, capital in characters
            for step in _chord(("shift", key) if capital else (key,))
        ),
    )


def _keys_held(content: int) -> Input:
    keys = _different(content)
    return Input(
        "keyboard/key",
        {"text": " ".join(keys), "down": True},
        tuple(Step(Kind.PRESS, key) for key in keys),
    )


def _keys_released(content: int) -> Input:
    keys = _different(content)
    return Input("keyboard/key", {"text": " ".join(keys), "down": False}, lets_go=keys)


def _copy(rng: random.Random) -> tuple[Maker, None]:
    selection, times = rng.choice(["clipboard", "clipboard", "primary"]), rng.choice(_TEXT_TIMES)

    def make(content: int) -> Input:
        text = f"content {content} äöü €\n" * times
        return Input(
            COPY, {"text": text, "selection": selection}, copied=(selection, text.encode())
        )

    return make, None


def _fill(_chance: random.Random) -> tuple[Maker, None]:
    """Put a text into an element of a program, which has a record of its own."""

    def make(content: int) -> Input:
        text = f"content {content} äöü €"
        element = {"role": "text", "name": "Record"}
        return Input(FILL, {"element": element, "value": text}, copied=(FIELD, text.encode()))

    return make, None


def _batch(rng: random.Random) -> tuple[Maker, None]:
    """Several actions, of which the first has a place, and no pause is the last."""
    placed = [_click, _scroll, _move]
    kinds = [*placed, _one_combination, _one_text]
    between = rng.choices([*kinds, _pause], k=rng.randrange(_PARTS_AT_MOST - 1))
    chosen = [rng.choice(placed), *between, rng.choice(kinds)]
    makers = [kind(rng)[0] for kind in chosen]

    def make(content: int) -> Input:
        contents = [(content + _PART * number) % CONTENTS for number in range(len(makers))]
        parts = tuple(each(own) for each, own in zip(makers, contents, strict=True))
        actions = [{"operation": each.operation.replace("/", "."), **each.body} for each in parts]
        steps = tuple(step for each in parts for step in each.steps)
        return Input(BATCH, {"actions": actions}, steps, parts=parts)

    return make, None


def _one_combination(_chance: random.Random) -> tuple[Maker, None]:
    return _combination, None


def _one_text(_chance: random.Random) -> tuple[Maker, None]:
    return _text, None


def _pause(rng: random.Random) -> tuple[Maker, None]:
    seconds = rng.choice([0.01, 0.1, 0.5])
    return lambda _: Input("wait", {"seconds": seconds}), None


def _outside(rng: random.Random) -> tuple[Maker, None]:
    beyond = WIDTH + rng.randrange(1000)

    def make(content: int) -> Input:
        body = {"x": beyond, "y": place_of(content).y}
        return Input("mouse/click", body, must_be_refused=True)

    return make, None


def _chord(keys: Iterable[str]) -> Iterator[Step]:
    """Every key down, then all up, the last one first."""
    keys = list(keys)
    yield from (Step(Kind.PRESS, key) for key in keys)
    yield from (Step(Kind.RELEASE, key) for key in reversed(keys))


def _digits(content: int, alphabet: str, count: int) -> list[str]:
    """So many characters that stand for a content, whose membership look unlike it."""
    number = content * _STRIDE % len(alphabet) ** count
    digits = []
    for _ in range(count):
        number, digit = divmod(number, len(alphabet))
        digits.append(alphabet[digit])
    return digits


def _different(content: int) -> tuple[str, ...]:
    """Some different keys of those that commands hold; the same again after 1320 contents."""
    keys, chosen = list(HELD_KEYS), []
    number = content * _STRIDE
    for _ in range(_HELD_AT_ONCE):
        number, index = divmod(number, len(keys))
        chosen.append(keys.pop(index))
    return tuple(chosen)
