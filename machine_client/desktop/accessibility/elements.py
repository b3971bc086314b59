"""Tells and finds elements: from what is meant to the one place where a click reaches it."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn, TypeVar

from machine_client.desktop.accessibility import acting, looking, switch
from machine_client.desktop.accessibility.bus import AccessibilityBus, Calls
from machine_client.desktop.accessibility.looking import Seen
from machine_client.desktop.accessibility.nodes import Node
from machine_client.desktop.accessibility.places import Places
from machine_client.desktop.accessibility.programs import Program
from machine_client.desktop.accessibility.search import Search, named
from machine_client.desktop.accessibility.telling import told
from machine_client.desktop.accessibility.windows import DesktopWindow, Windows
from machine_client.desktop.base import DesktopError, FoundElement, ListedElements, Refusal
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE, ElementRefusal, Point, Refused
from schemas.inputs.selectors import Selector, Sought
from schemas.values.pictures import Region

T = TypeVar("T")

SECONDS: Final = 4.0
"""For a question, however many programs there are."""

LOOKS_AGAIN: Final = 4
SETTLING_SECONDS: Final = 0.05
"""Between two looks at an element whose place is not sure."""

MOST_WITHOUT_PLACE: Final = 200
"""So many more than are told are looked at, as some turn out to be nowhere."""


@dataclass(frozen=True, slots=True)
class _Handle:
    """A found element, its program, and whether a click has to reach it."""

    program: Program
    node: Node
    place: bool


class AtSpiElements:
    """See `machine_client.desktop.base.DesktopElements`.

    Without ``windows`` the desktop does not say where windows are, and nothing has a place, for the
    reason that ``why_no_places`` has.  With both, it may or may not say so, at any time.
    """

    def __init__(self, windows: Windows | None, why_no_places: str = "") -> None:
        self._bus = AccessibilityBus()
        self._windows = windows
        self._why_no_places = why_no_places

    def why_none(self) -> str | None:
        try:
            self._ask(looking.nothing)
        except DesktopError as error:
            return str(error)
        return None

    def why_few(self) -> str | None:
        return switch.why_few()

    def is_switched_on(self) -> bool:
        return switch.is_switched_on()

    def switch(self, *, on: bool) -> None:
        switch.switch(on=on)

    def listed(
        self, sought: Sought, *, at: Point | None, limit: int, depth: int | None
    ) -> ListedElements:
        search = Search(sought)
        if at is not None:
            programs, nodes = self._at(search, at)
        else:
            programs, nodes = self._ask(lambda calls: looking.all_fitting(calls, search))
        if depth is not None:
            nodes = [each for each in nodes if each.node.depth <= depth]
        # Some say that they show and have no place, as what is in a closed list.
        looked_at = nodes[: limit + MOST_WITHOUT_PLACE]
        places = self._places(looked_at)
        somewhere = [each for each in looked_at if looking.is_somewhere(each.node)]
        is_limited = len(somewhere) > limit or len(nodes) > len(looked_at)
        shown = somewhere[:limit]
        self._ask(lambda calls: looking.read_details(calls, shown))
        where = [(places.bounds(each), places.covered(each)) for each in shown]
        return told(shown, where, programs, is_limited=is_limited)

    def sight(self, selector: Selector) -> tuple[bool | None, Region | None]:
        programs, seen = self._ask(lambda calls: looking.candidates(calls, Search(selector)))
        if not seen:
            is_known = not any(each.is_silent or each.is_late for each in programs)
            return (False if is_known else None), None
        return True, self._places(seen[:1]).bounds(seen[0])

    def find(self, selector: Selector, *, place: bool) -> FoundElement:
        if place and self._windows is None:
            raise DesktopError(ELEMENTS_UNAVAILABLE, self._why_no_places)
        if place and self._windows is not None:
            self._windows.demand_all_told()
        programs, seen = self._ask(lambda calls: looking.candidates(calls, Search(selector)))
        if not seen:
            _refuse("element_missing", _why_missing(selector, programs))
        if len(seen) > 1:
            _refuse(
                "element_ambiguous",
                f"{len(seen)} elements are like this: {named(each.node for each in seen)}. Say "
                "more of the one that is meant",
            )
        return self._usable(seen[0], place=place)

    def look_again(self, found: FoundElement) -> FoundElement:
        handle = _handle(found)
        if handle.place and self._windows is not None:
            self._windows.demand_all_told()
        seen = Seen(handle.program, handle.node)
        if not self._ask(lambda calls: looking.is_still_there(calls, seen)):
            _refuse("element_missing", "The element has changed, or cannot be seen any more")
        return self._usable(seen, place=handle.place)

    def invoke(self, found: FoundElement) -> None:
        self._ask(lambda calls: acting.invoke(calls, _handle(found).node))

    def set_value(self, found: FoundElement, value: str | float) -> None:
        self._ask(lambda calls: acting.set_value(calls, _handle(found).node, value))

    def focus(self, found: FoundElement) -> None:
        self._ask(lambda calls: acting.focus(calls, _handle(found).node))

    def close(self) -> None:
        self._bus.close()
        if self._windows is not None:
            self._windows.close()

    def _usable(self, seen: Seen, *, place: bool) -> FoundElement:
        """A found element that is enabled, and that a click reaches, where one is to."""
        node = seen.node
        called = f"The {named([node])}"
        if not node.is_enabled:
            _refuse("element_missing", f"{called} is disabled")
        handle = _Handle(seen.program, node, place)
        if not place or self._windows is None:
            return FoundElement(handle)
        self._demand_no_menu(self._windows, seen)
        places = self._settled(seen)
        if (bounds := places.bounds(seen)) is None:
            _refuse("element_missing", f"{called} has no place that can be told for sure")
        if (reached := places.reached(seen)) is None:
            _refuse("element_missing", f"{called} is covered, or beyond the edge of what it is in")
        return FoundElement(handle, bounds, reached)

    def _demand_no_menu(self, windows: Windows, seen: Seen) -> None:
        """Refuse an element over which a menu may be open that the desktop does not tell of."""
        if (why := self._why_menu(windows, seen.program.pid)) is not None:
            _refuse("element_missing", f"The {named([seen.node])} may be covered: {why}")

    def _why_menu(self, windows: Windows, process: int) -> str | None:
        """Why such a menu may be open over a program's windows; None where there is none."""
        for each, many in windows.untold_menus(process).items():
            why = self._ask(partial(looking.why_menu, process=each, windows=many))
            if why is not None:
                return why
        return None

    def _settled(self, seen: Seen) -> Places:
        """Where an element is, after some looks where program and desktop tell of two places.

        A window that is just changing its size does that for a moment.
        """
        places = self._places([seen])
        for _ in range(LOOKS_AGAIN):
            if places.bounds(seen) is not None:
                break
            time.sleep(SETTLING_SECONDS)
            if not self._ask(lambda calls: looking.is_still_there(calls, seen)):
                break
            places = self._places([seen])
        return places

    def _at(self, search: Search, at: Point) -> tuple[list[Program], list[Seen]]:
        """The elements at a place, in the window that is on top there, the innermost first."""
        window = self._window_at(at)
        if window is None:
            return [], []
        programs, nodes = self._ask(
            lambda calls: looking.all_fitting(calls, search, pid=window.pid)
        )
        self._ask(lambda calls: looking.read_places(calls, nodes))
        places = self._places(nodes)
        here = [each for each in nodes if places.is_at(each, at, window)]
        here.reverse()
        here.sort(key=lambda each: -each.node.depth)
        return programs, here

    def _window_at(self, at: Point) -> DesktopWindow | None:
        """The window that is on top at a place; None where that cannot be known."""
        if self._windows is None:
            return None
        try:
            self._windows.demand_all_told()
            window = self._windows.at(at.x, at.y)
        except DesktopError:
            if self._why_no_places:
                return None
            raise
        if window is None or self._why_menu(self._windows, window.pid) is not None:
            return None
        return window

    def _places(self, seen: list[Seen]) -> Places:
        """Where elements are on the desktop, now that it is known where their windows are."""
        self._ask(lambda calls: looking.read_places(calls, seen))
        if self._windows is None:
            return Places([], None)
        try:
            windows = self._windows.seen()
        except DesktopError:
            if self._why_no_places:
                return Places([], None)  # They are told without places there.
            raise
        places = Places(windows, self._windows)
        if relative := [each for each in seen if places.is_relative(each)]:
            self._ask(lambda calls: looking.read_places(calls, relative, relative=True))
        return places

    def _ask(self, question: Callable[[Calls], Awaitable[T]]) -> T:
        return self._bus.ask(question, SECONDS)


def _handle(found: FoundElement) -> _Handle:
    if not isinstance(found.handle, _Handle):
        raise TypeError("this element was found by somebody else")
    return found.handle


def _refuse(code: ElementRefusal, message: str) -> NoReturn:
    raise Refusal(Refused(code=code, message=message[:1000]))


def _why_missing(selector: Selector, programs: list[Program]) -> str:
    if silent := [program.title or "a program" for program in programs if program.is_silent]:
        return f"No element like this can be seen; {', '.join(silent[:3])} does not answer"
    if late := [program.title or "a program" for program in programs if program.is_late]:
        return f"{', '.join(late[:3])} shows too much to be looked at in time"
    if selector.ref is not None:
        return "The element of this ref is gone, cannot be seen, or is another one by now"
    return "No element like this can be seen"
