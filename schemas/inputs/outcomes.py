"""How a command ended, as the machine says it.

One list for both sides: the machine client makes these, the server turns them into answers.
"""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from schemas.values.pictures import Region
from schemas.values.scalars import Int32

Effect = Literal["happened", "accepted", "delivered"]
"""What is known of a completed input's events.

``happened``: the desktop has taken them, and says where the pointer is.  ``accepted``: it has taken
them, and tells nobody where the pointer is: that is where it was put.  ``delivered``: whatever
stands between the machine client and the desktop has read all of them, and does not say whether the
desktop took them, nor where the pointer is but for where it was put.
"""


class _Outcome(BaseModel):
    # A later client may add fields: an earlier server must not be deaf to its acknowledgements.
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


def _is_none(value: object) -> bool:
    return value is None


class Point(_Outcome):
    """A place on the desktop, in pixels."""

    x: Int32
    y: Int32


ActionStatus = Literal["completed", "failed", "interrupted", "not_seen", "unknown", "not_begun"]
"""How far one of several actions came.

``not_seen``: the screen did not show in time what was waited for, or not the one element that was
meant; then there is a code, which is one of `ELEMENT_REFUSALS`.  ``interrupted``: it was ended
early, in its middle or before its first event.  ``unknown``: it was begun, and nobody knows whether
it ended.  ``not_begun``: nothing of it happened, and nothing ever will.
"""


ElementRefusal = Literal["element_missing", "element_ambiguous"]
"""Why nothing happened to an element.

``element_missing``: none is like this, or it cannot be seen, is disabled, covered, or not what its
ref was given to.  ``element_ambiguous``: several are like this.
"""
ELEMENT_REFUSALS: Final[tuple[ElementRefusal, ...]] = get_args(ElementRefusal)

ELEMENTS_UNAVAILABLE: Final = "elements_unavailable"
"""The code of what needs elements, where a machine has none or cannot tell enough of them."""


class ActionResult(_Outcome):
    """How one of several actions ended; what it says beside its status is left out elsewhere."""

    operation: str = Field(max_length=64)
    status: ActionStatus
    duration_ms: float | None = Field(
        None, ge=0, exclude_if=_is_none, description="The machine's own time."
    )
    code: str | None = Field(
        None, max_length=64, exclude_if=_is_none, description="What was wrong, for a program."
    )
    message: str | None = Field(
        None, max_length=1000, exclude_if=_is_none, description="What was wrong, for a person."
    )
    matched: int | None = Field(
        None, exclude_if=_is_none, description="Which of the conditions the screen met, from 0."
    )
    at: Region | None = Field(
        None, exclude_if=_is_none, description="Where on the screen, in the desktop's pixels."
    )


Results = tuple[ActionResult, ...]


class _PerhapsOfSeveral(_Outcome):
    """The outcome of an input, or of several actions, of which it has each one's."""

    actions: Annotated[Results, Field(max_length=64)] | None = Field(None, exclude_if=_is_none)


class Completed(_PerhapsOfSeveral):
    """Every event was injected, as far as ``effect`` says."""

    status: Literal["completed"] = "completed"
    duration_ms: float = Field(ge=0, description="The machine's own time spent injecting.")
    pointer: Point = Field(description="Where the pointer was afterwards.")
    effect: Effect = Field("happened", exclude_if=lambda effect: effect == "happened")


class Refused(_Outcome):
    """The machine saw before the first event that it cannot carry this out.

    A code of `ELEMENT_REFUSALS` is no mistake of whoever asked: the screen shows something else.
    """

    status: Literal["refused"] = "refused"
    code: str = Field(max_length=64, description="The type of the validation error entry.")
    message: str = Field(max_length=1000)
    loc: tuple[str, ...] = Field(("body",), max_length=8, description="The field at fault.")
    ctx: dict[str, Any] = Field(default_factory=dict, description="Facts, such as the bounds.")


class Failed(_PerhapsOfSeveral):
    """The machine tried and could not; what it held was released."""

    status: Literal["failed"] = "failed"
    code: str = Field(max_length=64)
    message: str = Field(max_length=1000)
    injected_at_least: int = Field(ge=0, description="Events that surely reached the desktop.")


class Expired(_Outcome):
    """The command's time to begin had passed; it was not begun and never will be."""

    status: Literal["expired"] = "expired"


class NotCarriedOut(_Outcome):
    """The command never reached the machine and now never will be carried out."""

    status: Literal["not_carried_out"] = "not_carried_out"


class Stopped(_PerhapsOfSeveral):
    """Several actions ended early, as the screen did not show what was waited for or meant."""

    status: Literal["stopped"] = "stopped"


class Unknown(_PerhapsOfSeveral):
    """The command was begun and not finished, or its journal is lost."""

    status: Literal["unknown"] = "unknown"
    injected_at_least: int = Field(0, ge=0)


Outcome = Annotated[
    Completed | Refused | Failed | Stopped | Expired | NotCarriedOut | Unknown,
    Field(discriminator="status"),
]
"""A final outcome: it never changes."""


def results_of(outcome: Outcome | None) -> Results | None:
    """How each of several actions ended, where that is known; None of a single input."""
    return outcome.actions if isinstance(outcome, _PerhapsOfSeveral) else None
