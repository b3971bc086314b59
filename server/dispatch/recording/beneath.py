"""What was found under the place of an input."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.inputs.selectors import Selector
from schemas.link.element_messages import SeenElement
from schemas.values.pictures import Region


@dataclass(slots=True)
class Beneath:
    """What is under a place, once that is known; None where it is not known in time.

    ``seen`` are the elements that there were before the input, by their refs, and ``left`` those
    that there were after it; None where they are not known, or other inputs came between.
    """

    place: tuple[int, int]
    seen: Mapping[str, SeenElement]
    selector: Selector | None = None
    box: Region | None = None
    left: Mapping[str, SeenElement] | None = None
