"""What comes of looking for a step's target, and of waiting for what it brings about."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from schemas.values.pictures import Region
from server.dispatch.questions.question import Refusal
from server.dispatch.questions.screens import PictureTaken

How = Literal["element", "picture", "text", "none needed"]

_AWAY: Final = frozenset({"offline", "unreachable", "settling"})

HaltReason = Literal[
    "missing",
    "ambiguous",
    "surroundings",
    "not_usable",
    "focus",
    "unfindable",
    "not_seen",
    "cannot_look",
]
"""Why a step is not done, or is not known to have come true.

``missing``: nothing on the screen is like its target.  ``ambiguous``: several are.
``surroundings``: what is like it stands among other things than when it was recorded.
``not_usable``: it is there, and disabled.  ``focus``: keys would go somewhere else than when they
were recorded.  ``unfindable``: nothing was recorded by which it could be found.  ``not_seen``: what
the step was to bring about did not come true in time.  ``cannot_look``: the machine does not show
its screen or its elements, or this server does not look for pictures and texts.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something on the screen that could be meant.

    ``score`` is how like the target it is, up to 1; ``what`` says what it is or lacks.
    """

    box: Region | None
    score: float
    what: str


@dataclass(frozen=True, slots=True)
class Found:
    """Where a step belongs.

    ``body`` is its input's, with the place or the element put in; its texts are as they were.
    ``at`` is where that is on the desktop, if it is known.  ``scale`` is by how much the screen is
    larger than it was recorded, for the steps that follow; None where nothing tells.
    """

    body: dict[str, Any]
    how: How
    score: float = 1.0
    at: Region | None = None
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """What a step was to bring about has come true.

    ``matched`` is which of its conditions, and ``at`` where; None where it expects nothing.
    """

    matched: int | None = None
    at: Region | None = None
    elapsed: float = 0.0


@dataclass(frozen=True, slots=True)
class Halt:
    """Nothing more is to be done: ``why`` in a sentence for a person.

    ``expected`` and ``actual`` are what should be there and what is, line by line.  ``picture`` is
    the screen as it was then; None where it could not be seen.  ``refusal`` is the machine's own
    word for why it ``cannot_look``.
    """

    reason: HaltReason
    why: str
    candidates: tuple[Candidate, ...] = ()
    expected: tuple[str, ...] = ()
    actual: tuple[str, ...] = ()
    picture: PictureTaken | None = field(default=None, repr=False)
    refusal: Refusal | None = None

    @property
    def is_away(self) -> bool:
        """Whether the machine was not reached: it may be moving to another node."""
        return self.refusal is not None and self.refusal.reason in _AWAY


@dataclass(frozen=True, slots=True)
class Before:
    """What is needed of the screen before a step, to tell whether it has changed by it.

    ``pictures`` are those of the conditions that wait for a change, by their numbers.
    """

    pictures: dict[int, bytes] = field(default_factory=dict, repr=False)
