"""The elements of a recorded machine, asked for while nothing is done on it.

No input waits for this, and nothing is asked while one is carried out.  Between two inputs it is
asked what elements there are.  Where several windows have the place of an input, it is asked after
it which of their elements is there: only one that was there before, too, is the one it was for.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from schemas.inputs.bodies import ClickMouse, DragMouse, InputBody, MoveMouse, ScrollMouse
from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Sought
from schemas.link.element_messages import MAX_ELEMENTS, SeenElement
from schemas.values.pictures import Region
from server.dispatch.command import Command
from server.dispatch.here.selectors import selectors_of
from server.dispatch.recording.beneath import Beneath
from server.dispatch.recording.drafts import place_of
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.screens import NotOnScreenError, ScreenUnavailableError
from server.machines.socket import LinkSocket
from server.tasks import Tasks

QUIET_SECONDS: Final = 0.1
"""After an input, before it is asked: programs need a moment to show what it did."""

REST_SECONDS: Final = 0.3
"""From one answer to the next question, or as long as the answer took, if that is longer."""

ANSWER_SECONDS: Final = 2.0

_NOTHING: Final[Mapping[str, SeenElement]] = {}


class Surroundings:
    """Knows which elements a machine showed before an input, for all recordings of it."""

    def __init__(self, link: LinkSocket, background: Tasks) -> None:
        self._link = link
        self._background = background
        self._seen = _NOTHING
        self._inputs = 0
        # The latest of the inputs that are recorded, until another one comes.
        self._latest: Beneath | None = None
        self._woken = asyncio.Event()
        self._is_asking = False
        self._running = background.start_and_report(self._run(), "see the elements of a recording")

    def close(self) -> None:
        """Ask no more."""
        self._running.cancel()

    def began(self, command: Command, *, is_recorded: bool) -> Beneath | None:
        """An input is on its way; what is under its place is known a little later."""
        seen = self._seen
        if not _changes_something(command.body):
            return None
        self._passed()
        if _is_release(command.body):
            return None
        self._latest = None
        place = _pressed_place(command.body)
        if place is None or not seen or not is_recorded:
            return None
        self._latest = Beneath(place, seen)
        return self._latest

    def ended(self, command: Command, beneath: Beneath | None) -> None:
        """An input is over, however it ended."""
        if _changes_something(command.body):
            self._passed()
        if beneath is not None and not self._is_asking:
            self._is_asking = True
            self._background.start_and_report(self._find(beneath), "see what is at a place")

    def _passed(self) -> None:
        """What was seen is not sure to be there any more."""
        self._inputs += 1
        self._seen = _NOTHING
        self._woken.set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        self._woken.set()
        while not self._link.is_over:
            await self._woken.wait()
            inputs = None
            while inputs != self._inputs:
                inputs = self._inputs
                await asyncio.sleep(QUIET_SECONDS)
            self._woken.clear()
            began = loop.time()
            seen = await self._elements(None, MAX_ELEMENTS)
            if inputs == self._inputs:
                self._seen = seen
                if seen and self._latest is not None:
                    self._latest.left, self._latest = seen, None
            await asyncio.sleep(max(REST_SECONDS, loop.time() - began))

    async def _find(self, beneath: Beneath) -> None:
        try:
            there = [each for each in beneath.seen.values() if _has(each.bounds, beneath.place)]
            if len({(each.application, each.window) for each in there}) > 1:
                x, y = beneath.place
                found = await self._elements(Point(x=x, y=y), 1)
                there = [each for each in there if _is_same(each, found.get(each.ref))]
            if there:
                # The innermost comes last of those that are as deep.
                _tell(beneath, max(reversed(there), key=lambda each: each.depth))
        finally:
            self._is_asking = False

    async def _elements(self, at: Point | None, limit: int) -> Mapping[str, SeenElement]:
        """The elements there are by their refs; none where not all are told, in bounded time."""
        if self._link.desktop.why_no_elements is not None:
            return _NOTHING
        with suppress(
            *(LinkBusyError, LinkDownError, LinkLostError, TimeoutError),
            *(ScreenUnavailableError, NotOnScreenError),
        ):
            screen = self._link.screen
            answer = await screen.elements(Sought(), at, limit, None, ANSWER_SECONDS)
            is_whole = at is not None or answer.truncated is None
            if is_whole and not answer.silent:
                return {each.ref: each for each in answer.elements}
        return _NOTHING


def _changes_something(body: InputBody) -> bool:
    """Whether an input may have elements change: a hand's moves come too often to count."""
    return not isinstance(body, MoveMouse)


def _pressed_place(body: InputBody) -> tuple[int, int] | None:
    """Where an input presses or turns something; None where it only lets go."""
    is_pressed = isinstance(body, ClickMouse | DragMouse | ScrollMouse) and not _is_release(body)
    return place_of(body) if is_pressed else None


def _is_release(body: InputBody) -> bool:
    return isinstance(body, ClickMouse) and body.down is False


def _has(bounds: Region | None, place: tuple[int, int]) -> bool:
    if bounds is None:
        return False
    x, y = place
    return 0 <= x - bounds.x < bounds.width and 0 <= y - bounds.y < bounds.height


def _is_same(one: SeenElement, other: SeenElement | None) -> bool:
    if other is None:
        return False
    return (one.role, one.name, one.bounds) == (other.role, other.name, other.bounds)


def _tell(beneath: Beneath, element: SeenElement) -> None:
    beneath.box = element.bounds
    (beneath.selector,) = selectors_of([element], list(beneath.seen.values()), Sought())
