"""What the doctor found at one hop between this desktop and its server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """How one hop is; where it is not good, ``what`` ends with what would mend it."""

    hop: str
    good: bool
    what: str
