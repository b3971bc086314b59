"""How like something has to be to be taken for a step's target, all in one place."""

from collections.abc import Mapping
from typing import Final

STILL_SECONDS: Final = 0.3
"""The screen is still before anything is sought; a caret that blinks is still."""

SETTLE_SECONDS: Final = 2.0
"""A screen that never is, is looked at after so long."""

PATIENCE_SECONDS: Final[Mapping[str, float]] = {
    "missing": 10.0,
    "focus": 10.0,
    "surroundings": 3.0,
}
"""By the reason of a halt, for which it is looked again whenever the screen has changed: a program
that starts shows its window after some seconds, and what stands around a field a moment later."""

UNANSWERED_SECONDS: Final = 15.0
"""For which it is looked again where nobody answers: the machine's node may have been killed, and
the machine be on its way to another, or it has much to do.  A screen that just got another size may
show nothing for a moment, too."""

BLIND_SECONDS: Final = 0.5
"""After which it is looked again where no screen tells of a change."""

SAME_SIZE: Final = 2
"""Pixels by which an element may be larger or smaller, where a place within it counts."""

MOST_CANDIDATES: Final = 8
"""Of those that a halt tells of, the likeliest first."""

LOOKS_AGAIN: Final = 5
AGAIN_SECONDS: Final = 0.05
"""At elements that have no sure place, as those of a window that is just changing its size."""

CARET_SECONDS: Final = 0.25
"""Between two looks at where keys go to, of as many: a caret that was there when it was recorded
may be away at the moment, or the other way round."""

MOST_ALIKE: Final = 50
"""Elements among which one is found by what is around it."""

LINE_HEIGHT: Final = 32
"""Pixels of a line, where no element says how high it is."""

MOST_LINE_HEIGHT: Final = 64

LINE_REACH: Final = 480
"""Pixels to each side of a place within which all of its line has to be as it was."""

LEAST_LINE: Final = 1.0
"""Of what there is to see in a target's line: all of it."""

LEAST_AROUND: Final = 0.5
"""Of what there is to see around a target, above and below its line as well."""

SAME_WAY: Final = 3
"""Pixels between where a step ends and where it should, as seen from where it begins."""
