"""The steps that every run does: rows of the form are pressed, and some are typed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from tests.processes import ServedApi

SECONDS_TO_SHOW: Final = 8
"""For the form to show what was done, which its element says."""


@dataclass(frozen=True)
class Act:
    """What a step does to the form: presses a row, or types in it."""

    row: int
    text: str | None = None


ACTS: Final = (
    *(Act(1), Act(2), Act(3), Act(3, "note-of-3")),
    *(Act(4), Act(5), Act(6), Act(6, "note-of-6")),
)
"""One for each step, in order."""

FIELDS: Final = (3, 6)


def approved(api: ServedApi, machine: str, acts: Sequence[Act] = ACTS) -> str:
    """An approved trajectory with these steps, as they look on a machine; its id."""
    path = f"/v1/computer/{machine}/elements?window=Orders"
    boxes = {each["name"]: each["bounds"] for each in api.call("GET", path).json["items"]}
    made = api.call(
        "POST",
        "/v1/trajectories",
        {
            "workflow_id": str(uuid4()),
            "dimensions": {"width": 640, "height": 480},
            "trajectory_data": [_step(act, boxes[_name(act.row)]) for act in acts],
        },
    )
    assert made.status == 201, made.body
    review = {"decision": "approve", "content_hash": made.json["content_hash"]}
    reviewed = api.call("POST", f"/v1/trajectories/{made.json['id']}/review", review)
    assert reviewed.status == 200, reviewed.body
    return str(made.json["id"])


def _name(row: int) -> str:
    return f"Note {row}" if row in FIELDS else f"Order {row}"


def _step(act: Act, box: dict[str, int]) -> dict[str, Any]:
    name = _name(act.row)
    seen: dict[str, Any] = {"role": "label", "name": f"Done {act.row}"}
    operation = "mouse.click"
    middle = box["x"] + box["width"] // 2, box["y"] + box["height"] // 2
    body: dict[str, Any] = dict(zip(("x", "y"), middle, strict=True))
    if act.text is not None:
        operation, body = "keyboard.type", {"text": act.text}
        seen = {"name": name, "value": act.text}
    return {
        "operation": operation,
        "body": body,
        "target": {"element": {"name": name}, "box": box},
        "expect": {"any": [{"element": seen}], "timeout": SECONDS_TO_SHOW},
    }
