"""Inputs that name elements, as commands: what is journaled where one is missing, or stuck."""

from collections.abc import Callable
from typing import Any

import pytest

from machine_client.work.injector import OutcomeUnknown, Refusal
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Completed, Outcome, Refused, Stopped, Unknown, results_of
from schemas.link.messages import Input
from tests.links import LINK_ID
from tests.machine_client.fakes import raising
from tests.machine_client.work.test_batch import BEGIN_BY, COMMAND, Bench, Killed, move, statuses

SAVE = {"operation": "mouse.move", "element": {"name": "Save"}}
MISSING = Refusal(Refused(code="element_missing", message="no such", loc=("body", "element")))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def single(bench: Bench) -> Outcome:
    command = Input(
        link_id=LINK_ID,
        command_id=COMMAND,
        operation=Operation.MOUSE_MOVE,
        body={"element": {"name": "Save"}},
        fingerprint="f",
        expires_at=0,
        server_time=0,
    )
    return bench.worker.carry_out(command, BEGIN_BY).outcome


@pytest.mark.parametrize("when", ["on_prepare", "on_inject"])
def test_missing_element_is_refused_for_ever_whenever_it_was_missed(
    bench: Bench, when: str
) -> None:
    setattr(bench.desktop, when, raising(MISSING))
    outcome = single(bench)
    assert outcome == MISSING.outcome
    setattr(bench.desktop, when, lambda: None)
    assert single(bench) == bench.after_a_kill() == outcome


def test_program_that_is_stuck_leaves_it_unknown_for_ever(bench: Bench) -> None:
    bench.desktop.on_inject = raising(OutcomeUnknown("it does not answer"))
    assert single(bench) == Unknown()
    assert single(bench) == bench.after_a_kill() == Unknown()
    assert bench.notes.count("inject None") == 1


def test_machine_client_killed_in_the_middle_of_it_never_does_it_again(bench: Bench) -> None:
    bench.desktop.on_inject = raising(Killed())
    with pytest.raises(Killed):
        single(bench)
    assert bench.after_a_kill(power_cut=True) == Unknown()
    assert single(bench) == Unknown()
    assert bench.notes.count("inject None") == 1


def at_second_look(bench: Bench, what: Callable[[], None]) -> None:
    """Do something when the element of the second action is looked for, its check aside."""
    looks: list[None] = []

    def look() -> None:
        looks.append(None)
        if len(looks) == 5:
            what()

    bench.desktop.on_prepare = look


def test_element_is_looked_for_when_it_is_its_turn_and_stops_the_rest(bench: Bench) -> None:
    at_second_look(bench, raising(MISSING))
    outcome = bench.carry_out([move(1), SAVE, move(3)])
    assert isinstance(outcome, Stopped)
    assert statuses(outcome) == ["completed", "not_seen", "not_begun"]
    results: Any = results_of(outcome)
    assert (results[1].code, results[1].message) == ("element_missing", "no such")
    assert bench.after_a_kill() == outcome


def test_action_whose_program_is_stuck_is_the_unknown_one(bench: Bench) -> None:
    bench.at(1, lambda: setattr(bench.desktop, "on_inject", raising(OutcomeUnknown("stuck"))))
    outcome = bench.carry_out([move(1), SAVE, move(3)])
    assert isinstance(outcome, Unknown)
    assert statuses(outcome) == ["completed", "unknown", "not_begun"]


def test_action_at_an_element_is_marked_like_any_other(bench: Bench) -> None:
    assert isinstance(bench.carry_out([SAVE, move(2)]), Completed)
    assert bench.notes == ["?-*", "inject None", "c-", "c?*", "inject 2", "cc"]
