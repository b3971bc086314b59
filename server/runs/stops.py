"""Why a run does not go on: each of these is raised where it is noticed."""

from collections.abc import Mapping, Sequence
from typing import Final

from schemas.inputs.pictures import Area
from schemas.runs.runs import Candidate, RunStatus
from schemas.values.pictures import Region
from server.dispatch.questions.screens import PictureTaken
from server.runs.finding import Halt

# ruff: noqa: N818  these are turns in the life of a run, and read better without


_WITHOUT_SCREEN: Final[Mapping[str, str]] = {
    "ambiguous": "several places on the screen are like that of the step",
    "focus": "its keys would go elsewhere",
    "input_refused": "the machine has refused its input",
    "missing": "nothing on the screen is like what the step was done to",
    "not_seen": "what the step leads to was not seen in time",
    "not_usable": "what the step was done to cannot be used now",
    "surroundings": "what stands around its place is not what stood there",
    "unfindable": "its place cannot be found on the screen as it is",
}
"""What is said of those halts whose words may repeat what the screen shows."""


class Halting(Exception):
    """A person has to look: ``reason`` is for programs, ``detail`` for people.

    ``is_unknown`` is whether nobody knows if the step's input was done, ``is_done`` whether it was.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        is_done: bool = False,
        is_unknown: bool = False,
        picture: PictureTaken | None = None,
        candidates: Sequence[Candidate] = (),
        seen: Sequence[str] = (),
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = "\n".join([detail, *seen])
        self._why = detail
        self.is_done = is_done
        self.is_unknown = is_unknown
        self.picture = picture
        self.candidates = tuple(candidates)

    def without_screen(self) -> "Halting":
        """The same without what was read from the screen."""
        why = _WITHOUT_SCREEN.get(self.reason, self._why)
        return Halting(self.reason, why, is_done=self.is_done, is_unknown=self.is_unknown)

    @classmethod
    def of(cls, halt: Halt, *, is_done: bool = False) -> "Halting":
        """What looking for a step's place, or for what it led to, has come to."""
        lines = [
            *(f"should be: {line}" for line in halt.expected),
            *(f"is: {line}" for line in halt.actual),
        ]
        candidates = [
            Candidate(at=_area(each.box), score=each.score, text=each.what)
            for each in halt.candidates
        ]
        return cls(
            halt.reason,
            halt.why,
            is_done=is_done,
            picture=halt.picture,
            candidates=candidates,
            seen=lines,
        )


def _area(box: Region | None) -> Area | None:
    """A place as it is stored; None of one that has no size."""
    if box is None or box.width < 1 or box.height < 1:
        return None
    return Area.model_validate(box._asdict())


class Ending(Exception):
    """The run cannot go on, whoever looks: it ends in this status, and ``str()`` says why."""

    def __init__(self, status: RunStatus, why: str | None = None) -> None:
        super().__init__(why or status)
        self.status = status
        self.why = why


class Unavailable(Exception):
    """The machine does nothing at the moment, and nothing was sent: ``str()`` says why."""


class Lost(Exception):
    """Another node has gone on with the run: this one does and writes nothing more of it."""


class HandedOver(Exception):
    """This node ends, and another is to go on at once."""
