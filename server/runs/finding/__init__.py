"""One step of a run on the screen as it is now: where it belongs, and whether it came true.

`find` says where, or why nobody knows; nothing is pressed here.  `expected` waits for what a step
is to bring about.
"""

from server.runs.finding.expecting import as_before, expected
from server.runs.finding.finding import find
from server.runs.finding.outcomes import Before, Candidate, Found, Halt, HaltReason, Verified
from server.runs.finding.typed import typed_in

__all__ = [
    "Before",
    "Candidate",
    "Found",
    "Halt",
    "HaltReason",
    "Verified",
    "as_before",
    "expected",
    "find",
    "typed_in",
]
