"""A run that is cancelled in the middle of an input: the X server says what is pressed after."""

from typing import Any
from uuid import uuid4

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, sees, travels
from tests.held import NOTHING, held_on, keycode_of
from tests.processes import Answer, ServedApi, until

DRAG: dict[str, Any] = {
    "operation": "mouse.drag",
    "body": {"start_x": 100, "start_y": 200, "to_x": 1000, "to_y": 700, "duration": 10.0},
}


def test_run_that_is_cancelled_within_a_drag_leaves_nothing_pressed(
    api: ServedApi, desk: Workstation, witness: Witness, display: str
) -> None:
    behind = {"operation": "keyboard.key", "body": {"text": "z"}}
    run = _begun(api, desk.machine, [DRAG, behind])
    travels(witness)
    assert held_on(display) != NOTHING
    cancelled = api.call("POST", f"/v1/runs/{run['id']}/cancel")
    assert cancelled.status == 200, cancelled.body
    until(lambda: _run(api, run)["ended_at"], "the run has ended")
    sees(witness, "ButtonRelease 1")
    assert held_on(display) == NOTHING
    ended = _run(api, run)
    assert (ended["status"], ended["steps"]) == ("cancelled", [])
    # The machine is free at once, and the step behind was never pressed.
    assert desk.send("keyboard/key", text="y").status == 200
    pressed = [each.detail for each in witness.take() if each.kind == "KeyPress"]
    assert pressed == [keycode_of(display, ord("y"))]


def _begun(api: ServedApi, machine: str, steps: list[dict[str, Any]]) -> Any:
    """A run of steps that somebody else has approved."""
    scopes = ["trajectories:read", "trajectories:approve"]
    made = _made(api.call("POST", "/v1/tokens", {"name": "reviewer", "scopes": scopes}))
    trajectory = _made(
        api.call(
            "POST",
            "/v1/trajectories",
            {
                "workflow_id": str(uuid4()),
                "dimensions": {"width": 1280, "height": 800},
                "trajectory_data": steps,
            },
        )
    )
    reviewed = api.call(
        "POST",
        f"/v1/trajectories/{trajectory['id']}/review",
        {"decision": "approve", "content_hash": trajectory["content_hash"]},
        {"Authorization": f"Bearer {made['token']}"},
    )
    assert reviewed.status == 200, reviewed.body
    new = {"trajectory_id": trajectory["id"], "machine_id": machine}
    return _made(api.call("POST", "/v1/runs", new))


def _made(answer: Answer) -> Any:
    assert answer.status == 201, answer.body
    return answer.json


def _run(api: ServedApi, run: Any) -> Any:
    return api.call("GET", f"/v1/runs/{run['id']}").json
