"""What was found under the place of an input, or had the focus when keys came."""

from dataclasses import dataclass

from schemas.inputs.selectors import Selector
from schemas.steps.surroundings import Around
from schemas.values.pictures import Region
from server.dispatch.recording.around import Elements


@dataclass(slots=True)
class Beneath:
    """What is under a place, once that is known; None where it is not known in time.

    ``seen`` are the elements that there were before the input, by their refs, and ``left`` those
    that there were after it; None where they are not known, or other inputs came between.  Keys
    have no place: they go to what has the focus.
    """

    place: tuple[int, int] | None
    seen: Elements
    selector: Selector | None = None
    box: Region | None = None
    around: Around | None = None
    ref: str | None = None
    left: Elements | None = None
