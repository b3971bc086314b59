"""Sessions that are to be disturbed: their steps, and when who is killed."""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.batches import KEYCODES, Act, strokes

STEPS = (12, 30)
"""How many a session has."""

EVENTS_APART = (1, 25)
"""How many events come between two strikes."""

LATEST_SECONDS = 0.02
"""After the event that a strike waits for, at most."""

LONGEST_PAUSE = 0.03
_TWO_AT_ONCE = 0.3
_COLUMNS, _ROWS = 1200, 700
_BUTTONS = {"left": 1, "right": 3}


class Victim(StrEnum):
    """Who is killed; each member says it as the row of a table."""

    PROGRAM = "program killed"
    ITS_POWER = "program's power cut"
    ITS_FILE = "program killed, its file lost"
    LINKED_NODE = "node with the link killed"
    OTHER_NODE = "node without the link killed"
    CLIENT = "machine client killed"
    POWER = "machine client's power cut"


PROGRAMS = frozenset({Victim.PROGRAM, Victim.ITS_POWER, Victim.ITS_FILE})
EXCUSES = frozenset({Victim.LINKED_NODE, Victim.CLIENT, Victim.POWER})
"""Only after one of these may an input end otherwise than with "completed"."""


@dataclass(frozen=True)
class Strike:
    """Who is killed once so many more events have been seen, and so many seconds later."""

    victims: Sequence[Victim]
    events: int
    delay: float


def strikes(kills: int, rng: random.Random) -> Iterator[Strike]:
    """As many as make so many kills; each victim comes before any comes again."""
    victims = itertools.islice(_victims(rng), kills)
    while first := list(itertools.islice(victims, 1 + (rng.random() < _TWO_AT_ONCE))):
        yield Strike(first, rng.randint(*EVENTS_APART), rng.uniform(0, LATEST_SECONDS))


def _victims(rng: random.Random) -> Iterator[Victim]:
    while True:
        yield from rng.sample([*Victim], len(Victim))


class Places:
    """Places on the desktop that nothing else in a run has."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def next(self) -> tuple[int, int]:
        """Another one."""
        row, column = divmod(next(self._numbers), _COLUMNS)
        return column, row % _ROWS


def steps(places: Places, rng: random.Random) -> list[list[Act]]:
    """The steps of a session: each is one input, or several with pauses between."""
    return [
        _several(places, rng) if rng.random() < 0.5 else [_click(places.next(), rng)]
        for _ in range(rng.randint(*STEPS))
    ]


def _several(places: Places, rng: random.Random) -> list[Act]:
    """Clicks, and a key where the pointer was moved to before."""
    first, last = places.next(), places.next()
    key = rng.choice("asdfghjk")
    pause = {"operation": "wait", "seconds": rng.uniform(0.001, LONGEST_PAUSE)}
    return [
        _click(first, rng),
        Act({"operation": "keyboard.key", "text": key}, strokes((KEYCODES[key], *first))),
        Act(pause),
        _click(last, rng, clicks=rng.randint(1, 2)),
    ]


def _click(place: tuple[int, int], rng: random.Random, clicks: int = 1) -> Act:
    button = rng.choice([*_BUTTONS])
    x, y = place
    body = {"operation": "mouse.click", "x": x, "y": y, "button": button, "clicks": clicks}
    return Act(body, strokes((_BUTTONS[button], x, y)) * clicks)
