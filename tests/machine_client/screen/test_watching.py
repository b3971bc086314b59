"""Waits on a screen that a test plays; the contract has them on real ones."""

import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from machine_client.desktop.base import RawFrame
from machine_client.screen import watching
from machine_client.screen.sender import EncodedPicture
from machine_client.screen.showing import Tell
from machine_client.screen.watching import watch
from schemas.inputs.waits import Conditions, Wait
from schemas.link.messages import FrameJudged
from tests.machine_client.fakes import FakeView
from tests.machine_client.screen.test_element_watch import SAVED, ScriptedElements


def conditions(*wanted: dict[str, object]) -> Conditions:
    return Wait.model_validate({"any": list(wanted)}).any


class ToldView(FakeView):
    """A screen that tells when something is drawn on it; what is drawn comes from ``script``."""

    def __init__(self, *script: int | None) -> None:
        super().__init__()
        self.script = list(script)
        self.waits: list[float] = []

    def wait_until_drawn(self, seconds: float) -> bool:
        self.waits.append(seconds)
        threading.Event().wait(min(seconds, 0.01))
        if not self.script or (colour := self.script.pop(0)) is None:
            return False
        self.colour = colour
        return True


def test_nothing_is_captured_while_nothing_is_drawn() -> None:
    view = ToldView(*[None] * 40)
    sight = watch(view, conditions({"changed": True}), 0.2, is_over=lambda: False)
    assert (sight.matched, sight.at) == (None, None)
    assert sight.elapsed >= 0.2
    assert view.captures == 1


def test_change_before_the_wait_is_told_by_the_frame_before() -> None:
    view = ToldView()
    before: RawFrame = view.capture()
    view.colour = 90
    sight = watch(view, conditions({"changed": True}), 5, before=before, is_over=lambda: False)
    # Of the size of a caret, it counts once it has stayed.
    assert sight.matched == 0
    assert sight.elapsed >= 1


def test_what_is_drawn_when_time_is_nearly_over_is_looked_at() -> None:
    view = ToldView(*[None] * 3)

    def drawn(seconds: float) -> bool:
        # Told of only when it is asked whether the screen was still until now, which is the second
        # time that it need not be waited for.
        if seconds == 0:
            view.waits.append(seconds)
        is_last_look = seconds == 0 and len(view.waits) == 2
        threading.Event().wait(min(seconds, 0.01))
        if is_last_look:
            view.pixels = bytearray([7] * 60 * 60 * 4)
            view.size = view.size._replace(width=60, height=60)
        return is_last_look

    view.wait_until_drawn = drawn  # type: ignore[method-assign]
    sight = watch(view, conditions({"still": 0.2}), 5, is_over=lambda: False)
    assert sight.matched == 0
    assert sight.elapsed >= 0.4
    assert view.captures == 2


def test_whoever_waits_no_more_ends_it() -> None:
    view, over = ToldView(), threading.Event()
    threading.Timer(0.05, over.set).start()
    sight = watch(view, conditions({"changed": True}), 60, is_over=over.is_set)
    assert sight.matched is None
    assert sight.elapsed < 30


@pytest.mark.parametrize(
    ("said", "met", "seen"),
    [({"matched": 0}, 0, ()), ({"seen": ("Save",)}, None, ("Save",)), (None, None, ())],
)
def test_what_was_shown_in_time_is_judged_before_a_wait_ends(
    said: dict[str, Any] | None,
    met: int | None,
    seen: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What nobody judges is not waited for for long."""
    if said is not None:  # However late the timer is.
        monkeypatch.setattr(watching, "JUDGED_SECONDS", 60.0)
    shown: list[tuple[int, ...]] = []

    def show(numbers: tuple[int, ...], picture: EncodedPicture, tell: Tell) -> None:
        shown.append(numbers)
        if said is not None:
            judged = FrameJudged(number=1, server_time=0, **said)
            threading.Timer(0.5, tell, (judged,)).start()

    wanted = conditions({"text": "Saved"})
    sight = watch(ToldView(), wanted, 0.1, show=show, is_over=lambda: False)
    assert (sight.matched, sight.seen, shown) == (met, seen, [(0,)])
    assert sight.elapsed >= (watching.JUDGED_SECONDS if said is None else 0.5)


def test_screen_that_is_drawn_all_the_time_is_looked_at_now_and_then() -> None:
    class Video(FakeView):
        drawn = 0

        def wait_until_drawn(self, seconds: float) -> bool:
            self.drawn += 1
            return True

        def capture(self, *, pointer: bool = True) -> RawFrame:
            until = time.thread_time() + 0.005
            while time.thread_time() < until:
                self.colour = self.captures % 2
            return super().capture(pointer=pointer)

    view = Video()
    sight = watch(view, conditions({"still": 5}), 1.0, is_over=lambda: False)
    assert sight.matched is None
    # Each takes 5 ms, of which no more than 3 in 100 may be taken: 6 and the first.
    assert view.captures <= 8
    # And it is not asked all the time whether something was drawn.
    assert view.drawn <= 1 / watching.DRAWN_SECONDS + 2 * view.captures + 1


class Played(FakeView):
    """A large screen that is drawn at some times of a clock that only waits let go on."""

    def __init__(self, *drawn_at: float) -> None:
        super().__init__()
        self.size = self.size._replace(width=60, height=60)
        self.pixels = bytearray(60 * 60 * 4)
        self.left = list(drawn_at)
        self.now = self.used = 0.0
        self.time = SimpleNamespace(
            monotonic=lambda: self.now, process_time=lambda: self.used, sleep=self.sleep
        )

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def wait_until_drawn(self, seconds: float) -> bool:
        until = self.now + seconds
        if not self.left or self.left[0] > until:
            self.now = until
            return False
        self.now = max(self.now, self.left[0])
        while self.left and self.left[0] <= self.now:
            self.pixels = bytearray([len(self.left)] * 60 * 60 * 4)
            del self.left[0]
        return True

    def capture(self, *, pointer: bool = True) -> RawFrame:
        self.now += 0.006
        self.used += 0.006
        return super().capture(pointer=pointer)


def test_screen_is_still_since_it_was_drawn_last_and_not_since_a_late_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = Played(0.02, 0.1, 0.2)
    monkeypatch.setattr(watching, "time", view.time)
    sight = watch(view, conditions({"still": 0.3}), 5, is_over=lambda: False)
    # After the look at what was drawn first none is due for a while.
    assert view.captures == 3
    assert 0.5 <= sight.elapsed <= 0.5 + watching.DRAWN_SECONDS


def test_where_all_that_is_waited_for_are_elements_no_picture_is_taken() -> None:
    view, elements = ToldView(), ScriptedElements("Saved")
    sight = watch(view, conditions(SAVED), 5, is_over=lambda: False, elements=cast("Any", elements))
    assert (sight.matched, view.captures, elements.looks) == (0, 0, 1)
