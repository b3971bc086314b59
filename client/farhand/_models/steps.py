"""A turn of a model, whoever its vendor is: its steps, and the requests that they fit into.

A vendor's table makes a step of each action; a desk has them carried out.  No I/O is in here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from farhand._models import phrases
from farhand.actions import Action, still, wait_for
from farhand.types import Picture, PictureContent

Arguments = Mapping[str, Any]
"""What a model gives an action, as its vendor names it."""
Region = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels of the picture that the model has."""

MOST_ACTIONS, MOST_PICTURES, MOST_CHARACTERS, MOST_SECONDS = 50, 5, 10_000, 120.0
"""What a server takes in one request (docs/reference/operations.md)."""
SECONDS_OF_RARE_CHARACTER = 0.2
"""A server reckons with so much for each that is not ASCII."""

SETTLE_SECONDS, MOST_SETTLING_SECONDS = 0.3, 2.0
"""A picture is taken once nothing has changed for so long, or after so long."""
LONGEST_SIDE = 1280
"""Of the pictures that a model gets, in pixels, unless told otherwise."""


@dataclass(frozen=True)
class Step:
    """What one action of a vendor comes to: inputs, and then perhaps something that is shown."""

    actions: tuple[Action, ...] = ()
    looks: bool = False
    """Whether the model wants a picture: of the whole desktop, or of a ``region``."""
    region: Region | None = None
    wanted: Mapping[str, Any] | None = None
    """That picture as a server takes it, once that is known."""
    asks_pointer: bool = False
    refusal: str | None = None
    """Why it cannot be done at all, as the model reads it."""

    @property
    def seconds(self) -> float:
        """The time that it takes at most, by its own terms."""
        return sum(map(_seconds_of, self.actions)) + MOST_SETTLING_SECONDS * self.looks

    @property
    def characters(self) -> int:
        """How much it types."""
        return sum(len(each["text"]) for each in self.actions if _types(each))


LOOK = Step(looks=True)


@dataclass(frozen=True)
class Outcome:
    """How a step ended: what the model reads where it failed, and what it is shown where not."""

    failure: str | None = None
    picture: Picture | PictureContent | None = None
    pointer: tuple[int, int] | None = None
    """In pixels of the picture that the model has."""


def step_of(
    table: Mapping[str, Callable[[Arguments], Step]], name: str, arguments: Arguments
) -> Step:
    """The step that a table makes of an action; refused where it has none, or cannot make it."""
    make = table.get(name)
    if make is None:
        return Step(refusal=phrases.NOT_AVAILABLE)
    try:
        return make(arguments)
    except (KeyError, TypeError, ValueError, AttributeError):
        return Step(refusal=phrases.UNUSABLE)


def requests_of(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Steps in as few lists as there must be requests: mostly one.

    Where the pointer is can be asked after a request alone; a step that is refused stands alone.
    """
    together: list[Step] = []
    for step in steps:
        if together and (step.refusal is not None or not _fit([*together, step])):
            yield together
            together = []
        together.append(step)
        if step.asks_pointer or step.refusal is not None:
            yield together
            together = []
    if together:
        yield together


@dataclass
class Request:
    """Steps as the actions of one request."""

    actions: list[Action] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    """Which step each action is of."""
    pictures: dict[int, int] = field(default_factory=dict)
    """Which action takes the picture of a step."""
    closing: Mapping[str, Any] | None = None
    """The picture at the end, where the last step wants one."""

    @classmethod
    def of(cls, steps: Sequence[Step]) -> "Request":
        """Lay steps out; each picture is of a still screen, as the one at the end is anyway."""
        request = cls()
        for number, step in enumerate(steps):
            request._add(number, *step.actions)
            if step.wanted is None:
                continue
            if number == len(steps) - 1:
                request.closing = {**step.wanted, "settle": SETTLE_SECONDS}
            else:
                settled = wait_for(
                    still(SETTLE_SECONDS), timeout=MOST_SETTLING_SECONDS, on_timeout="continue"
                )
                request._add(number, settled, {"operation": "screenshot", **step.wanted})
                request.pictures[number] = len(request.actions) - 1
        return request

    def failures(self, ends: Sequence[Mapping[str, Any]]) -> dict[int, str]:
        """What to tell of the steps that failed, by how each action ended."""
        found: dict[int, str] = {}
        for end, owner in zip(ends, self.owners, strict=False):
            if end["status"] != "completed":
                found.setdefault(owner, phrases.of_end(end["status"]))
        return found

    def owner_of(self, place: Sequence[str]) -> int:
        """Which step a place such as ``body``, ``actions``, ``3``, ``x`` is in; else the first."""
        number = place[2] if len(place) > 2 else ""
        return self.owners[int(number)] if number.isdecimal() else 0

    def _add(self, number: int, *actions: Action) -> None:
        self.actions += actions
        self.owners += [number] * len(actions)


def _fit(steps: Sequence[Step]) -> bool:
    pictures = sum(each.looks for each in steps)
    # A picture between two actions is two of them: first the screen has to be still.
    actions = sum(len(each.actions) for each in steps) + 2 * pictures
    return (
        actions <= MOST_ACTIONS
        and pictures <= MOST_PICTURES
        and sum(each.characters for each in steps) <= MOST_CHARACTERS
        and sum(each.seconds for each in steps) <= MOST_SECONDS
    )


def _types(action: Action) -> bool:
    return bool(action["operation"] == "keyboard.type")


def _seconds_of(action: Action) -> float:
    if _types(action):
        return SECONDS_OF_RARE_CHARACTER * sum(not each.isascii() for each in action["text"])
    hold = float(action.get("hold") or 0) * int(action.get("repeat") or 1)
    return float(action.get("seconds") or 0) + float(action.get("duration") or 0) + hold
