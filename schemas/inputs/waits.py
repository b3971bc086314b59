"""Conditions that the screen meets."""

from typing import Literal

from schemas.values.strict import StrictModel


class Still(StrictModel):
    """stub"""

    still: float


class Changed(StrictModel):
    """stub"""

    changed: Literal[True]


Conditions = tuple[Still | Changed, ...]
