"""Waits until a screen shows one of several things, in the thread that calls.

A wait takes little of a core, whatever is drawn meanwhile: after a look that took its time the next
one waits for as long as that allows.  The first change after a pause is seen at once.  Where a
desktop tells when something is drawn, what a late look finds is known to be there since then.
"""

import math
import random
import time
from collections.abc import Callable
from typing import Final

from machine_client.desktop.base import ELEMENTS_UNTOLD, DesktopElements, DesktopView, RawFrame
from machine_client.screen.element_watch import ElementWatch
from machine_client.screen.sender import Sight
from machine_client.screen.showing import Show, Showing, show_nobody
from machine_client.screen.stillness import Judge
from schemas.inputs.waits import Conditions

SHARES: Final = (0.016, 0.024)
"""Of one core, for looking: any of these, so that what flashes is not met in step."""

DRAWN_SECONDS: Final = 0.05
"""Between two questions whether something was drawn, while no look is due."""

SLICE_SECONDS: Final = 0.1
"""After which somebody who waits no more is noticed."""

BUSY_SLICE_SECONDS: Final = 0.02
"""The same while the node judges something, or is to be shown it: its answer is taken at once."""

JUDGED_SECONDS: Final = 2.0
"""For what was shown to the node in time to be judged, when the time is over."""


def watch(
    view: DesktopView,
    conditions: Conditions,
    timeout: float,
    *,
    before: RawFrame | None = None,
    show: Show = show_nobody,
    is_over: Callable[[], bool],
    elements: DesktopElements = ELEMENTS_UNTOLD,
) -> Sight:
    """Wait so many seconds for one of the conditions, or until ``is_over``.

    ``before`` is what a change is told by; without it, that is what the screen shows now.  ``show``
    has the node judge what is not judged here, and ``elements`` tells of elements.  Raises
    DesktopError where the screen cannot be seen, or nobody judges it.
    """
    began_at = time.monotonic()
    element_watch = ElementWatch(conditions, elements)
    if element_watch.has_all and (met := element_watch.met()) is not None:
        return Sight(*met, time.monotonic() - began_at)
    drawing = _Drawing(view)
    frame = view.capture(pointer=False)
    judge, showing = Judge(conditions, before or frame, began_at), Showing(conditions, show)
    judge.saw(frame, began_at)
    showing.saw(frame)
    has_just_looked, looks_again_at = True, 0.0
    while True:
        now = time.monotonic()
        showing.go_on(now)
        if showing.met is not None:
            return Sight(*showing.met, now - began_at)
        met = judge.met(now)
        # Nothing is met by what was not looked at since it was drawn.
        if met is not None and (has_just_looked or not drawing.wait(0)):
            return Sight(*met, now - began_at)
        if met is None:
            has_just_looked = False
            if (met := element_watch.met()) is not None:
                return Sight(*met, time.monotonic() - began_at)
            if now - began_at >= timeout or is_over():
                return _last_sight(showing, began_at, is_over)
            pause = BUSY_SLICE_SECONDS if showing.is_busy else SLICE_SECONDS
            ends_at = min(judge.due_at or math.inf, began_at + timeout, now + pause)
            if now < looks_again_at:
                pause = max(0.0, min(ends_at, looks_again_at) - now)
                drawing.rest(pause, is_noticed=judge.due_at is not None)
                continue
            if not drawing.wait(max(0.0, ends_at - now)):
                continue
        # Of all threads: some views have their pixels read by another one.
        looked_at, used = time.monotonic(), time.process_time()
        drawn_at = drawing.looked()
        frame = view.capture(pointer=False)
        judge.saw(frame, drawn_at or looked_at)
        showing.saw(frame)
        used = time.process_time() - used
        has_just_looked, looks_again_at = True, looked_at + used / random.uniform(*SHARES)  # noqa: S311


def _last_sight(showing: Showing, began_at: float, is_over: Callable[[], bool]) -> Sight:
    """What is met by what was shown before the time was over, and is judged a little later."""
    give_up_at = time.monotonic() + JUDGED_SECONDS
    while showing.is_being_judged and time.monotonic() < give_up_at and not is_over():
        time.sleep(BUSY_SLICE_SECONDS)
        showing.go_on(time.monotonic())
    matched, at = showing.met or (None, None)
    return Sight(matched, at, time.monotonic() - began_at, showing.seen)


class _Drawing:
    """Whether something was drawn that was not looked at yet, and when it was so last.

    From when it is made nothing is missed.
    """

    def __init__(self, view: DesktopView) -> None:
        self._view = view
        self._at: float | None = None
        view.wait_until_drawn(0)

    def wait(self, seconds: float) -> bool:
        """Whether something was; where nothing was, it is waited for as long."""
        if self._view.wait_until_drawn(seconds if self._at is None else 0):
            self._at = time.monotonic()
        return self._at is not None

    def rest(self, seconds: float, *, is_noticed: bool) -> None:
        """Let so much time pass, or less where it ``is_noticed`` what is drawn meanwhile."""
        time.sleep(min(seconds, DRAWN_SECONDS) if is_noticed else seconds)
        if is_noticed:
            self.wait(0)

    def looked(self) -> float | None:
        """It is looked at what was drawn until now: when that was, or None where nothing was."""
        at, self._at = self._at, None
        return at
