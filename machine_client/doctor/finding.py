"""What the doctor found at one hop between this desktop and its server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """How one hop is; where it is not good, ``what`` ends with what would mend it."""

    hop: str
    good: bool
    what: str
    is_doubtful: bool = False
    """Good, and yet something to mend."""

    def __str__(self) -> str:
        mark = "FAIL" if not self.good else "warn" if self.is_doubtful else "ok  "
        return f"{mark} {self.hop}: {self.what}"


def fault(hop: str, what: str) -> Finding:
    """What is wrong at one hop."""
    return Finding(hop, False, what)
