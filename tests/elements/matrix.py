"""Every element of a form taken where it is, and pressed by its selector, beside the form's record.

A selector is made as a server makes it, from what the machine tells of a place.  Then it is pressed
by it: undisturbed, and after the window moved, the theme and the size of its letters changed, and a
window with look-alikes came beside.  Only the form itself knows what was pressed.
"""

import re
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from machine_client.desktop.accessibility.elements import AtSpiElements
from machine_client.desktop.base import DesktopError, Refusal
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import ClickMouse
from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Selector, Sought
from server.dispatch.here.selectors import by_ref, selectors_of, sought_like
from tests.elements.form import Shown, shown
from tests.elements.stages import STAGES, Stage
from tests.machine_client.desktop.accessibility.rig import Program
from tests.waiting import eventually

HERE = Path(__file__).parent
TOOLKITS: Final = {"gtk3": "gtk3_form.py", "gtk4": "gtk4_form.py", "qt5": "qt5_form.py"}
BROWSER: Final = {"chromium": "chromium_form.py"}
"""Of Debian's package of that name, which not everybody has who tests."""

TITLE: Final = "Orders of May"
OTHER_TITLE: Final = "Orders of June"
SECOND_TITLE: Final = "Orders of July"

MOST_ALIKE: Final = 1000
LOOK_ALIKES: Final = 4
"""Elements of the other window, each like one of the form's."""

REACHED_SECONDS: Final = 10.0
"""For a click to come to the form, after which it has pressed nothing."""

PART_REFUSED: Final = 0.05
PART_REFUSED_DISTURBED: Final = 0.1


class Came(StrEnum):
    """What came of pressing an element by its selector."""

    RIGHT = "right"
    WRONG = "wrong"
    REFUSED = "refused"


@dataclass(frozen=True)
class Try:
    """One element, pressed once; ``why`` is what was pressed instead, or the refusal."""

    change: str
    element: Shown
    selector: str
    came: Came
    why: str = ""


@dataclass
class Outcome:
    """All tries with one toolkit on one stage."""

    name: str
    tries: list[Try] = field(default_factory=list)

    @property
    def changes(self) -> list[str]:
        """What was changed, in its order; the first is nothing."""
        return [*dict.fromkeys(each.change for each in self.tries)]

    def count(self, change: str, came: Came) -> int:
        """How many tries after a change came out so."""
        return sum(each.change == change and each.came is came for each in self.tries)

    def part_refused(self, change: str) -> float:
        """The part of the tries after a change that were refused."""
        return self.count(change, Came.REFUSED) / sum(each.change == change for each in self.tries)

    @property
    def is_kept(self) -> bool:
        """Whether nothing wrong was pressed, and no more refused than may be."""
        return all(
            self.count(change, Came.WRONG) == 0
            and self.part_refused(change)
            <= (PART_REFUSED if change == NOTHING else PART_REFUSED_DISTURBED)
            for change in self.changes
        )

    def table(self) -> str:
        """The tries as plain text, and each reason why one was not right."""
        lines = [f"{self.name:24}{'right':>8}{'wrong':>8}{'refused':>9}"]
        for change in self.changes:
            right, wrong, refused = (self.count(change, came) for came in Came)
            lines.append(
                f"  {change:22}{right:8}{wrong:8}{refused:9}  {self.part_refused(change):.1%}"
            )
        reasons = Counter(
            (each.change, each.came, re.sub(r'"[^"]*"', "…", each.why))
            for each in self.tries
            if each.came is not Came.RIGHT
        )
        lines += [
            f"  {count:4} {came} after {change}: {why}"
            for (change, came, why), count in reasons.most_common()
        ]
        return "\n".join(lines)


NOTHING: Final = "nothing"
SECOND_WINDOW: Final = "a second window"
LOOK_ALIKES_BESIDE: Final = "look-alikes beside"
_CHANGES: Final[dict[str, Callable[[Stage, Program], object]]] = {
    NOTHING: lambda stage, form: None,
    "a move": lambda stage, form: stage.move(TITLE, 90, 60),
    "another theme": lambda stage, form: form.tell("theme"),
    "larger letters": lambda stage, form: form.tell("font", 12),
}


def measured(
    toolkit: str, elements: int, look_alikes: int = LOOK_ALIKES, where: str = "x11"
) -> Outcome:
    """Press that many elements of a form after each change; so many come beside it at the end."""
    outcome = Outcome(f"{toolkit} on {where}")
    with ExitStack() as stack:
        stage = stack.enter_context(STAGES[where]())
        told = stage.accessible.elements
        form = stack.enter_context(_form(stage, toolkit, elements, TITLE))
        injector = stack.enter_context(closing(DesktopInjector(stage.desktop, elements=told)))
        pressed = _Pressed(form, injector, outcome)
        stage.move(TITLE, 0, 0)
        selectors = {
            element: _taken(told, place)
            for element, place in zip(shown(elements), _places(stage, form), strict=True)
        }
        for change, do in _CHANGES.items():
            do(stage, form)
            pressed.all(change, selectors)
        _show_second(stage, form)
        pressed.all(SECOND_WINDOW, selectors)
        other = stack.enter_context(_form(stage, toolkit, look_alikes, OTHER_TITLE))
        stage.move(OTHER_TITLE, 900, 1100)
        pressed.all(LOOK_ALIKES_BESIDE, selectors)
        if said := _numbers(other.said):
            raise AssertionError(f"the other window was pressed: {said}")
    return outcome


def _form(stage: Stage, toolkit: str, elements: int, title: str) -> Program:
    script = str(HERE / (TOOLKITS | BROWSER)[toolkit])
    return stage.accessible.shown(script, str(elements), title, stage.variables)


def _show_second(stage: Stage, form: Program) -> None:
    """Have the form's own program show another window, with elements like its own."""
    form.tell("second", SECOND_TITLE)
    # A browser calls it after itself, too.
    shown_too = Selector(name=f"{SECOND_TITLE}*")
    eventually(lambda: stage.accessible.elements.sight(shown_too)[0], "the second window is there")
    stage.move(SECOND_TITLE, 100, 1100)


def _places(stage: Stage, form: Program) -> list[Point]:
    told = [line.split() for line in form.tell("where")]
    left, top = stage.corner(TITLE)
    return [Point(x=left + int(x), y=top + int(y)) for _at, _number, x, y in told]


def _taken(elements: AtSpiElements, at: Point) -> Selector | None:
    """What finds again what is at a place, as a server makes it."""
    listed = elements.listed(Sought(), at=at, limit=1, depth=None).elements
    if not listed:
        return None
    if (sought := sought_like(listed[0])) is None:
        return by_ref(listed[0])
    alike = elements.listed(sought, at=None, limit=MOST_ALIKE, depth=None)
    if alike.truncated is not None or alike.silent:
        return by_ref(listed[0])
    return selectors_of(listed, alike.elements, sought)[0]


@dataclass(frozen=True)
class _Pressed:
    """Presses the form's elements, and holds each against the form's record."""

    form: Program
    injector: DesktopInjector
    outcome: Outcome

    def all(self, change: str, selectors: dict[Shown, Selector | None]) -> None:
        """Press each of them once."""
        self.outcome.tries += [
            self._one(change, element, selector) for element, selector in selectors.items()
        ]

    def _one(self, change: str, element: Shown, selector: Selector | None) -> Try:
        if selector is None:
            return Try(change, element, "", Came.REFUSED, "nothing was told of its place")
        said = selector.model_dump_json()
        why = ""
        try:
            self.injector.prepare(ClickMouse(element=selector))()
        except (Refusal, DesktopError) as refused:
            why = str(refused)
        numbers = _numbers(self.form.said)
        if why and not numbers:
            return Try(change, element, said, Came.REFUSED, why)
        until = time.monotonic() + REACHED_SECONDS
        while not numbers and time.monotonic() < until:
            numbers = _numbers(self.form.said)
        if why or {*numbers} != {element.number}:
            return Try(change, element, said, Came.WRONG, f"pressed {numbers} {why}")
        return Try(change, element, said, Came.RIGHT)


def _numbers(said: list[str]) -> list[int]:
    return [int(line.split()[1]) for line in said if line.startswith("pressed")]
