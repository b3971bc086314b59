"""What was done, as a step that is not written yet; and which steps an input of a program is."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Literal
from uuid import UUID

from schemas.inputs.actions import Actions
from schemas.inputs.bodies import (
    InputBody,
    MouseInput,
    Operation,
    PressKeys,
    SetElementValue,
    TypeText,
    WriteClipboard,
)
from schemas.inputs.outcomes import Completed, Failed, Outcome, Results, Unknown, results_of
from schemas.link.picture_frames import Picture
from schemas.steps.step import TEXT_FIELDS
from server.dispatch.command import Command, Ended, Sender
from server.dispatch.recording.before_and_after import BeforeAndAfter, Beneath
from server.dispatch.recording.keys import Typed, strokes, types_something

Through = Literal["api", "actions", "hand"]
"""By an input, as one of several actions, or by hand."""

GAP: Final = "gap"

MOST_PARTS: Final = 4096
"""An input has fewer steps than this: as many as the longest combination has chords."""

PENDING_INDEX: Final = 2**32 - 1
"""Of the gap of an input whose end is not known yet: no step has it, so that its own may follow."""

HELD: Final = (
    "A program held or repeated keys that type characters, which may be a part of a secret, and "
    "are not kept."
)
UNKNOWN: Final = "An input was begun, and nobody knows whether it ended."
PENDING: Final = "An input was sent, and the machine did not say in time what became of it."
FAILED: Final = "An input was begun and not completed."
ACTION_FAILED: Final = "One of several actions was begun and not completed."


@dataclass(slots=True, kw_only=True)
class Draft:
    """A step as it will be.

    ``text`` is what it types or copies, which ``body`` lacks: whether it is kept is decided later.
    None is that there is none.  ``began`` and ``ended`` are milliseconds since 1970.  ``place`` is
    where the pointer was for it, ``before`` the newest picture of the screen when it came, and
    ``beneath`` what is under the place.  A ``hover`` is a rest of the pointer, and a step only
    where the screen changed by it.  A gap has nobody who sent it.

    ``pressed`` is where keys were sent to by the click right before them.

    ``pressed_at`` is when a button went down last for it, where it is a click by hand.

    ``around`` is around its first input that types its text, ``last_around`` around the last of so
    many ``inputs``.  ``is_alone`` is whether they have no other step.  ``is_said_secret`` is that a
    person said so, or that a run with secrets did it, and ``is_made_up`` that it is of an input
    that was done before it was noted.
    """

    command_id: UUID
    index: int
    sender: Sender | None
    through: Through
    operation: str
    body: dict[str, Any]
    began: int
    ended: int
    text: str | None = None
    place: tuple[int, int] | None = None
    pressed: tuple[int, int] | None = None
    pressed_at: int | None = None
    hover: bool = False
    before: Picture | None = None
    beneath: Beneath | None = None
    around: BeforeAndAfter | None = None
    last_around: BeforeAndAfter | None = None
    inputs: int = 1
    is_alone: bool = True
    is_said_secret: bool = False
    is_made_up: bool = False

    @property
    def is_gap(self) -> bool:
        """Whether it marks that something may be missing."""
        return self.operation == GAP

    @property
    def by_mouse(self) -> bool:
        """Whether it was done with the pointer."""
        return self.operation.startswith("mouse.")

    @property
    def pause_began(self) -> int:
        """From when on the time until the next step counts.

        A click takes no time when it is sent again, and programs count from press to press: two
        slow clicks, one right after the other was let go, would be a double click otherwise.
        """
        return self.ended if self.pressed_at is None else self.pressed_at


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when something happened, in milliseconds since 1970."""

    began: int
    ended: int


def span_of(reply: Ended, at: int) -> Span:
    """When an input began and ended on its machine, which said so at a moment."""
    took = reply.outcome.duration_ms if isinstance(reply.outcome, Completed) else 0.0
    return Span(at - round(took), at)


def drafts_of(command: Command, outcome: Outcome, span: Span, *, keep_texts: bool) -> list[Draft]:
    """The steps that a program's input came to, and gaps where it may have happened in part."""
    if isinstance(command.body, Actions):
        return _of_actions(command, results_of(outcome) or (), span, keep_texts=keep_texts)
    match outcome:
        case Completed():
            return _of_input(command, command.body, "api", span, 0, keep_texts=keep_texts)
        case Failed(injected_at_least=events) if events:
            return [gap(command.id, 0, FAILED, span.ended)]
        case Unknown():
            return [gap(command.id, 0, UNKNOWN, span.ended)]
        case _:
            return []


def gap(
    command_id: UUID, index: int, reason: str, at: int, *, is_said_secret: bool = False
) -> Draft:
    """A mark that something may be missing there, of which a person said that it is secret."""
    return Draft(
        command_id=command_id,
        index=index,
        sender=None,
        through="api",
        operation=GAP,
        body={"reason": reason},
        began=at,
        ended=at,
        is_said_secret=is_said_secret,
    )


def body_of(body: InputBody) -> dict[str, Any]:
    """What a request of an input says, without what it leaves to the defaults."""
    return body.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"operation"})


def _of_actions(command: Command, results: Results, span: Span, *, keep_texts: bool) -> list[Draft]:
    """Each input that was completed; what came between them is in the times.

    What is known is how long each took; together they ended with the command.
    """
    if not isinstance(command.body, Actions):
        return []
    drafts: list[Draft] = []
    at = span.ended - sum(each.duration_ms or 0.0 for each in results)
    for number, (action, result) in enumerate(zip(command.body.actions, results, strict=False)):
        began, at = at, at + (result.duration_ms or 0.0)
        first, own = number * MOST_PARTS, Span(round(began), round(at))
        if result.status == "completed" and isinstance(action, InputBody):
            drafts += _of_input(command, action, "actions", own, first, keep_texts=keep_texts)
        elif result.status in ("failed", "interrupted"):
            drafts.append(gap(command.id, first, ACTION_FAILED, own.ended))
        elif result.status == "unknown":
            drafts.append(gap(command.id, first, UNKNOWN, own.ended))
    return drafts


def _of_input(
    command: Command,
    body: InputBody,
    through: Through,
    span: Span,
    first: int,
    *,
    keep_texts: bool,
) -> list[Draft]:
    """The steps of one completed input, whose indexes begin with ``first``."""
    return [
        Draft(
            command_id=command.id,
            index=index,
            sender=command.sender,
            through=through,
            operation=operation,
            body=own,
            began=span.began if index == first else span.ended,
            ended=span.ended,
            text=text,
            place=place_of(body),
        )
        for index, (operation, own, text) in zip(
            count(first), _parts(body, keep_texts=keep_texts), strict=False
        )
    ]


_Part = tuple[str, dict[str, Any], str | None]
"""An operation, its body, and the text that the body lacks."""


def _parts(body: InputBody, *, keep_texts: bool) -> Iterator[_Part]:
    own, operation = body_of(body), body.input_name.value
    match body:
        case TypeText() | WriteClipboard():
            del own[TEXT_FIELDS[operation]]
            yield operation, own, body.text
        case SetElementValue(value=str(text)):
            del own[TEXT_FIELDS[operation]]
            yield operation, own, text
        case PressKeys() if not keep_texts and types_something(body.text):
            yield from _parts_of_keys(body)
        case _:
            yield operation, own, None


def _parts_of_keys(body: PressKeys) -> Iterator[_Part]:
    """Keys among which some type characters: these are texts like any other."""
    if body.down is not None or body.hold is not None or body.repeat > 1:
        yield GAP, {"reason": HELD}, None
        return
    for stroke in strokes(body.text):
        if isinstance(stroke, Typed):
            yield Operation.KEYBOARD_TYPE.value, {}, stroke.text
        else:
            yield Operation.KEYBOARD_KEY.value, {"text": stroke.keys}, None


def place_of(body: InputBody) -> tuple[int, int] | None:
    """The first place that it names, in the desktop's pixels, where it names one in them."""
    if not isinstance(body, MouseInput) or body.picture_size is not None:
        return None
    place = next(body.places, None)
    return None if place is None else (place.x, place.y)
