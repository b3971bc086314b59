"""What is promised is kept while everything is killed, stopped and cut: the short fault run."""

from pathlib import Path

import pytest

from tests.faults.run import Plan, run

FAULTS = 55
COMMANDS = 200
SEED = 20_000


@pytest.mark.timeout(300)
def test_every_promise_is_kept_through_more_than_50_faults(tmp_path: Path) -> None:
    """``make faults`` is the same, for longer."""
    plan = Plan(FAULTS, SEED, COMMANDS, commands_per_second=15, pause=(0.5, 1.0))
    verdict = run(plan, tmp_path)
    print(verdict.table())
    told = "\n\n".join(verdict.described(violation) for violation in verdict.violations[:10])
    assert verdict.is_good, told
    assert len(verdict.evidence.faults) >= FAULTS
    assert len(verdict.evidence.commands) >= COMMANDS
