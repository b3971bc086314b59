"""What is promised is kept while everything is killed, stopped and cut: the short fault run."""

from pathlib import Path

import pytest

from tests.faults.arrivals import FIELD
from tests.faults.other_desktops import DesktopName
from tests.faults.run import Plan, run
from tests.faults.verdict import Verdict

FAULTS = 55
COMMANDS = 200
SEED = 20_000

NODES = 3
FAULTS_OF_NODES = 15
COMMANDS_OF_NODES = 100
KINDS_OF_NODES = {
    "server killed",
    "server stopped",
    "server asleep, taken for gone, woken",
    "server drained",
    "NATS killed",
    "NATS stopped",
    "NATS cut off from a server",
    "NATS held up for a server",
    "MongoDB cut off from a server",
    "MongoDB held up for a server",
}

FAULTS_OF_DESKTOPS = 8
COMMANDS_OF_DESKTOPS = 60


def proven(plan: Plan, directory: Path) -> Verdict:
    """The verdict on a run in which all that was planned came, and every promise was kept."""
    verdict = run(plan, directory)
    print(verdict.table())
    told = "\n\n".join(verdict.described(violation) for violation in verdict.violations[:10])
    assert verdict.is_good, told
    assert len(verdict.evidence.faults) >= plan.faults
    assert len(verdict.evidence.commands) >= plan.commands
    return verdict


@pytest.mark.timeout(300)
def test_every_promise_is_kept_through_more_than_50_faults(tmp_path: Path) -> None:
    """``make faults`` is the same, for longer."""
    plan = Plan(FAULTS, SEED, COMMANDS, commands_per_second=15, pause=(0.5, 1.0))
    copies = proven(plan, tmp_path).evidence.copies
    assert any(each.selection == FIELD for of_one in copies.values() for each in of_one)


@pytest.mark.timeout(300)
def test_every_promise_is_kept_by_several_nodes(tmp_path: Path) -> None:
    """Each way to disturb them comes at least once."""
    plan = Plan(
        FAULTS_OF_NODES,
        SEED,
        COMMANDS_OF_NODES,
        commands_per_second=15,
        pause=(0.5, 1.0),
        nodes=NODES,
    )
    verdict = proven(plan, tmp_path)
    assert {fault.kind for fault in verdict.evidence.faults} >= KINDS_OF_NODES


@pytest.mark.timeout(300)
@pytest.mark.parametrize("desktop", ["wayland", "vnc"])
def test_every_promise_is_kept_on_other_desktops(tmp_path: Path, desktop: DesktopName) -> None:
    """Machine clients are killed at every point, and their desktops stand still."""
    plan = Plan(
        FAULTS_OF_DESKTOPS,
        SEED,
        COMMANDS_OF_DESKTOPS,
        commands_per_second=15,
        pause=(0.2, 0.4),
        desktop=desktop,
    )
    verdict = proven(plan, tmp_path)
    assert any("killed" in fault.kind for fault in verdict.evidence.faults)
    assert any(arrived for arrived in verdict.evidence.arrivals.values())
