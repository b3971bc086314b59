from typing import Any

import pytest

from schemas.inputs.bodies import TypeText
from schemas.link.element_messages import SeenElement
from server.dispatch.recording.before_and_after import Beneath
from server.dispatch.recording.proposals import proposals
from server.dispatch.recording.unkept import Unkept

SAVE = ("push button", "Save", 3)
FIELD = ("text", "Order", 3)
DIALOG = ("dialog", "Saved", 1)
OK = ("push button", "OK", 2)


def seen(*told: tuple[str, str, int]) -> dict[str, SeenElement]:
    """Elements by their refs, which are other ones each time."""
    elements = [
        SeenElement(
            role=role,
            name=name,
            value="hunter2",
            states=[],
            bounds=None,
            window="Orders",
            application="orders",
            depth=depth,
            ref=f"{role}-{number}-{len(told)}",
        )
        for number, (role, name, depth) in enumerate(told)
    ]
    return {each.ref: each for each in elements}


def element(role: str, name: str) -> dict[str, Any]:
    return {"role": role, "name": name}


@pytest.mark.parametrize(
    ("before", "after", "proposed"),
    [
        ([SAVE], [SAVE], []),
        ([SAVE], None, []),
        (
            [SAVE],
            [OK, DIALOG, SAVE],
            [{"element": element("dialog", "Saved")}, {"element": element("push button", "OK")}],
        ),
        ([DIALOG, SAVE], [SAVE], [{"element": element("dialog", "Saved"), "gone": True}]),
        ([SAVE], [SAVE, ("label", "", 1)], []),
        (
            [SAVE],
            [SAVE, *(("label", f"Line {number}", number) for number in range(5))],
            [{"element": element("label", f"Line {number}")} for number in range(3)],
        ),
        # What only a value tells apart is not kept: somebody may have typed it.
        ([SAVE], [SAVE, FIELD, FIELD], []),
    ],
)
def test_named_elements_that_came_and_went_are_proposed(
    before: list[tuple[str, str, int]],
    after: list[tuple[str, str, int]] | None,
    proposed: list[dict[str, Any]],
) -> None:
    left = None if after is None else seen(*after)
    found = proposals(Beneath((1, 1), seen(*before), left=left), Unkept())
    assert found == proposed


def test_nothing_that_shows_a_text_which_is_not_kept_is_proposed() -> None:
    unkept = Unkept()
    unkept.typed(TypeText(text="label hunter2"))
    unknown, shown = ("label", "No user hunter2", 2), ("dialog", "Failed", 1)
    come = proposals(Beneath((1, 1), seen(), left=seen(unknown, shown)), unkept)
    assert come == [{"element": element("dialog", "Failed")}]
    gone = proposals(Beneath((1, 1), seen(unknown, shown), left=seen()), unkept)
    assert gone == [{"element": element("dialog", "Failed"), "gone": True}]
