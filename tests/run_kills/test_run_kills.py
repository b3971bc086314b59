"""A short part of ``python -m tests.run_kills``: each point of runs once, and some at random."""

from collections.abc import Iterator
from itertools import cycle

import pytest

from schemas.programs.failpoints import Failpoint
from tests.faults.world import World
from tests.run_kills.bench import bench
from tests.run_kills.desk import Desk
from tests.run_kills.kills import struck
from tests.run_kills.table import table_struck
from tests.run_kills.together import run_together
from tests.run_kills.victims import Victim

POINTS = (
    *(Failpoint.BEFORE_ATTEMPT, Failpoint.AFTER_ATTEMPT, Failpoint.BEFORE_STEP_DONE),
    *(Failpoint.AFTER_STEP_DONE, Failpoint.IN_CHECKS, Failpoint.AFTER_STEP),
    *(Failpoint.BEFORE_HALT, Failpoint.AFTER_HALT, Failpoint.AFTER_CONTINUE),
    *(Failpoint.BEFORE_HANDOVER, Failpoint.BEFORE_RUN_END, Failpoint.AFTER_RUN_END),
)
"""Those of inputs have tests of their own, and all of them the long run."""

QUICKLY_BACK = (Victim.CLIENT, Victim.FORM, Victim.NATS)
"""``tests/end_to_end/test_run_crashes.py`` kills nodes at each point, and waits once for all."""

Shared = tuple[World, list[Desk]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    # Nobody loses a link, or an answer, for want of a processor.
    patient = {"heartbeat": "20", "input_timeout": "30"}
    with bench(tmp_path_factory.mktemp("kills"), machines=2, **patient) as running:
        yield running


@pytest.mark.timeout(600)
def test_nothing_is_done_twice_whoever_is_killed_at_whichever_point(shared: Shared) -> None:
    world, desks = shared
    cells = [*zip(POINTS, cycle(QUICKLY_BACK), strict=False)]
    came, left = table_struck(cells, world, desks[0])
    assert (came.wrong, left) == ([], []), came.table()


@pytest.mark.timeout(600)
def test_nothing_is_done_twice_whoever_is_killed_at_random(shared: Shared) -> None:
    came = struck(2, 1, *shared)
    assert came.wrong == [], came.table()


@pytest.mark.timeout(600)
def test_runs_that_one_request_begins_all_end_right_under_a_killed_node(shared: Shared) -> None:
    came = run_together(4, 1, *shared)
    assert (came.wrong, came.statuses) == ([], {"success": 4}), came.table()
