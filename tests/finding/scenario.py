"""What a form shows, and the twelve changes of it after which workflows are run again."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Final

SCREEN: Final = (1280, 800)
LARGEST: Final = (1600, 1000)
OTHER_SCREENS: Final = (LARGEST, (1024, 768))

SLOWEST_START: Final = 8.0
"""Seconds, from the run's beginning until the form is there."""


@dataclass(frozen=True)
class Scenario:
    """How a form is started; it gets all of this but the ``screen``."""

    orders: tuple[str, ...]
    items: tuple[str, ...]
    title: str = "Orders of May"
    at: tuple[int, int] = (60, 40)
    theme: str = "light"
    font: int = 10
    scale: float = 1.0
    filled: dict[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    delay: float = 0.0
    covered: bool = False
    beside: bool = False
    loses_focus: bool = False
    screen: tuple[int, int] = SCREEN

    def argument(self, record: Path) -> str:
        """What the form is started with."""
        return json.dumps({**asdict(self), "record": str(record)})


@dataclass(frozen=True)
class Subject:
    """What of a form a workflow is about, so that it can go, be there twice, or be filled already.

    ``part`` is what goes with a field that is missing, ``is_row`` whether the workflow belongs to
    the middle order, ``is_item`` whether to one of the list's items; ``filled`` is what is there
    already, ``types`` whether it types, so that it needs the focus.
    """

    part: str
    is_row: bool = False
    is_item: bool = False
    filled: dict[str, Any] = field(default_factory=dict)
    types: bool = False


Changed = Callable[[Scenario, Subject, Random], Scenario]


@dataclass(frozen=True)
class Change:
    """What becomes of a form, and of which workflows all is there after it that they need."""

    name: str
    of: Changed
    leaves_all: Callable[[Subject], bool] = lambda _: True


def usual(chance: Random) -> Scenario:
    """A form as it was when it was recorded: other orders and items with each seed."""
    order, item = chance.randrange(2000, 8000), chance.randrange(1, 9) * 100
    return Scenario(
        tuple(str(order + each) for each in range(3)),
        tuple(f"Item {item + each}" for each in range(1, 41)),
    )


def _moved(scenario: Scenario, _: Subject, chance: Random) -> Scenario:
    return replace(scenario, at=(chance.randrange(80, 380), chance.randrange(60, 200)))


def _other_screen(scenario: Scenario, _: Subject, chance: Random) -> Scenario:
    return replace(scenario, screen=chance.choice(OTHER_SCREENS))


def _dark(scenario: Scenario, _: Subject, __: Random) -> Scenario:
    return replace(scenario, theme="dark")


def _larger_font(scenario: Scenario, _: Subject, chance: Random) -> Scenario:
    return replace(scenario, font=chance.choice((12, 13, 14)))


def _scaled(scenario: Scenario, _: Subject, __: Random) -> Scenario:
    return replace(scenario, scale=1.25)


def _slow(scenario: Scenario, _: Subject, chance: Random) -> Scenario:
    return replace(scenario, delay=round(chance.uniform(0.5, SLOWEST_START), 1))


def _covered(scenario: Scenario, _: Subject, __: Random) -> Scenario:
    return replace(scenario, covered=True)


def _missing(scenario: Scenario, subject: Subject, __: Random) -> Scenario:
    return replace(scenario, without=(subject.part,))


def _look_alike(scenario: Scenario, subject: Subject, _: Random) -> Scenario:
    before = str(int(scenario.orders[0]) - 1)
    # The same but for one character, as an order that was placed long ago.
    item = scenario.items[2].replace("Item ", "Item 1")
    items = (item, *scenario.items) if subject.is_item else scenario.items
    return replace(scenario, orders=(before, *scenario.orders), items=items)


def _row_gone(scenario: Scenario, subject: Subject, _: Random) -> Scenario:
    orders = (scenario.orders[0], scenario.orders[2])
    gone = {scenario.items[2], scenario.items[24]} if subject.is_item else set()
    items = tuple(each for each in scenario.items if each not in gone)
    return replace(scenario, orders=orders, items=items)


def _filled(scenario: Scenario, subject: Subject, _: Random) -> Scenario:
    filled = {
        name.format(order=scenario.orders[1]): value for name, value in subject.filled.items()
    }
    return replace(scenario, filled=filled)


def _lost_focus(scenario: Scenario, subject: Subject, _: Random) -> Scenario:
    return replace(scenario, loses_focus=subject.types, beside=not subject.types)


CHANGES: Final = (
    Change("moved window", _moved),
    Change("other screen", _other_screen),
    Change("dark theme", _dark),
    Change("larger font", _larger_font),
    Change("125 %", _scaled),
    Change("slow start", _slow),
    Change("dialog over it", _covered, lambda _: False),
    Change("missing field", _missing, lambda _: False),
    Change("look-alike above", _look_alike),
    Change("row gone", _row_gone, lambda subject: not (subject.is_row or subject.is_item)),
    Change("filled already", _filled, lambda subject: not subject.filled),
    Change("lost focus", _lost_focus, lambda subject: not subject.types),
)
