"""Actions as the server takes them."""

from typing import Any

import pytest

from farhand import actions
from schemas.inputs.actions import Actions
from schemas.inputs.waits import Wait

ALL = [
    actions.click(1, 2, button="right", clicks=2, modifiers=["ctrl"], picture=(640, 400)),
    actions.click(down=True),
    actions.move(1, 2, path=[(3, 4), (5, 6)]),
    actions.drag(1, 2, 3, 4, duration=0.5, button="middle", path=[(9, 9)], modifiers=("alt",)),
    actions.scroll("down", 3, 5, 6),
    actions.key("ctrl+a", repeat=2),
    actions.key("shift", hold=0.5),
    actions.type("4711\n"),
    actions.write_clipboard("copied", selection="primary"),
    actions.click(element=actions.element("push button", "Save", window="Invoice*")),
    actions.drag(start_element={"ref": "a1"}, to_x=1, to_y=2),
    actions.move(element=actions.element(text="a", value="b", application="c")),
    actions.invoke(actions.element("push button", "Save")),
    actions.set_value(actions.element("entry", "Amount"), "47.11"),
    actions.set_value(actions.element("slider", "Volume"), 0.5),
    actions.focus({"name": "Amount"}),
    actions.pause(0.5),
    actions.wait_for(actions.still(), actions.changed(), timeout=3, on_timeout="continue"),
    actions.screenshot(format="jpeg", width=640),
]


def test_server_takes_all_of_them() -> None:
    Actions.model_validate({"actions": ALL})


def test_what_is_left_out_is_not_sent() -> None:
    assert actions.click() == {"operation": "mouse.click", "button": "left", "clicks": 1}
    assert actions.key("a") == {"operation": "keyboard.key", "text": "a"}


@pytest.mark.parametrize(
    "condition",
    [
        actions.still(0.3, region={"x": 0, "y": 0, "width": 9, "height": 9}),
        actions.seen({"name": "Saved"}),
        actions.seen({"name": "Saving…"}, gone=True),
        actions.changed(ignore=[{"x": 0, "y": 0, "width": 9, "height": 9}]),
    ],
)
def test_server_takes_the_conditions(condition: dict[str, Any]) -> None:
    Wait.model_validate({"any": [condition]})
