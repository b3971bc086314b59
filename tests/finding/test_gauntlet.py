"""Recorded steps on real forms that have changed: the right thing is done, or nothing."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schemas.steps.step import Step
from server.runs.finding import Halt, Verified, as_before, expected, find
from server.runs.machine import RunMachine
from tests.finding.desk import Desk, desks
from tests.finding.gauntlet import Course, run
from tests.finding.judging import Came
from tests.finding.results import Result, Way, table
from tests.finding.scenario import CHANGES, Change, Scenario, Subject, usual
from tests.finding.workflows import WORKFLOWS
from tests.service import running_service

BY_NAME = {each.name: each for each in CHANGES}
LATE_SECONDS = 20.0
"""For what comes late on a busy machine, such as a dialog that a click opens."""


def _halting_at_once(monkeypatch: pytest.MonkeyPatch, *reasons: str) -> None:
    """Have what is not there be waited for, unless it is for one of these reasons."""
    patience = dict.fromkeys({"missing", "focus", "surroundings"}.difference(reasons), LATE_SECONDS)
    monkeypatch.setattr("server.runs.finding.finding.PATIENCE_SECONDS", patience)


def _all_at_once(scenario: Scenario, subject: Subject, chance: Random) -> Scenario:
    """All that should change nothing for steps by elements."""
    for name in ("moved window", "dark theme", "larger font", "look-alike above"):
        scenario = BY_NAME[name].of(scenario, subject, chance)
    return scenario


def _moved_and_alike(scenario: Scenario, subject: Subject, chance: Random) -> Scenario:
    """All that should change nothing for steps by their pictures."""
    for name in ("moved window", "look-alike above"):
        scenario = BY_NAME[name].of(scenario, subject, chance)
    return scenario


ALL_AT_ONCE = Change("all at once", _all_at_once)
MOVED_AND_ALIKE = Change("moved, and a look-alike above", _moved_and_alike)


def _course(name: str, way: Way, *changes: Change) -> Course:
    workflow = next(each for each in WORKFLOWS if each.name == name)
    return Course(workflow, way, 1, changes)


@pytest.mark.timeout(600)
async def test_recorded_workflows_on_forms_that_have_changed(
    mongodb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def _lost(scenario: Scenario, subject: Subject, chance: Random) -> Scenario:
        # It comes last of the only course with keys.
        _halting_at_once(monkeypatch, "surroundings", "focus")
        return BY_NAME["lost focus"].of(scenario, subject, chance)

    _halting_at_once(monkeypatch, "surroundings")
    async with (
        running_service(mongodb, tmp_path / "server") as service,
        desks(service, tmp_path, 2) as there,
    ):
        gone, filled = BY_NAME["row gone"], BY_NAME["filled already"]
        lost = replace(BY_NAME["lost focus"], of=_lost)
        results = await run(
            there,
            (
                _course("note", Way(by_elements=True, by_hand=True), ALL_AT_ONCE, filled, lost),
                _course("dialog", Way(by_elements=True, by_hand=False), ALL_AT_ONCE, gone),
                _course("edit", Way(by_elements=False, by_hand=False), MOVED_AND_ALIKE, gone),
            ),
            lambda _: None,
        )
        _check(results)
        async with there[0].shows("gtk3", FORM, tells_elements=True):
            await _expectations(there[0])
            await _what_cannot_be_found(there[0], monkeypatch)


def _check(results: Sequence[Result]) -> None:
    """What came of each, and why those halted that had to."""
    seen = {(each.workflow, each.change): each for each in results}
    went = [(name, change) for name, change in seen if seen[name, change].came is Came.RIGHT]
    assert sorted(went) == [
        ("dialog", ALL_AT_ONCE.name),
        ("edit", MOVED_AND_ALIKE.name),
        ("note", ALL_AT_ONCE.name),
    ], table(results)
    assert {key: seen[key].how.split(":")[0] for key in seen if key not in went} == {
        ("note", "filled already"): "step 2 surroundings",
        ("note", "lost focus"): "step 2 focus",
        ("dialog", "row gone"): "step 1 surroundings",
        ("edit", "row gone"): "step 1 surroundings",
    }, table(results)


FORM = replace(usual(Random(1)), disabled=("Save",))


def _machine(desk: Desk) -> RunMachine:
    services = desk.service.server.services
    return RunMachine(
        desk.service.organization_id,
        desk.machine_id,
        services.machines.dispatcher,
        services.library.pictures,
    )


async def _expectations(desk: Desk) -> None:
    machine = _machine(desk)

    def step(*conditions: Any, timeout: float = 0.3) -> Step:
        return Step(
            operation="keyboard.key",
            body={"text": "esc"},
            expect={"any": conditions, "timeout": timeout},
        )

    save = {"element": {"role": "push button", "name": "Save"}}
    gone = {"element": {"role": "push button", "name": "Print"}}
    seen = step(gone, save, timeout=60)
    nothing = Step(operation="wait", body={"seconds": 1})
    assert await expected(machine, nothing, await as_before(machine, nothing)) == Verified()
    found = await expected(machine, seen, await as_before(machine, seen))
    assert isinstance(found, Verified)
    assert found.matched == 1
    missed = await expected(machine, step(gone), await as_before(machine, step(gone)))
    assert isinstance(missed, Halt)
    assert missed.reason == "not_seen"
    assert missed.expected == ("the element role 'push button' name 'Print'",)
    assert missed.picture is not None
    changed = step({"changed": True}, timeout=60)
    before = await as_before(machine, changed)
    ticked = await desk.service.post(
        desk.machine.input_path("mouse/click"),
        {"element": {"role": "check box", "name": "Paid"}},
    )
    assert ticked.status == 200, ticked.body
    # It was over before anybody began to wait.
    assert isinstance(await expected(machine, changed, before), Verified)
    kept = step({"picture": "0" * 64})
    lost = await expected(machine, kept, await as_before(machine, kept))
    assert isinstance(lost, Halt)
    assert lost.why == "the picture that the step waits for is not kept any more"


async def _what_cannot_be_found(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _machine(desk)

    async def halted(reason: str, **said: Any) -> Halt:
        _halting_at_once(monkeypatch, reason)
        found = await find(machine, Step(operation="mouse.click", **said))
        assert isinstance(found, Halt), found
        assert found.reason == reason
        assert found.picture is not None
        return found

    place = {"x": 5, "y": 5}
    await halted("unfindable", body=place, target={"display": 0})
    named = {"element": {"role": "push button", "name": "Print"}}
    await halted("missing", body=named)
    await halted("missing", body=place, target=named)
    edit = {"element": {"role": "push button", "name": "Edit"}}
    assert len((await halted("ambiguous", body=edit)).candidates) == 3
    save = {"element": {"role": "push button", "name": "Save"}}
    await halted("not_usable", body=save)
    await halted("not_usable", body=place, target=save)
    alone = await find(machine, Step(operation="mouse.click", body=place))
    assert not isinstance(alone, Halt)
    assert (alone.how, alone.body) == ("none needed", place)
