"""Pausing a machine on real parts: nothing of programs goes on, and all of who has control does."""

from typing import Any

import pytest

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses, sees, travels
from tests.held import NOTHING, held_on
from tests.processes import until

DRAG = {"start_x": 10, "start_y": 10, "to_x": 600, "to_y": 600, "duration": 50}
DRAGGING = {"operation": "mouse.drag", **DRAG}
A_CLICK = {"operation": "mouse.click", "x": 100, "y": 200}


def pause(desk: Workstation, *, paused: bool = True) -> None:
    path = f"/v1/machines/{desk.machine}"
    assert desk.api.call("PATCH", path, {"paused": paused}).status == 200


def released(desk: Workstation) -> None:
    until(lambda: held_on(desk.display) == NOTHING, "nothing is held")


def test_pause_ends_what_runs_and_releases_what_is_held(
    desk: Workstation, witness: Witness
) -> None:
    assert desk.send("keyboard/key", text="shift", down=True).status == 200
    running = desk.begin("mouse/drag", "drag-until-paused", **DRAG)
    travels(witness)
    pause(desk)
    released(desk)
    failed = running.result()
    assert (failed.status, failed.json["code"]) == (502, "interrupted")
    assert failed.json["injected_at_least"] > 1
    pause(desk, paused=False)
    assert desk.send("mouse/drag", "drag-until-paused", **DRAG).body == failed.body
    assert desk.send("keyboard/key", text="a").status == 200


@pytest.mark.parametrize("second", [{"operation": "wait", "seconds": 60}, DRAGGING])
def test_pause_ends_several_actions_and_their_prefix_is_told(
    desk: Workstation, witness: Witness, second: dict[str, Any]
) -> None:
    actions, key = [A_CLICK, second, A_CLICK], f"paused-with-{second['operation']}"
    running = desk.api.begin_to_act(desk.machine, actions, key)
    sees(witness, "ButtonRelease 1")
    if second is DRAGGING:
        until(lambda: presses(witness.seen())[2:] == ["ButtonPress 1"], "the drag has begun")
    pause(desk)
    failed = running.result()
    assert (failed.status, failed.json["code"], failed.json["completed"]) == (502, "interrupted", 1)
    assert [each["status"] for each in failed.json["actions"]] == [
        "completed",
        "interrupted",
        "not_begun",
    ]
    released(desk)
    pause(desk, paused=False)
    again = desk.act(actions, key)
    assert (again.status, again.body) == (502, failed.body)
    clicks = 2 if second is DRAGGING else 1
    assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"] * clicks


def test_pause_leaves_alone_what_who_has_control_does(desk: Workstation, witness: Witness) -> None:
    control = f"/v1/machines/{desk.machine}/control"
    lease = desk.api.call("POST", control).json["id"]
    own = {"Farhand-Control": lease, "Idempotency-Key": "own-while-paused"}
    path = f"/v1/computer/{desk.machine}/actions"
    actions = [{**DRAGGING, "duration": 2}, A_CLICK]
    running = desk.api.begin_call("POST", path, {"actions": actions}, own)
    travels(witness)
    pause(desk)
    done = running.result()
    assert done.status == 200, done.body
    assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"] * 2
    assert desk.api.call("DELETE", f"{control}/{lease}").status == 204
    pause(desk, paused=False)
