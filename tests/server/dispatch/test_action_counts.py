"""What several actions did, in words and as a number."""

import pytest

from schemas.inputs.outcomes import ActionResult, ActionStatus
from server.dispatch.action_counts import in_words, inputs_among


def ends(*each: tuple[str, ActionStatus]) -> tuple[ActionResult, ...]:
    return tuple(ActionResult(operation=operation, status=status) for operation, status in each)


@pytest.mark.parametrize(
    ("results", "words", "inputs"),
    [
        (ends(("mouse.click", "completed")), "1 action: 1 click", 1),
        (
            ends(
                ("mouse.click", "completed"),
                ("wait", "completed"),
                ("mouse.click", "completed"),
                ("keyboard.type", "completed"),
                ("screenshot", "completed"),
            ),
            "5 actions: 2 clicks, 1 text, 1 pause, 1 picture",
            3,
        ),
        (
            ends(("keyboard.key", "completed"), ("mouse.drag", "failed"), ("wait", "not_begun")),
            "1 of 3 actions: 1 key combination",
            2,
        ),
        (
            ends(("mouse.move", "unknown"), ("mouse.click", "not_begun")),
            "0 of 2 actions: none was completed",
            1,
        ),
        (ends(("wait_for", "not_seen"), ("mouse.click", "not_begun")), None, 1),
        (
            ends(("wait", "completed"), ("screenshot", "completed")),
            "2 actions: 1 pause, 1 picture",
            1,
        ),
    ],
)
def test_what_was_done_is_counted(
    results: tuple[ActionResult, ...], words: str | None, inputs: int
) -> None:
    assert words in (None, in_words(results))
    assert inputs_among(results) == inputs
