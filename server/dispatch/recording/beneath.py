"""What was found under the place of an input, or had the focus when keys came."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.inputs.selectors import Selector
from schemas.link.element_messages import SeenElement
from schemas.steps.surroundings import Around
from schemas.values.pictures import Region


@dataclass(slots=True)
class Beneath:
    """What is under a place, once that is known; None where it is not known in time.

    ``seen`` are the elements that there were before the input, by their refs.  Keys have no place:
    they go to what has the focus.
    """

    place: tuple[int, int] | None
    seen: Mapping[str, SeenElement]
    selector: Selector | None = None
    box: Region | None = None
    around: Around | None = None
