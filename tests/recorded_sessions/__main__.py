"""Random sessions, recorded and sent again: ``python -m tests.recorded_sessions``.

The exit code is 1 where any left something else behind than the first time, which is then printed
with its seed; ``--first SEED --sessions 1`` does it again.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.recorded_sessions.run import Session, measured

SESSIONS = 200


def main() -> int:
    """Run, and print what came of it; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.recorded_sessions", description=__doc__)
    parser.add_argument(
        "--sessions", type=int, default=SESSIONS, help=f"how many (default: {SESSIONS})"
    )
    parser.add_argument("--first", type=int, default=1, help="the seed of the first (default: 1)")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.sessions)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        outcome = measured(Path(directory), numbers, told=_tell)
    print(outcome.summary())
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")
    return 1 if outcome.different else 0


def _tell(session: Session) -> None:
    same = f"{session.seed} leaves the same behind, {len(session.steps)} steps"
    print(session.table() if session.differs else same, flush=True)


if __name__ == "__main__":
    sys.exit(main())
