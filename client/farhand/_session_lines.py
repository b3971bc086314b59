"""What stands in a session's file, and which lines may follow each other.

Each line is JSON: one for the session, one for each try of an input before that is sent, one with
its final answer, one for each decision, and one at the session's end.  A step, which is an input or
a decision, is begun once the one before has ended: so at most the last is open, and whatever a
crash leaves of the file is a beginning of it.
"""

import json
import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter

from farhand._answers import Reply
from farhand.errors import SessionError, SessionFinished

VERSION: Final = 1

End: TypeAlias = Literal["done", "nothing", "other"]
"""How an input ended: ``nothing`` is that it never happened, ``other`` that a part may have."""


class _Line(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, strict=True, defer_build=True
    )


class Head(BaseModel):
    """The first line."""

    session: str
    version: int


class Begun(_Line):
    """A try of an input, before it is sent; ``step`` is its place in the session, from 0."""

    step: int
    attempt: int
    """How many tries were before, none of which happened."""
    fingerprint: str
    """Of the input, in the place of its text."""
    at: float
    """Seconds since 1970."""


class Ended(_Line):
    """The final answer to that try."""

    step: int
    attempt: int
    ended: End
    status: int
    answer: Any

    @property
    def reply(self) -> Reply:
        """The answer, as the server gives it again."""
        kind = "problem+json" if self.status >= 400 else "json"
        headers = {"Content-Type": f"application/{kind}", "Idempotency-Replayed": "true"}
        return Reply(self.status, headers, json.dumps(self.answer).encode())


class Decided(_Line):
    """What was decided at a place."""

    step: int
    decided: Any


class Finished(_Line):
    """That all is done."""

    finished: float
    """Seconds since 1970."""


Line: TypeAlias = Begun | Ended | Decided | Finished


@dataclass(frozen=True)
class Input:
    """The last try of an input, and its answer, once there is one."""

    begun: Begun
    end: Ended | None = None

    @property
    def place(self) -> int:
        """Its number among the session's steps, from 0."""
        return self.begun.step

    @property
    def never_happened(self) -> bool:
        """Whether it may be tried again under a new key."""
        return self.end is not None and self.end.ended == "nothing"

    def next_try(self, fingerprint: str) -> Begun:
        """Another try, at the same place."""
        return tried_now(self.begun.step, fingerprint, self.begun.attempt + 1)

    def is_followed_by(self, line: Begun) -> bool:
        """Whether it is the next try at the same place."""
        place = self.begun.step, self.begun.attempt + 1
        return self.never_happened and (line.step, line.attempt) == place

    def is_ended_by(self, line: Ended) -> bool:
        """Whether it is this try's answer, and the first."""
        place = self.begun.step, self.begun.attempt
        return self.end is None and (line.step, line.attempt) == place


Step: TypeAlias = Input | Decided


def tried_now(step: int, fingerprint: str, attempt: int = 0) -> Begun:
    """A try that begins now."""
    return Begun(step=step, attempt=attempt, fingerprint=fingerprint, at=time.time())


def head_of(name: str) -> bytes:
    """The first line of a session's file."""
    return Head(session=name, version=VERSION).model_dump_json().encode()


def steps_in(content: bytes, name: str) -> list[Step]:
    """The last try of each input.  What stands behind the last line's end is not looked at.

    Raises a SessionError where it is another's content, and SessionFinished.
    """
    head, *lines = content.split(b"\n")
    if not lines:
        # Nothing, or a first line that was not written to its end.
        if not head_of(name).startswith(head):
            raise SessionError("is no session's file")
        return []
    _check(head, name)
    steps: list[Step] = []
    for number, line in enumerate(lines[:-1], 2):
        try:
            _take(_any_line().validate_json(line), steps, name)
        except ValueError:
            raise SessionError(f"is no session's file: look at line {number}") from None
    return steps


def _check(line: bytes, name: str) -> None:
    try:
        head = Head.model_validate_json(line)
    except ValueError:
        raise SessionError("is no session's file") from None
    if head.version != VERSION:
        raise SessionError("was written by a newer version of this library")
    if head.session != name:
        raise SessionError(f"is of the session {head.session!r}, and not of {name!r}")


def _take(line: Line, steps: list[Step], name: str) -> None:
    """Add what a line says.  Raises ValueError where it cannot follow on those before."""
    last = steps[-1] if steps else None
    known = last if isinstance(last, Input) else None
    match line:
        case Finished():
            raise SessionFinished(f"the session {name} came to its end before: all of it is done")
        case Ended() if known is not None and known.is_ended_by(line):
            steps[-1] = replace(known, end=line)
        case Begun() if known is not None and known.is_followed_by(line):
            steps[-1] = Input(line)
        case Decided() if known is not None and known.never_happened and line.step == known.place:
            steps[-1] = line
        case Begun(attempt=0) | Decided() if line.step == len(steps) and not is_open(last):
            steps.append(Input(line) if isinstance(line, Begun) else line)
        case _:
            raise ValueError("it cannot follow")


def is_open(step: Step | None) -> bool:
    """Whether it is an input without an answer."""
    return isinstance(step, Input) and step.end is None


@cache
def _any_line() -> TypeAdapter[Line]:
    return TypeAdapter(Line)
