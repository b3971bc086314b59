"""Keeps the desktop open, and knows how it is without waiting for an input to find out.

A desktop can end, come back, hang, or be held by a program that keeps others from it; a call to it
may then never return.  So every look has a thread of its own and a bound, and none of them touches
the injector's connection, which may be in the middle of a long drag.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from machine_client.concurrency.bounded_call import BoundedCall
from machine_client.desktop.base import (
    ELEMENTS_UNTOLD,
    DesktopElements,
    DesktopError,
    DesktopView,
    InjectionUnavailable,
)
from machine_client.work.worker import Injector
from schemas.inputs.bodies import AnyInput, ClickMouse, PressKeys
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import Capability, DesktopChanged, Display, Released

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 3.0
"""For the desktop to answer a look; with the longest interval noticed within 5 s."""
ELEMENTS_SECONDS = 1.0
"""For the accessibility bus to answer one."""
SHORTEST_INTERVAL = 0.2
"""Between two looks that failing inputs and pictures ask for."""
STOP_SECONDS = 1.0

AVAILABLE = Capability(available=True)
SCREEN_IS_OFF = Capability(
    available=False, reason="its owner lets nobody look at the screen", switched_off=True
)
ELEMENTS_ARE_OFF = Capability(available=False, reason=ELEMENTS_UNTOLD.why_none(), switched_off=True)


class NullInjector:
    """Stands in for a desktop that cannot be opened: refuses everything, holds nothing."""

    effect: Effect = "happened"
    injected = 0
    is_lost = True
    is_interrupted = False

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        """Refuse."""
        raise InjectionUnavailable("this machine has no desktop to inject into")

    def pointer(self) -> Point:
        """Fail."""
        raise InjectionUnavailable("this machine has no desktop to inject into")

    def release(self, body: ClickMouse | PressKeys) -> None:
        """Nothing is held."""

    def pause(self, seconds: float) -> None:
        """There is nothing to pause in."""

    def take_released(self) -> None:
        """Nothing was released."""

    def interrupt(self) -> None:
        """Nothing runs."""

    def release_all(self) -> None:
        """Nothing is held."""

    def displays(self) -> list[Display]:
        """There are none."""
        return []

    def close(self) -> None:
        """There is nothing to close."""


class DesktopWatch:
    """Looks at the desktop every so many ``seconds``, and opens it whenever it has come back.

    ``open_injector`` returns one or raises InjectionUnavailable; ``use`` takes each one that was
    opened, from another thread.  ``open_view`` makes what is looked through, None where there is
    nothing but the injector.  ``try_screen`` raises DesktopError where the
    screen cannot be taken; None is that nobody may look at it, as ``elements`` are.

    ``state`` is the desktop as it was at the last look; ``tell`` takes it whenever it is another,
    and with it what was released at its opening.
    """

    def __init__(
        self,
        open_injector: Callable[[], Injector],
        open_view: Callable[[], DesktopView] | None,
        try_screen: Callable[[], None] | None,
        *,
        seconds: float,
        use: Callable[[Injector], None],
        tell: Callable[[DesktopChanged], None],
        elements: DesktopElements | None = None,
    ) -> None:
        self._elements = elements
        self._open_injector = open_injector
        self._open_view = open_view
        self._try_screen = try_screen
        self._seconds = seconds
        self._use = use
        self._tell = tell
        self._injector: Injector = NullInjector()
        self._is_open = False
        self._released: Released | None = None
        self._view: DesktopView | None = None
        self._doubted = True
        self._mistakes: dict[str, str] = {}
        self._wanted = asyncio.Event()
        self._input_look = BoundedCall(self._look_at_input, "desktop")
        self._screen_look = BoundedCall(self._look_at_screen, "screen")
        self._elements_look = BoundedCall(self._look_at_elements, "elements")
        self.state = DesktopChanged(
            displays=[],
            input=_unavailable("it is not known yet"),
            screen=SCREEN_IS_OFF,
            elements=ELEMENTS_ARE_OFF,
        )

    def look_soon(self) -> None:
        """Something failed on the desktop: do not wait for the next look's time."""
        self._doubted = True
        self._wanted.set()

    async def run(self) -> None:
        """Look again and again, for ever."""
        at_once = min(self._seconds, SHORTEST_INTERVAL)
        while True:
            await asyncio.sleep(at_once)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds - at_once):
                    await self._wanted.wait()
            self._wanted.clear()
            await self.look()

    async def look(self) -> None:
        """Look once, and tell what has changed since."""
        state = await self._look()
        before, self.state = self.state, state
        released, self._released = self._released, None
        if state != before or released is not None:
            _log("input", before.input, state.input)
            _log("screen", before.screen, state.screen)
            self._tell(state.model_copy(update={"released": released}))

    async def stop(self) -> None:
        """Let go of what was looked through; the injector is its user's to close."""
        if await self._input_look.ended(STOP_SECONDS) and self._view is not None:
            self._view.close()
        await self._screen_look.ended(STOP_SECONDS)
        await self._elements_look.ended(STOP_SECONDS)

    async def _look(self) -> DesktopChanged:
        displays, screen = self.state.displays, SCREEN_IS_OFF
        try:
            input_ = await self._input_look.result(ANSWER_SECONDS)
        except TimeoutError:
            # Whoever does not answer this shows no picture either: that need not be tried.
            input_ = _unavailable(
                f"the desktop has not answered for {ANSWER_SECONDS:g} s: it hangs, or another "
                "program holds it"
            )
            return DesktopChanged(
                displays=displays,
                input=input_,
                screen=input_ if self._try_screen else screen,
                elements=self.state.elements,
            )
        try:
            displays, screen = await self._screen_look.result(ANSWER_SECONDS)
        except TimeoutError:
            if self._try_screen is not None:
                screen = _unavailable(
                    f"the screen could not be taken within {ANSWER_SECONDS:g} s: another program "
                    "has grabbed the desktop"
                )
        return DesktopChanged(
            displays=displays, input=input_, screen=screen, elements=await self._elements_now()
        )

    async def _elements_now(self) -> Capability:
        try:
            return await self._elements_look.result(ELEMENTS_SECONDS)
        except TimeoutError:
            return _unavailable("the accessibility bus does not answer")

    def _look_at_elements(self) -> Capability:
        if self._elements is None:
            return ELEMENTS_ARE_OFF
        try:
            why_none = self._elements.why_none()
        except Exception as error:  # noqa: BLE001  as above
            return self._mistaken("elements", error)
        return AVAILABLE if why_none is None else _unavailable(why_none)

    def _look_at_input(self) -> Capability:
        try:
            if self._answers_anew():
                self._is_open = False
            if not self._is_open or self._injector.is_lost:
                self._is_open = False
                self._injector = self._open_injector()
                self._released = self._injector.take_released()
                self._use(self._injector)
                self._is_open = True
        except (DesktopError, InjectionUnavailable) as error:
            return _unavailable(str(error))
        except Exception as error:  # noqa: BLE001  the looks go on after every mistake
            return self._mistaken("desktop", error)
        return AVAILABLE

    def _answers_anew(self) -> bool:
        """Whether the desktop answers on a new connection: then it may be another than before.

        Raises DesktopError where it does not answer at all.
        """
        if self._open_view is None:
            return False
        if self._view is not None:
            try:
                self._view.pointer()
            except DesktopError:
                self._view.close()
                self._view = None
            else:
                return False
        view = self._open_view()
        try:
            view.pointer()
        except DesktopError:
            view.close()
            raise
        self._view = view
        return True

    def _look_at_screen(self) -> tuple[list[Display], Capability]:
        """Where the displays are, and whether they show.

        A picture is taken only where it may not succeed as the last one did.
        """
        displays = self._displays()
        if self._try_screen is None:
            return displays, SCREEN_IS_OFF
        is_as_before = bool(displays) and displays == self.state.displays
        if is_as_before and self.state.screen.available and not self._doubted:
            return displays, AVAILABLE
        self._doubted = False
        try:
            self._try_screen()
        except DesktopError as error:
            return displays, _unavailable(str(error))
        except Exception as error:  # noqa: BLE001  as above
            return displays, self._mistaken("screen", error)
        return displays, AVAILABLE

    def _displays(self) -> list[Display]:
        """Where the displays are, which a grabbed desktop does not say."""
        try:
            return self._injector.displays() if self._is_open else []
        except InjectionUnavailable:
            return []
        except Exception as error:  # noqa: BLE001  as above
            self._mistaken("displays", error)
            return []

    def _mistaken(self, what: str, error: Exception) -> Capability:
        """Why something cannot be looked at; in the log once, not at every look."""
        if self._mistakes.get(what) != (said := repr(error)):
            self._mistakes[what] = said
            logger.error("the %s cannot be looked at", what, exc_info=error)
        return _unavailable(f"the machine client made a mistake ({type(error).__name__})")


def _unavailable(reason: str) -> Capability:
    return Capability(available=False, reason=reason[:500])


def _log(what: str, before: Capability, now: Capability) -> None:
    if now.available and not before.available:
        logger.info("%s is possible", what)
    elif now.reason != before.reason:
        logger.warning("no %s is possible: %s", what, now.reason)
