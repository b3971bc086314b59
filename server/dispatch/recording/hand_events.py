"""An event of a hand that was carried out, and what a button comes to that is down."""

import math
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from schemas.inputs import bodies
from schemas.inputs.bodies import Button, InputBody
from schemas.link.picture_frames import Picture
from server.dispatch.command import Sender
from server.dispatch.recording.before_and_after import BeforeAndAfter, Beneath
from server.dispatch.recording.drafts import Draft, Span

STILL: Final = 4.0
"""Pixels that a hand's pointer moves by itself."""

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Done:
    """An event of a hand that was carried out; ``before`` is how the screen looked then."""

    command_id: UUID
    sender: Sender
    body: InputBody
    span: Span
    before: Picture | None = None
    beneath: Beneath | None = None
    around: BeforeAndAfter | None = None
    is_said_secret: bool = False


@dataclass(slots=True)
class Press:
    """A button that is down; ``path`` are the places that the pointer passed since.

    ``goes_on`` are the clicks that this may be one more of.
    """

    done: Done
    button: Button
    place: Place | None
    modifiers: tuple[str, ...]
    goes_on: Draft | None = None
    path: list[Place] = field(default_factory=list)

    @property
    def pressed_at(self) -> int:
        """When it went down."""
        return self.done.span.ended

    @property
    def is_drag(self) -> bool:
        """Whether the pointer has gone farther than it does by itself."""
        return self.place is not None and not all(
            are_near(self.place, passed) for passed in self.path
        )

    def click(self) -> dict[str, object]:
        """The body of a click of it."""
        return at(self.place) | held_with(self.modifiers) | self._with_button()

    def drag(self, start: Place, ended: int) -> dict[str, object]:
        """The body of a drag from there that ended at a moment."""
        *path, (to_x, to_y) = self.path
        start_x, start_y = start
        seconds = max(ended - self.pressed_at, 0) / 1000
        body: dict[str, object] = {
            "start_x": start_x,
            "start_y": start_y,
            "to_x": to_x,
            "to_y": to_y,
            "duration": round(min(seconds, bodies.MAX_DRAG_SECONDS), 3),
        }
        body |= held_with(self.modifiers) | self._with_button()
        if path:
            body["path"] = [{"x": x, "y": y} for x, y in _thinned(path)]
        return body

    def _with_button(self) -> dict[str, object]:
        return {} if self.button == "left" else {"button": self.button}


def at(place: Place | None) -> dict[str, object]:
    """What a body says of a place."""
    return {} if place is None else {"x": place[0], "y": place[1]}


def held_with(modifiers: tuple[str, ...]) -> dict[str, object]:
    """What a body says of the keys that are held with it."""
    return {"modifiers": [*modifiers]} if modifiers else {}


def are_near(one: Place | None, other: Place | None) -> bool:
    """Whether a hand that meant one place may have come to the other."""
    if one is None or other is None:
        return one is other
    return math.dist(one, other) <= STILL


def _thinned(path: list[Place]) -> list[Place]:
    """So many places of a path as an input may have, evenly chosen; each change of place once."""
    changes = [
        place for number, place in enumerate(path) if not number or path[number - 1] != place
    ]
    step = math.ceil(len(changes) / bodies.MAX_PATH_POINTS)
    return changes[::step] if step else changes
