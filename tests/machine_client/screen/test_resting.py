"""When it is not looked at a screen again: where nothing was drawn, and its pointer has rested."""

import pytest

from machine_client.screen import resting
from machine_client.screen.resting import Resting
from schemas.inputs.outcomes import Point
from tests.machine_client.fakes import FakeView
from tests.machine_client.screen.test_watching import ToldView


@pytest.fixture(autouse=True)
def never_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow a test is."""
    monkeypatch.setattr(resting, "SURE_SECONDS", 3600)


class Pointed(ToldView):
    """A screen that tells what is drawn on it, with a pointer that a test moves."""

    place = Point(x=1, y=2)
    asked = 0

    def pointer(self) -> Point:
        self.asked += 1
        return self.place


def looked(view: Pointed) -> Resting:
    """One that knows where the pointer is."""
    rests = Resting(view)
    for _ in range(2):
        assert not rests.is_as_before()
        rests.looked()
    return rests


def test_screen_rests_while_nothing_is_drawn_and_the_pointer_stays() -> None:
    view = Pointed()
    rests = looked(view)
    assert rests.is_as_before()
    assert rests.is_as_before()
    view.place = Point(x=1, y=3)
    assert not rests.is_as_before()
    rests.looked()
    assert rests.is_as_before()
    view.script = [7]
    assert not rests.is_as_before()
    rests.looked()
    assert rests.is_as_before()


def test_what_is_drawn_while_it_is_looked_is_looked_at_again() -> None:
    view = Pointed()
    rests = looked(view)
    view.script = [7, 8]
    assert not rests.is_as_before()
    rests.looked()
    assert not rests.is_as_before()


def test_it_is_looked_now_and_then_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    view = Pointed()
    rests = looked(view)
    monkeypatch.setattr(resting, "SURE_SECONDS", 0)
    assert not rests.is_as_before()


def test_desktop_that_does_not_tell_is_looked_at_each_time_and_asked_for_nothing_else() -> None:
    class Untold(FakeView):
        def pointer(self) -> Point:
            raise AssertionError

    rests = Resting(Untold())
    for _ in range(3):
        assert not rests.is_as_before()
        rests.looked()
