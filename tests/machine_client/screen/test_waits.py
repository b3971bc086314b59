"""Waits that a server has asked for, in threads of their own, on a screen that a test plays."""

import queue
from typing import Any

import pytest

from machine_client.desktop.base import DesktopError, Refusal
from machine_client.screen.sender import LookEnded, OrderFailed, ScreenResult
from machine_client.screen.waits import ScreenWaits, check_regions
from schemas.inputs.waits import Wait
from schemas.link.messages import Display, Look
from tests.machine_client.fakes import FakeView

PATIENCE = 20.0


def look(request: int = 1, **condition: Any) -> Look:
    wait = Wait.model_validate({"any": [condition or {"still": 0.1}]})
    return Look(request=request, any=wait.any, timeout=60, server_time=0)


class Looking:
    def __init__(self, view: FakeView | None = None) -> None:
        self.view = view or FakeView()
        self.ended: queue.SimpleQueue[ScreenResult] = queue.SimpleQueue()
        self.waits = ScreenWaits(self.view.open, self.ended.put)

    def end(self) -> ScreenResult:
        return self.ended.get(timeout=PATIENCE)


def test_each_wait_has_its_end_and_its_view_is_closed() -> None:
    looking = Looking()
    long, short = look(1, still=10), look(2, still=0.1)
    looking.waits.begin(long)
    looking.waits.begin(short)
    ended = looking.end()
    assert isinstance(ended, LookEnded)
    assert (ended.order, ended.sight.matched) == (short, 0)
    looking.waits.stop(long)
    ended = looking.end()
    assert isinstance(ended, LookEnded)
    assert (ended.order, ended.sight.matched) == (long, None)
    assert (looking.view.opened, looking.view.closed) == (2, 2)
    looking.waits.stop(long)


def test_all_end_with_the_program() -> None:
    looking = Looking()
    for number in range(3):
        looking.waits.begin(look(number, still=10))
    looking.waits.close()
    assert all(isinstance(looking.end(), LookEnded) for _ in range(3))


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (DesktopError("screen_unavailable", "the display is gone"), "the display is gone"),
        (ZeroDivisionError("of ours"), "the machine client made a mistake (ZeroDivisionError)"),
    ],
)
def test_screen_that_cannot_be_seen_is_told(failure: Exception, words: str) -> None:
    looking = Looking()
    looking.view.failure = failure
    looking.waits.begin(look())
    ended = looking.end()
    assert isinstance(ended, OrderFailed)
    assert (ended.reason, ended.code) == (words, None)
    assert looking.view.closed == 1


def test_screen_that_nobody_may_look_at_is_told() -> None:
    ended: queue.SimpleQueue[ScreenResult] = queue.SimpleQueue()
    ScreenWaits(None, ended.put).begin(look())
    failed = ended.get(timeout=PATIENCE)
    assert isinstance(failed, OrderFailed)
    assert "without a screen" in failed.reason


def test_region_beside_the_desktop_is_refused_at_its_place() -> None:
    looking = Looking()
    looking.waits.begin(look(1, still=1, region={"x": 7, "y": 0, "width": 2, "height": 2}))
    failed = looking.end()
    assert isinstance(failed, OrderFailed)
    assert (failed.code, failed.field) == ("region_outside_desktop", "any.0.region")


def test_regions_are_looked_for_on_the_desktop_as_a_whole() -> None:
    displays = [Display(x=-10, y=0, width=10, height=10), Display(x=0, y=5, width=20, height=10)]
    region = {"x": -10, "y": 0, "width": 30, "height": 15}
    check_regions(look(1, still=1, region=region).any, displays)
    with pytest.raises(Refusal):
        check_regions(look(1, still=1, region={**region, "height": 16}).any, displays)
