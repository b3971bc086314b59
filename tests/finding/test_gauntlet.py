"""Recorded steps on a real form that has changed: the right thing is done, or nothing."""

from pathlib import Path
from typing import Any

import pytest

from schemas.steps.step import Step
from server.runs.finding import Halt, Verified, as_before, expected, find
from tests.finding.gauntlet import CHANGES, WORKFLOWS, Came, Change, by_picture_alone, run
from tests.finding.rig import Desk, desk
from tests.service import running_service


async def _all_at_once(there: Desk) -> None:
    """All that should change nothing for a step by elements."""
    for words in (("move", 300, 253), ("theme", "dark"), ("font", 13)):
        await there.tell(*words)
    await there.tell("orders", "4710,4711,4712,4713")


async def _moved_and_dark(there: Desk) -> None:
    """All that should change nothing for a step by its picture."""
    for words in (("move", 300, 253), ("theme", "dark"), ("orders", "4710,4711,4712,4713")):
        await there.tell(*words)


EDIT, NOTE = (each for each in WORKFLOWS if each.name in ("edit", "note"))
BY_NAME = {each.name: each for each in CHANGES}
GONE, TWICE, FILLED = (BY_NAME[name] for name in ("row gone", "row twice", "value already there"))


async def test_recorded_steps_on_a_form_that_has_changed(
    mongodb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing comes late here.
    monkeypatch.setattr("server.runs.finding.finding.PATIENCE_SECONDS", {})
    async with (
        running_service(mongodb, tmp_path / "server") as service,
        desk(service, tmp_path) as there,
    ):
        await _elements(there)
        await _pictures(there)
        await _expectations(there)
        await _what_cannot_be_found(there)


async def _elements(there: Desk) -> None:
    changes = (Change("all at once", _all_at_once), GONE, TWICE, FILLED)
    gauntlet = await run(there, (EDIT, NOTE), changes)
    assert gauntlet.wrong == [], gauntlet.table()
    assert gauntlet.needless == [], gauntlet.table()
    reasons = {
        (each.change.name, each.workflow.name): each.how.partition(":")[0]
        for each in gauntlet.tries
        if each.came is Came.HALTED
    }
    assert reasons == {
        ("row gone", "edit"): "surroundings",
        ("row gone", "note"): "focus",
        ("row twice", "edit"): "ambiguous",
        ("row twice", "note"): "ambiguous",
        ("value already there", "note"): "surroundings",
    }


async def _pictures(there: Desk) -> None:
    changes = (Change("moved and dark", _moved_and_dark), GONE, TWICE)
    gauntlet = await run(there, (EDIT,), changes, without=by_picture_alone)
    assert gauntlet.wrong == [], gauntlet.table()
    assert gauntlet.needless == [], gauntlet.table()
    assert [each.how.partition(":")[0] for each in gauntlet.tries[1:]] == [
        "surroundings",
        "ambiguous",
    ]


async def _expectations(there: Desk) -> None:
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
    assert await expected(there, nothing, await as_before(there, nothing)) == Verified()
    found = await expected(there, seen, await as_before(there, seen))
    assert isinstance(found, Verified)
    assert found.matched == 1
    missed = await expected(there, step(gone), await as_before(there, step(gone)))
    assert isinstance(missed, Halt)
    assert missed.reason == "not_seen"
    assert missed.expected == ("the element role 'push button' name 'Print'",)
    assert missed.picture is not None
    changed = step({"changed": True})
    before = await as_before(there, changed)
    await there.tell("title", "Orders of May")
    await there.tell("fill", "customer Grace")
    # It was over before anybody began to wait.
    assert isinstance(await expected(there, changed, before), Verified)
    kept = step({"picture": "0" * 64})
    lost = await expected(there, kept, await as_before(there, kept))
    assert isinstance(lost, Halt)
    assert lost.why == "the picture that the step waits for is not kept any more"


async def _what_cannot_be_found(there: Desk) -> None:
    async def halted(**said: Any) -> Halt:
        found = await find(there, Step(operation="mouse.click", **said))
        assert isinstance(found, Halt), found
        assert found.picture is not None
        return found

    place = {"x": 5, "y": 5}
    assert (await halted(body=place, target={"display": 0})).reason == "unfindable"
    named = {"element": {"role": "push button", "name": "Print"}}
    assert (await halted(body=named)).reason == "missing"
    assert (await halted(body=place, target=named)).reason == "missing"
    edit = {"element": {"role": "push button", "name": "Edit"}}
    twice = await halted(body=edit)
    assert (twice.reason, len(twice.candidates)) == ("ambiguous", 3)
    await there.tell("disable", "Save")
    save = {"element": {"role": "push button", "name": "Save"}}
    assert (await halted(body=save)).reason == "not_usable"
    assert (await halted(body=place, target=save)).reason == "not_usable"
    await there.tell("enable", "Save")
    alone = await find(there, Step(operation="mouse.click", body=place))
    assert not isinstance(alone, Halt)
    assert (alone.how, alone.body) == ("none needed", place)
