"""Whoever is killed under a program with a session, each step happens once: a short run."""

from pathlib import Path

from tests.faults.session_kills import SessionPlan, measure
from tests.faults.session_plan import Victim

KILLS, SEED = 7, 7
"""Enough that each kind comes, and few enough for every run of the tests."""


def test_each_step_of_a_session_happens_once_through_kills(
    mongodb: str, nats_url: str, display: str, tmp_path: Path
) -> None:
    """``python -m tests.faults --session-kills 300`` is the same, for longer."""
    kills = measure(SessionPlan(KILLS, SEED), tmp_path, mongodb, nats_url, display)
    print(kills.table())
    assert kills.wrong == []
    assert kills.kills.total() == KILLS
    assert {*kills.kills} == {*Victim}
