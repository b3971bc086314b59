"""What happened in a fault run: the commands, every request for them, and the faults.

Times are seconds of the monotonic clock since the run's beginning.
"""

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID, uuid5

WIDTH, HEIGHT = 1280, 800
"""The size of every desk in pixels."""

# An event outside the screen is seen at its edge: no command's place is there.
_COLUMNS = WIDTH - 1
PLACES = _COLUMNS * HEIGHT
# Prime to the number of places: one after another they are far apart, and none comes twice.
_STRIDE = 390_001

_WHEEL_STEPS = (1, 1, 2, 3)


class Place(NamedTuple):
    """A pixel of a desk."""

    x: int
    y: int


class FinalAnswer(NamedTuple):
    """What must be the same in every final answer."""

    status: int
    body: bytes


@dataclass(frozen=True)
class Try:
    """One request: when it was sent and how it ended; ``status`` 0 is no answer at all."""

    sent_at: float
    ended_at: float
    node: str
    status: int
    body: bytes
    error: str = ""

    @property
    def answer(self) -> FinalAnswer:
        return FinalAnswer(self.status, self.body)

    @property
    def problem(self) -> str:
        """The problem's name, such as ``outcome-unknown``; empty for anything else."""
        if self.status < 400:
            return ""
        return str(self.json.get("type", "")).removeprefix("/problems/")

    @property
    def is_final(self) -> bool:
        """Whether this is the command's one answer, as docs/at-most-once.md tells clients."""
        if self.status == 0:
            return False
        if self.status < 500:
            return self.status not in (409, 429)
        return self.json.get("final") is True

    @property
    def looked_up(self) -> tuple[int, Any] | None:
        """Status and JSON of the final answer that a look at the command shows, if it does."""
        answer = self.json.get("answer") if self.status == 200 else None
        return (answer["status"], answer["body"]) if isinstance(answer, dict) else None

    @property
    def json(self) -> Mapping[str, Any]:
        """The body, where it is a JSON object; else an empty one."""
        try:
            parsed = json.loads(self.body)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}


@dataclass
class CommandHistory:
    """A command under a key, and everything that was asked about it.

    ``place`` and ``presses`` say what it does: that many presses of a button there, and there is
    no other command's place.  None is a command that the machine must refuse.  ``other_tries`` are
    requests with the same key and another body, which would press at ``other_place``; ``looks``
    are those for its state, without sending it.
    """

    number: int
    key: str
    machine: str
    operation: str
    body: Mapping[str, Any]
    place: Place | None
    presses: int
    tries: list[Try] = field(default_factory=list)
    other_place: Place | None = None
    other_tries: list[Try] = field(default_factory=list)
    looks: list[Try] = field(default_factory=list)

    def id(self, organization_id: UUID) -> UUID:
        """The id that the server and the journal know it by."""
        return uuid5(organization_id, self.key)

    def first_final(self) -> Try | None:
        """The final answer that came first."""
        finals = [each for each in self.tries if each.is_final]
        return min(finals, key=lambda each: each.ended_at) if finals else None


@dataclass(eq=False)
class Fault:
    """One thing that was done to the system, and for how long."""

    kind: str
    target: str
    began_at: float
    ended_at: float | None = None
    detail: str = ""

    def __str__(self) -> str:
        end = "..." if self.ended_at is None else f"{self.ended_at:.3f}"
        return f"{self.began_at:9.3f} to {end}: {self.kind} of {self.target} {self.detail}".rstrip()


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() - self._began


def place_of(number: int) -> Place:
    """The place of its own that a number below `PLACES` stands for."""
    assert number < PLACES, "there are no more places"
    y, x = divmod(number * _STRIDE % PLACES, _COLUMNS)
    return Place(x, y)


def random_command(number: int, key: str, machine: str, chance: random.Random) -> CommandHistory:
    """A command whose events say which one they belong to.

    Each number has two places: one for the command, one for another body under its key.
    """
    place = place_of(2 * number)
    at = place._asdict()
    button = chance.choice(["left", "left", "right", "middle"])

    def made(operation: str, body: Mapping[str, Any], presses: int) -> CommandHistory:
        return CommandHistory(number, key, machine, f"mouse/{operation}", body, place, presses)

    kind = chance.random()
    if kind < 0.55:
        return made("click", at | {"button": button}, 1)
    if kind < 0.70:
        return made("click", at | {"button": button, "clicks": 2}, 2)
    if kind < 0.85:
        steps = chance.choice(_WHEEL_STEPS)
        direction = chance.choice(["up", "down", "left", "right"])
        return made("scroll", at | {"direction": direction, "amount": steps}, steps)
    if kind < 0.95:
        end = place_of(chance.randrange(PLACES))
        drag = {"start_x": place.x, "start_y": place.y, "to_x": end.x, "to_y": end.y}
        duration = chance.choice([None, 0.1, 0.5])
        return made("drag", drag | {"duration": duration, "button": button}, 1)
    outside = {"x": WIDTH + chance.randrange(1000), "y": place.y}
    return CommandHistory(number, key, machine, "mouse/click", outside, None, 0)


def other_body(command: CommandHistory) -> Mapping[str, Any]:
    """Another body for the same operation; what it would do happens at ``other_place``."""
    place = command.other_place = place_of(2 * command.number + 1)
    if command.operation == "mouse/drag":
        return {**command.body, "start_x": place.x, "start_y": place.y}
    return {**command.body, **place._asdict()}
