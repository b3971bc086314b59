"""How like something has to be to be taken for a step's target, all in one place."""

from typing import Final

STILL_SECONDS: Final = 0.3
"""The screen is still before anything is sought; a caret that blinks is still."""

SETTLE_SECONDS: Final = 2.0
"""A screen that never is, is looked at after so long."""

SAME_SIZE: Final = 2
"""Pixels by which an element may be larger or smaller, where a place within it counts."""

MOST_CANDIDATES: Final = 8
"""Of those that a halt tells of, the likeliest first."""

MOST_ALIKE: Final = 50
"""Elements among which one is found by what is around it."""
