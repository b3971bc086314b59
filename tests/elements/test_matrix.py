"""A short part of ``python -m tests.elements``, and what its outcome says."""

from collections.abc import Iterator

import pytest

from tests.elements.form import ALIKE, ROW, shown
from tests.elements.matrix import (
    LOOK_ALIKES_BESIDE,
    NOTHING,
    SECOND_WINDOW,
    TOOLKITS,
    Came,
    Outcome,
    Try,
    measured,
)
from tests.machine_client.desktop.accessibility.rig import patience_with_programs


@pytest.fixture(autouse=True)
def _patient() -> Iterator[None]:
    with patience_with_programs():
        yield


@pytest.mark.parametrize(
    ("toolkit", "where"), [*((each, "x11") for each in TOOLKITS), ("gtk4", "sway")]
)
def test_elements_are_found_again_and_pressed(toolkit: str, where: str) -> None:
    outcome = measured(toolkit, ROW, look_alikes=1, where=where)
    assert len(outcome.tries) == 6 * ROW
    # What is at a button is the button, where its toolkit tells of its label too.
    (selector,) = {each.selector for each in outcome.tries if each.element.text == "Order 0"}
    assert selector == '{"role":"push button","name":"Order 0"}'
    for each in outcome.tries:
        alike = {SECOND_WINDOW: ALIKE, LOOK_ALIKES_BESIDE: ALIKE}.get(each.change, 0)
        is_doubled = each.element.number < alike
        assert each.came is Came.RIGHT or (is_doubled and "elements are like this" in each.why), (
            each
        )


def test_outcome_is_kept_unless_something_wrong_is_pressed_or_too_much_refused() -> None:
    elements = shown(40)
    rights = [Try(NOTHING, each, "{}", Came.RIGHT) for each in elements[1:]]
    refused = Try(NOTHING, elements[0], "{}", Came.REFUSED, 'The button "Edit" is disabled')
    assert Outcome("gtk3", [*rights, refused]).is_kept
    assert not Outcome("gtk3", [*rights[2:], refused, refused, refused]).is_kept
    wrong = Try(NOTHING, elements[0], "{}", Came.WRONG, "pressed [3]")
    assert not Outcome("gtk3", [*rights, wrong]).is_kept
    table = Outcome("gtk3", [*rights, refused]).table()
    assert "2.5%" in table
    assert "1 refused after nothing: The button … is disabled" in table
