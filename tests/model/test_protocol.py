"""The protocol keeps its promises in every state of the model.

Run with ``-s`` to see how many states there were.  That it needs every one of its rules is shown
in ``test_rules``, a file of its own, so that the two can run side by side.
"""

import pytest

from tests.model.configurations import (
    CONFIGURATIONS,
    COPY_AT_ANY_MOMENT,
    COPY_WHILE_SEVERAL_RUN,
)
from tests.model.explorer import explore
from tests.model.protocol import Configuration, World

LEAST_STATES = 50_000
"""In the largest configuration: far below, the model has lost what it is to look at."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda value: value.name)
def test_every_promise_holds_in_every_state(configuration: Configuration) -> None:
    found = explore(World(configuration))
    print(f" {found.states} states, {found.steps} steps: {configuration.name}", end=" ")
    assert found.violation is None, str(found.violation)
    if configuration is CONFIGURATIONS[0]:
        assert found.states > LEAST_STATES


def test_copy_between_mark_and_intent_is_not_found_out() -> None:
    """The known limit: nothing tells such a copy from the journal that the record was sent to."""
    found = explore(World(COPY_AT_ANY_MOMENT)).violation
    assert found is not None
    assert found.promise == "not carried out, and the events were begun"
    mark, intent = (
        found.steps.index(f"machine {step}") for step in ("marks its journal", "notes INTENT")
    )
    assert mark < intent < found.steps.index("copy 1 of the journal is put back")


def test_copy_of_while_several_actions_ran_is_not_found_out() -> None:
    """The same limit: such a copy says that those are not begun which were begun after it."""
    found = explore(World(COPY_WHILE_SEVERAL_RUN)).violation
    assert found is not None
    assert found.promise == "an action is not begun, and its events were begun"
