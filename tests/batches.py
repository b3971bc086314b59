"""Several actions in one request, what a witness sees of them, and what may then be said of them.

Each action has a place or a key of its own, so that every event says of which it is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tests.desktop import DeviceEvent
from tests.processes import Answer, kind_of

_KEYS = ("asdf", "ghjk", "qwer", "tyui")
_MODIFIERS = ("ctrl", "shift", "alt", "super")
"""Of one batch after another."""

BATCHES_APART = len(_KEYS)
"""How many with numbers in sequence have no key in common."""

KEYCODES = {"ctrl": 37, "shift": 50, "alt": 64, "super": 133} | {
    character: first + place
    for first, row in ((24, "qwertyui"), (38, "asdfghjk"))
    for place, character in enumerate(row)
}
"""Those of a keyboard."""

_COLUMNS, _ROWS = 1200, 700
_BUTTONS = {"left": 1, "right": 3}

What = tuple[int, int, int] | int
"""A button and its place, or a keycode."""


@dataclass(frozen=True)
class Act:
    """An action, and the presses and releases that it must make."""

    body: Mapping[str, Any]
    events: tuple[tuple[str, What], ...] = ()

    @property
    def own(self) -> frozenset[What]:
        """What only it presses."""
        return frozenset(what for _, what in self.events)


def five(number: int) -> list[Act]:
    """Clicks, a key and a text; with another number at other places and with other keys.

    While the click in the middle happens, a modifier is held.
    """
    row, column = divmod(number * 5, _COLUMNS)
    places = [(column + index, row % _ROWS) for index in range(5)]
    keys = _KEYS[number % len(_KEYS)]
    first, others = keys[0], keys[1:]
    return [
        _click(*places[0], "left"),
        Act({"operation": "keyboard.key", "text": first}, strokes(KEYCODES[first])),
        _beside(_MODIFIERS[number % len(_MODIFIERS)], _click(*places[2], "right")),
        Act(
            {"operation": "keyboard.type", "text": others},
            tuple(event for key in others for event in strokes(KEYCODES[key])),
        ),
        _click(*places[4], "left", 2),
    ]


def with_pause(acts: Sequence[Act], after: int, seconds: float = 20.0) -> list[Act]:
    """The same with a pause after so many of them."""
    pause = Act({"operation": "wait", "seconds": seconds})
    return [*acts[:after], pause, *acts[after:]]


def bodies(acts: Sequence[Act]) -> list[Mapping[str, Any]]:
    """What is sent."""
    return [each.body for each in acts]


def _click(x: int, y: int, button: str, clicks: int = 1) -> Act:
    body = {"operation": "mouse.click", "x": x, "y": y, "button": button, "clicks": clicks}
    return Act(body, strokes((_BUTTONS[button], x, y)) * clicks)


def _beside(modifier: str, act: Act) -> Act:
    press, release = strokes(KEYCODES[modifier])
    return Act({**act.body, "modifiers": [modifier]}, (press, *act.events, release))


def strokes(what: What) -> tuple[tuple[str, What], ...]:
    """A press and a release."""
    return ("press", what), ("release", what)


def seen_of(event: DeviceEvent) -> tuple[str, What] | None:
    """A press or a release, and of what; None of a motion."""
    if event.kind == "MotionNotify":
        return None
    kind = "press" if event.kind.endswith("Press") else "release"
    if event.kind.startswith("Key"):
        return kind, event.detail
    return kind, (event.detail, event.x, event.y)


def whole(acts: Sequence[Act], events: Sequence[DeviceEvent]) -> int:
    """How many actions happened from their first event to their last."""
    seen = [each for each in map(seen_of, events) if each is not None]
    inputs = [act for act in acts if act.events]
    return sum(tuple(each for each in seen if each[1] in act.own) == act.events for act in inputs)


class Broken(StrEnum):
    """What must never happen; each member says it as the row of a table."""

    TWICE = "actions done twice"
    COMPLETED_WITHOUT = 'actions told as "completed" without all their events'
    NOT_BEGUN_WITH = 'actions told as "not_begun" with an event'
    LEFT_PRESSED = "actions that left something pressed"
    OTHERWISE = "answers and events of another form or order"


class Violation(NamedTuple):
    """A promise that was broken."""

    broken: StrEnum
    detail: str


def broken(
    acts: Sequence[Act],
    answer: Answer,
    events: Sequence[DeviceEvent],
    *,
    journal_was_lost: bool = False,
) -> list[Violation]:
    """Which promises a final answer breaks, beside all events of its batch.

    ``journal_was_lost`` is whether the machine may know nothing of the batch any more.
    """
    seen = [each for each in map(seen_of, events) if each is not None]
    statuses = _statuses(answer, len(acts), journal_was_lost=journal_was_lost)
    if statuses is None:
        said = f"{answer.status} {kind_of(answer)} says nothing of the actions"
        return [Violation(Broken.OTHERWISE, said)]
    return [
        *_out_of_form(answer, statuses),
        *_out_of_order(acts, seen),
        *(
            Violation(violation.broken, f"action {number}: {violation.detail}")
            for number, (act, status) in enumerate(zip(acts, statuses, strict=True))
            for violation in untrue(act, status, [each for each in seen if each[1] in act.own])
        ),
    ]


def _statuses(answer: Answer, number: int, *, journal_was_lost: bool) -> list[str] | None:
    """What an answer says of each action, be it without words; None where it may not say less."""
    if results := answer.json.get("actions"):
        return [str(each["status"]) for each in results]
    if kind_of(answer) == "not-carried-out":
        return ["not_begun"] * number
    if kind_of(answer) == "outcome-unknown" and journal_was_lost:
        return ["unknown"] * number
    return None


def _out_of_form(answer: Answer, statuses: Sequence[str]) -> Iterator[Violation]:
    """A finished prefix, at most one that is not finished, and the rest not begun."""
    if not answer.json.get("actions"):
        return
    done = answer.json.get("completed", len(statuses))
    rest = statuses[done:]
    if (
        [*statuses[:done]] != ["completed"] * done
        or any(each != "not_begun" for each in rest[1:])
        or (answer.status == 200) is not (not rest)
        or (kind_of(answer) == "outcome-unknown") is not ("unknown" in rest)
    ):
        yield Violation(
            Broken.OTHERWISE, f"{kind_of(answer)} with {done} completed says {statuses}"
        )


def untrue(act: Act, status: str, seen: Sequence[tuple[str, What]]) -> Iterator[Violation]:
    """What is not true of an action's status, beside all events of the action."""
    presses, wanted = _presses(seen), _presses(act.events)
    came = f"{len(seen)} of {len(act.events)} events came"
    if any(presses[what] > wanted[what] for what in presses):
        yield Violation(Broken.TWICE, came)
    if status == "completed" and tuple(seen) != act.events:
        yield Violation(Broken.COMPLETED_WITHOUT, came)
    if status == "not_begun" and seen:
        yield Violation(Broken.NOT_BEGUN_WITH, came)
    if presses != Counter(what for kind, what in seen if kind == "release"):
        yield Violation(Broken.LEFT_PRESSED, came)


def _presses(events: Sequence[tuple[str, What]]) -> Counter[What]:
    return Counter(what for kind, what in events if kind == "press")


def _out_of_order(acts: Sequence[Act], seen: Sequence[tuple[str, What]]) -> Iterator[Violation]:
    numbers = [number for _, what in seen for number, act in enumerate(acts) if what in act.own]
    if numbers != sorted(numbers):
        yield Violation(Broken.OTHERWISE, f"events came in the order of actions {numbers}")
