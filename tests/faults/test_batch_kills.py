"""Whenever a program is killed, what is told of several actions is true: a short run of kills."""

from pathlib import Path

from tests.faults.batch_kills import CLIENT, CUT, SERVER, KillPlan, measure

KILLS, SEED = 15, 7
"""Enough that each kind comes, and few enough for every run of the tests."""


def test_every_promise_about_several_actions_is_kept_through_kills(
    mongodb: str, display: str, tmp_path: Path
) -> None:
    """``python -m tests.faults --batch-kills 500`` is the same, for longer."""
    kills = measure(KillPlan(KILLS, SEED), tmp_path, mongodb, display)
    print(kills.table())
    assert kills.wrong == []
    assert kills.kills.total() == KILLS
    assert set(kills.kills) == {SERVER, CLIENT, CUT}
