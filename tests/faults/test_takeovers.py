"""The machines of a killed node work through the others, and no input is injected twice."""

from collections import Counter
from pathlib import Path

import pytest

from tests.faults.arrivals import Place
from tests.faults.history import FinalAnswer
from tests.faults.takeover_clients import Move
from tests.faults.takeovers import TakeoverPlan, Takeovers, measure

PLACE = Place(1, 2)
COMPLETED, NEVER = FinalAnswer(200, b"{}"), FinalAnswer(503, b'{"final": true}')
UNKNOWN = FinalAnswer(502, b'{"final": true}')


def broken_by(injected: int, *answers: FinalAnswer) -> set[str]:
    move = Move("light-1", PLACE, "key", list(answers))
    takeovers = Takeovers(moves=[move], injected=Counter({("light-1", PLACE): injected}))
    return {name for name, moves in takeovers.wrong().items() if moves}


@pytest.mark.parametrize(
    ("injected", "answers", "broken"),
    [
        (1, [COMPLETED, COMPLETED], set()),
        (0, [NEVER], set()),
        (2, [COMPLETED], {"double injections"}),
        (0, [COMPLETED], {'"completed" and not injected'}),
        (1, [NEVER], {'"not carried out", and injected'}),
        (1, [COMPLETED, FinalAnswer(200, b"[]")], {"final answers that differ"}),
        (0, [], {"keys without a final answer"}),
        (0, [UNKNOWN], {"neither completed nor not carried out"}),
    ],
)
def test_every_broken_promise_is_seen(
    injected: int, answers: list[FinalAnswer], broken: set[str]
) -> None:
    assert broken_by(injected, *answers) == broken


@pytest.mark.timeout(300)
def test_machines_of_a_killed_node_work_through_the_others(tmp_path: Path) -> None:
    takeovers = measure(TakeoverPlan(kills=2, machines=12), tmp_path)
    print(takeovers.table())
    assert takeovers.kills == 2
    assert takeovers.seconds
    assert not any(takeovers.wrong().values()), takeovers.wrong()
