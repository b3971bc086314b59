"""Steps that were really recorded, done again after the screen has changed, beside the record.

Only the form itself knows what was entered.  A step is right where its record says what the step is
for, and halted where nothing was entered at all; anything else is wrong.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from schemas.inputs.waits import Still
from schemas.steps.step import Step
from server.runs.finding import Found, find, looking
from tests.finding.rig import ORDERS, TITLE, Desk


class Came(StrEnum):
    """What came of a step."""

    RIGHT = "right"
    HALTED = "halted"
    WRONG = "wrong"


@dataclass(frozen=True)
class Workflow:
    """A step, what it is done to, and what the form's record says once it is done."""

    name: str
    operation: str
    role: str
    row: str | None
    enters: str
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """What becomes of the screen, and whether a step of the second order can be done then."""

    name: str
    do: Callable[[Desk], Awaitable[object]]
    is_there: bool = True


@dataclass(frozen=True)
class Try:
    """A step after a change: what came of it, by what it was found or why not, and how long."""

    change: Change
    workflow: Workflow
    came: Came
    how: str
    seconds: float


WORKFLOWS: Final = (
    Workflow("edit", "mouse.click", "Edit", "Order 4712", "edit 4712"),
    Workflow("delete", "mouse.click", "Delete", "Order 4712", "delete 4712"),
    Workflow("save", "mouse.click", "Save", None, "save"),
    Workflow("note", "keyboard.type", "text", "Order 4712", "4712=urgent", {"text": "urgent"}),
    Workflow("customer", "keyboard.type", "text", None, "customer=Ada", {"text": "Ada"}),
)


HEARD_SECONDS: Final = 10.0
"""For the form to hear an input, after which nothing was entered."""


def by_picture_alone(step: Step) -> Step:
    """A step as a machine has it recorded that tells of no elements."""
    if step.target is None:
        return step
    bare = step.target.model_copy(update={"element": None, "box": None, "around": None})
    return step.model_copy(update={"target": bare})


def told(*words: object) -> Callable[[Desk], Awaitable[object]]:
    """A change that the form is told of."""
    return lambda desk: desk.tell(*words)


CHANGES: Final = (
    Change("nothing", told("nothing")),
    Change("moved window", told("move", 300, 250)),
    Change("dark theme", told("theme", "dark")),
    Change("larger font", told("font", 13)),
    Change("look-alike above", told("orders", "4710,4711,4712,4713")),
    Change("row gone", told("orders", "4711,4713"), is_there=False),
    Change("value already there", told("nothing")),
    Change("row twice", told("orders", "4711,4712,4712,4713"), is_there=False),
)
_FILLED: Final = next(each for each in CHANGES if each.name == "value already there")
_BACK: Final = (("theme", "light"), ("font", 10), ("orders", ORDERS), ("move", 60, 40))


@dataclass
class Gauntlet:
    """Everything that was tried."""

    tries: list[Try] = field(default_factory=list)

    def count(self, change: Change, came: Came) -> int:
        """How many tries after a change came out so."""
        return sum(each.change is change and each.came is came for each in self.tries)

    @property
    def wrong(self) -> list[Try]:
        """What should not be."""
        return [each for each in self.tries if each.came is Came.WRONG]

    @property
    def needless(self) -> list[Try]:
        """Halts where all was there that the step needs."""
        return [each for each in self.tries if each.came is Came.HALTED and needs(each)]

    def table(self) -> str:
        """The tries as plain text."""
        lines = [f"{'after':22}{'right':>8}{'halted':>8}{'wrong':>8}"]
        for change in dict.fromkeys(each.change for each in self.tries):
            right, halted, wrong = (self.count(change, came) for came in Came)
            lines.append(f"{change.name:22}{right:8}{halted:8}{wrong:8}")
        lines += [
            f"  {each.workflow.name} after {each.change.name}: {each.came}, {each.how}"
            for each in self.tries
            if each.came is not Came.RIGHT
        ]
        able = [each for each in self.tries if needs(each)]
        lines.append(f"{len(self.needless)} of {len(able)} halts were not needed")
        took = sorted(each.seconds for each in self.tries if each.came is Came.RIGHT)
        if took:
            lines.append(
                f"beside settling: median {took[len(took) // 2] * 1000:.0f} ms, "
                f"longest {took[-1] * 1000:.0f} ms"
            )
        return "\n".join(lines)


def needs(each: Try) -> bool:
    """Whether all was there that a step needs."""
    if each.change is _FILLED and each.workflow.operation.startswith("keyboard."):
        return False
    return each.change.is_there or each.workflow.row is None


async def run(
    desk: Desk,
    workflows: tuple[Workflow, ...] = WORKFLOWS,
    changes: tuple[Change, ...] = CHANGES,
    without: Callable[[Step], Step] = lambda step: step,
) -> Gauntlet:
    """Record each step, then try it after each change; ``without`` takes something from it."""
    gauntlet = Gauntlet()
    steps = {}
    for each in workflows:
        await _back(desk)
        steps[each.name] = without(await _recorded(desk, each))
    for change in changes:
        for each in workflows:
            await _back(desk)
            if each.operation.startswith("keyboard."):
                await _focused(desk, each, change)
            else:
                await change.do(desk)
            gauntlet.tries.append(await _tried(desk, each, change, steps[each.name]))
    await _back(desk)
    return gauntlet


async def _back(desk: Desk) -> None:
    for words in _BACK:
        await desk.tell(*words)
    for name in ("customer", "4712"):
        await desk.tell("fill", name)


async def _focused(desk: Desk, workflow: Workflow, change: Change) -> None:
    """The change, and the focus where the step before has put it, if that is still there."""
    await change.do(desk)
    if change is _FILLED:
        await desk.tell("fill", "customer" if workflow.row is None else "4712", "old")
    await _focus(desk, workflow)


async def _focus(desk: Desk, workflow: Workflow) -> None:
    """Keys go to the window under the pointer, as there is no window manager."""
    x, y = await desk.place("Customer")
    await desk.carried_out("mouse.move", {"x": x, "y": y})
    await desk.tell("focus", "customer" if workflow.row is None else "4712")


async def _entered(desk: Desk, workflow: Workflow) -> list[str]:
    """What was entered, once that is all there: a form on a busy system hears keys late."""
    entered: list[str] = []
    until = time.monotonic() + HEARD_SECONDS
    while entered[-1:] != [workflow.enters] and time.monotonic() < until:
        entered += await desk.tell("nothing")
    return entered


async def _drawn(desk: Desk) -> None:
    """Wait until the form is drawn as it was told, which a busy system takes its time for."""
    await desk.place("Customer")
    await looking.until_seen(desk, (Still(still=0.5),), 30)


async def _recorded(desk: Desk, workflow: Workflow) -> Step:
    if workflow.operation.startswith("keyboard."):
        await _focus(desk, workflow)
        body = workflow.body
    else:
        x, y = await desk.place(workflow.role, workflow.row)
        body = {"x": x, "y": y}
    step = await desk.record(workflow.operation, body)
    await desk.tell("nothing")
    return step


async def _tried(desk: Desk, workflow: Workflow, change: Change, step: Step) -> Try:
    await desk.tell("nothing")
    await _drawn(desk)
    desk.asked.clear()
    began = time.perf_counter()
    found = await find(desk, step)
    took = time.perf_counter() - began
    took -= sum(seconds for name, seconds in desk.asked if name == "AwaitScreen")
    entered: list[str] = []
    if isinstance(found, Found):
        status = await desk.carried_out(step.operation, found.body)
        how = f"{found.how}, {status}"
        entered = await _entered(desk, workflow)
    else:
        how = f"{found.reason}: {found.why}"
    entered += await desk.tell("nothing")
    if entered[-1:] == [workflow.enters] and len({e.split("=")[0] for e in entered}) == 1:
        is_right = isinstance(found, Found) and needs(Try(change, workflow, Came.RIGHT, "", 0))
        return Try(change, workflow, Came.RIGHT if is_right else Came.WRONG, how, took)
    if entered:
        how += f"; entered {entered}"
    return Try(change, workflow, Came.WRONG if entered else Came.HALTED, how, took)


__all__ = ["CHANGES", "TITLE", "WORKFLOWS", "Came", "Change", "Gauntlet", "Try", "Workflow", "run"]
