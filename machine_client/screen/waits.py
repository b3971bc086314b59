"""Waits for what the screen shows, each in a thread and through a view of its own."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from machine_client.concurrency.threads import daemon_thread
from machine_client.desktop.base import (
    ELEMENTS_UNTOLD,
    DesktopElements,
    DesktopError,
    DesktopView,
    Refusal,
)
from machine_client.screen import sender
from machine_client.screen.capturer import NO_SCREEN
from machine_client.screen.encoding import part_of
from machine_client.screen.sender import Sight
from machine_client.screen.showing import VISION_UNAVAILABLE, Show, Tell
from machine_client.screen.watching import watch
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE
from schemas.inputs.pictures import Area
from schemas.inputs.waits import Condition, ElementSeen
from schemas.link.messages import Display, Look
from schemas.values.pictures import Region

logger = logging.getLogger(__name__)

OpenView = Callable[[], DesktopView] | None


class ScreenWaits:
    """The waits that a server has asked for; ``report`` takes the end of each, from its thread."""

    def __init__(
        self,
        open_view: OpenView,
        report: Callable[[sender.ScreenResult], None],
        elements: DesktopElements = ELEMENTS_UNTOLD,
    ) -> None:
        self._open_view = open_view
        self._elements = elements
        self._report = report
        self._stops: dict[int, threading.Event] = {}

    def begin(self, look: Look) -> None:
        """Wait for what it asks; never takes any time."""
        stop = self._stops[id(look)] = threading.Event()
        daemon_thread(lambda: self._look(look, stop), "wait").start()

    def stop(self, look: Look) -> None:
        """Nobody waits for it any more."""
        if (stop := self._stops.get(id(look))) is not None:
            stop.set()

    def close(self) -> None:
        """End all of them."""
        for stop in tuple(self._stops.values()):
            stop.set()

    def _look(self, look: Look, stop: threading.Event) -> None:
        try:
            ended = self._ended(look, stop)
        except Exception as error:  # somebody waits for its end, whatever that is
            logger.exception("a wait failed")
            mistake = f"the machine client made a mistake ({type(error).__name__})"
            ended = sender.OrderFailed(look, mistake)
        del self._stops[id(look)]
        self._report(ended)

    def _ended(self, look: Look, stop: threading.Event) -> sender.ScreenResult:
        try:
            return sender.LookEnded(look, self._seen(look, stop))
        except Refusal as refusal:
            why = refusal.outcome
            return sender.OrderFailed(look, why.message, why.code, ".".join(why.loc[1:]))
        except DesktopError as error:
            if error.code == VISION_UNAVAILABLE:
                return sender.OrderFailed(look, str(error), error.code, "any")
            code = error.code if error.code == ELEMENTS_UNAVAILABLE else None
            return sender.OrderFailed(look, str(error), code)

    def _seen(self, look: Look, stop: threading.Event) -> Sight:
        if self._open_view is None:
            raise DesktopError("screen_unavailable", NO_SCREEN)
        view = self._open_view()
        try:
            check_regions(look.any, view.displays())
            return watch(
                view,
                look.any,
                look.timeout,
                show=shower(look, self._report),
                is_over=stop.is_set,
                elements=self._elements,
            )
        finally:
            view.close()


def offered_to_nobody(_offered: sender.FrameOffered) -> None:
    """For a client without a link."""


def shower(of: Look | sender.ActionPlace, offer: Callable[[sender.FrameOffered], None]) -> Show:
    """What shows the node frames for a wait, from the thread that waits."""

    def show(conditions: tuple[int, ...], picture: sender.EncodedPicture, tell: Tell) -> None:
        offer(sender.FrameOffered(of, conditions, picture, tell))

    return show


@dataclass(frozen=True, slots=True)
class _Looked:
    """A part of the desktop that is looked at."""

    region: Area | None
    display: None = None


def check_regions(conditions: Sequence[Condition], displays: Sequence[Display]) -> None:
    """Raise Refusal where a condition looks beside the desktop."""
    for number, condition in enumerate(conditions):
        if isinstance(condition, ElementSeen):
            continue
        try:
            part_of(Region.around(displays), _Looked(condition.region), displays)
        except Refusal as refusal:
            loc = ("body", "any", str(number), "region")
            raise Refusal(refusal.outcome.model_copy(update={"loc": loc})) from None
