"""Nobody notices that every node is restarted in turn, but for one retry."""

from collections import Counter
from pathlib import Path

import pytest

from tests.faults.arrivals import Place
from tests.faults.history import FinalAnswer
from tests.faults.restarts import RestartPlan, Restarts, measure
from tests.faults.takeover_clients import Move
from tests.faults.takeovers import Takeovers


@pytest.mark.parametrize(("problems", "is_wrong"), [([], False), (["a"], False), (["a"] * 2, True)])
def test_second_retry_is_one_too_many(problems: list[str], is_wrong: bool) -> None:
    place = Place(1, 2)
    move = Move("light-1", place, "key", [FinalAnswer(200, b"{}")], problems=problems)
    witnessed = Takeovers(moves=[move], injected=Counter({("light-1", place): 1}))
    restarts = Restarts(drained=[1.0], witnessed=witnessed)
    assert any(restarts.wrong().values()) == is_wrong
    assert "nodes restarted" in restarts.table()


@pytest.mark.timeout(300)
def test_rolling_restart_is_noticed_by_nobody(tmp_path: Path) -> None:
    restarts = measure(RestartPlan(rounds=1, machines=12, rate=20, pause=1), tmp_path)
    print(restarts.table())
    assert len(restarts.drained) == 3
    assert restarts.lost_machines == 0
    assert restarts.witnessed.moves
    assert not any(restarts.wrong().values()), restarts.wrong()
