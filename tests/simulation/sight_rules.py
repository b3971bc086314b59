"""The rules of elements and texts, which can be taken out; see `tests.simulation.test_rules`."""

from collections.abc import Callable

import pytest

from machine_client.work import batch, worker
from machine_client.work.injector import OutcomeUnknown, Refusal
from schemas.inputs.actions import AnyAction
from schemas.inputs.outcomes import Effect, Outcome, Point
from tests.simulation.sights import ShownElements


def press_where_an_element_was(patch: pytest.MonkeyPatch) -> None:
    """An element that was found is not looked at again before the first event."""
    patch.setattr(ShownElements, "look_again", lambda _self, found: found)


def call_unknown_what_the_second_look_refuses(patch: pytest.MonkeyPatch) -> None:
    """What is refused once its intent stands counts as begun."""
    injected = worker._injected

    def unknown(inject: Callable[[], Point], effect: Effect) -> Outcome:
        def refused() -> Point:
            try:
                return inject()
            except Refusal:
                raise OutcomeUnknown from None

        return injected(refused, effect)

    patch.setattr(worker, "_injected", unknown)


def go_on_without_the_text(patch: pytest.MonkeyPatch) -> None:
    """A wait that has seen nothing counts as done, whatever was to happen then."""

    def goes_on(_action: AnyAction) -> bool:
        return True

    patch.setattr(batch, "_goes_on", goes_on)
