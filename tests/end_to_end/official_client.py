"""Calls a server by the official client of the specified API, unchanged, and prints what it read.

A process of its own, whose path begins with the directory that one version of the client is in.
Its arguments are the server's address, a token, a machine and a workflow.
"""

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

API = "openapi_client.cyberdesk_cloud_client"
INPUT = "v1_computer_machine_id_input"


class Call(NamedTuple):
    """One call: the client's function, and the model and the fields of its body, if it has one."""

    function: str
    model: str = ""
    body: Mapping[str, Any] = {}


INPUTS = (
    Call(f"mouse_move_{INPUT}_mouse_move_post", "MouseMoveRequest", {"x": 40, "y": 50}),
    Call(
        f"mouse_click_{INPUT}_mouse_click_post",
        "MouseClickRequest",
        {"x": 60, "y": 70, "button": "left", "clicks": 2},
    ),
    Call(
        f"mouse_drag_{INPUT}_mouse_drag_post",
        "MouseDragRequest",
        {"start_x": 60, "start_y": 70, "to_x": 90, "to_y": 95},
    ),
    Call(
        f"mouse_scroll_{INPUT}_mouse_scroll_post",
        "MouseScrollRequest",
        {"direction": "down", "amount": 2},
    ),
    Call(f"keyboard_key_{INPUT}_keyboard_key_post", "KeyboardKeyRequest", {"text": "ctrl+a"}),
    Call(f"keyboard_type_{INPUT}_keyboard_type_post", "KeyboardTypeRequest", {"text": "Hello"}),
    Call(f"get_mouse_position_{INPUT}_mouse_position_get"),
    Call("get_display_dimensions_v1_computer_machine_id_display_dimensions_get"),
    Call("get_screenshot_v1_computer_machine_id_display_screenshot_get"),
)

GET = "get_trajectory_v1_trajectories_trajectory_id_get"
LIST = "list_trajectories_v1_trajectories_get"
LATEST = "get_latest_trajectory_for_workflow_v1_workflows_workflow_id_latest_trajectory_get"
CREATE = "create_trajectory_v1_trajectories_post"
UPDATE = "update_trajectory_v1_trajectories_trajectory_id_patch"


class Client:
    """One version of the official client; keeps what each call was answered."""

    def __init__(self, url: str, token: str) -> None:
        client = import_module(f"{API}.client").AuthenticatedClient
        self._client = client(base_url=url, token=token)
        self._models = import_module(f"{API}.models")
        self.answers: dict[str, tuple[int, Any]] = {}

    def call(self, room: str, call: Call, **given: Any) -> Any:
        """What a call reads of its answer."""
        if call.model:
            given["body"] = getattr(self._models, call.model).from_dict(dict(call.body))
        function = import_module(f"{API}.api.{room}.{call.function}")
        response = function.sync_detailed(client=self._client, **given)
        read = response.parsed
        told = read.to_dict() if hasattr(read, "to_dict") else read
        self.answers[call.function.partition("_v1_")[0]] = response.status_code, told
        return read


def main(url: str, token: str, machine: str, workflow: str) -> None:
    """Make every call, and print the status of each and what was read, as JSON."""
    client = Client(url, token)
    for number, call in enumerate(INPUTS):
        key = {"idempotency_key": f"{machine}-{number}"} if call.model else {}
        client.call("computer", call, machine_id=machine, **key)
    new = {
        "workflow_id": workflow,
        "trajectory_data": [{"action": "click"}],
        "dimensions": {"width": 1280, "height": 800},
    }
    made = client.call("trajectories", Call(CREATE, "TrajectoryCreate", new))
    for flags in ({"is_approved": True}, {"is_approved": False}):
        update = Call(UPDATE, "TrajectoryUpdate", flags)
        client.call("trajectories", update, trajectory_id=made.id)
    client.call("trajectories", Call(LIST), workflow_id=made.workflow_id)
    client.call("trajectories", Call(GET), trajectory_id=made.id)
    client.call("trajectories", Call(LATEST), workflow_id=made.workflow_id)
    print(json.dumps(client.answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
