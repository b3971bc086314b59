"""Whole lives of the real core, from their seeds: see tests/simulation/life.py."""

import subprocess
from pathlib import Path

import pytest

from machine_client.journal.journal import Journal
from tests.simulation.__main__ import run, run_in_processes
from tests.simulation.clocks import Clocks, simulated
from tests.simulation.life import live
from tests.simulation.summary import Summary

SEEDS = 5_000
"""Each rule that test_rules.py breaks shows earlier.  ``make simulation`` runs 100,000."""

PROCESSES = 2
PROJECT = Path(__file__).parents[2]


def first_seed() -> int:
    """Where to begin: each commit runs other lives, and always the same ones."""
    git = ["git", "-C", str(PROJECT), "rev-parse", "--short=7", "HEAD"]
    try:
        said = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0  # an unpacked source archive
    return int(said, 16)


@pytest.mark.timeout(1500)
def test_every_promise_is_kept_whatever_fails() -> None:
    summary = run_in_processes(first_seed(), SEEDS, PROCESSES)
    print(summary.table())
    assert not summary.failed, summary.table()
    assert summary.seeds == SEEDS
    # What is promised was put to the test.
    for fault in (
        *("link cut", "client killed", "node killed", "journal restored", "write late"),
        *("somebody holds something", "paused by an operator", "client told to stop"),
        *("bus away", "bus away from a node", "node stopped and woken"),
        *("request lost", "request late", "request repeated"),
        *("reply lost", "reply late", "reply repeated"),
    ):
        assert summary.faults[fault] > SEEDS / 100
    for ending in (
        *("completed", "not carried out", "outcome unknown", "failed", "refused", "already down"),
        "released after a kill",
        *("pauses told", "pauses found out"),
        *("taken by a person", "batches sent by hand"),
        *("several actions: completed", "several actions: outcome unknown"),
        *("several actions: interrupted", "several actions: failed", "several actions: refused"),
        *("not seen", "several actions: not seen"),
        *("forwarded with a key: answered", "forwarded with a key: lost"),
        *("forwarded without a key: answered", "forwarded without a key: lost"),
        *("taken privately", "made private", "looks: private", "looks: shown"),
    ):
        assert summary.facts[ending] > SEEDS / 100


def traced(seed: int, clocks: Clocks) -> list[str]:
    """A seed's whole history."""
    return live(seed, clocks, tracing=True).trace_lines


def test_a_seed_is_always_the_same_history() -> None:
    with simulated() as clocks:
        first = [traced(seed, clocks) for seed in range(10)]
        again = [traced(seed, clocks) for seed in reversed(range(10))]
    assert first == again[::-1]
    assert all(len(history) > 20 for history in first)
    assert first[0] != first[1]


def test_telling_a_history_does_not_change_it() -> None:
    with simulated() as clocks:
        for seed in range(5):
            silent, loud = live(seed, clocks), live(seed, clocks, tracing=True)
            assert (silent.seconds, silent.faults, silent.facts) == (
                loud.seconds,
                loud.faults,
                loud.facts,
            )


def test_a_seed_that_fails_is_told_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "intend", lambda *_: True)
    summary = run(0, 30)
    seed = min(summary.failed)
    table = summary.table()
    assert f"python -m tests.simulation --seed {seed}" in table
    assert f"seed {seed}:" in summary.history
    assert any("VIOLATION" in line for line in summary.history)
    with simulated() as clocks:
        assert live(seed, clocks).violations[0] == summary.failed[seed]
    assert Summary.from_json(summary.as_json()) == summary
