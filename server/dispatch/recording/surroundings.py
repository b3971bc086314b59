"""The elements of a recorded machine, asked for while nothing is done on it.

No input waits for this, and nothing is asked while one is carried out.  Between two inputs it is
asked what elements there are, and what lies over them.  Where several windows still have the place
of an input, it is asked after it which of their elements is there: only one that was there before,
too, is the one it was for.
After an input that types it is asked some times, until nothing more is to be known of its text.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from schemas.inputs.bodies import (
    ClickMouse,
    DragMouse,
    InputBody,
    PressKeys,
    ScrollMouse,
    TypeText,
)
from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import MAX_ELEMENTS, SeenElement
from schemas.steps.surroundings import Around
from schemas.values.pictures import Region
from server.dispatch.command import Command
from server.dispatch.here.neighbours import around as what_is_around
from server.dispatch.here.neighbours import is_like, lacks
from server.dispatch.here.selectors import selectors_of, sought_as
from server.dispatch.recording.before_and_after import (
    BeforeAndAfter,
    Beneath,
    Elements,
    changes_texts,
    is_quiet,
)
from server.dispatch.recording.drafts import place_of
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.privacy import NOBODY, PrivateError
from server.machines.screens import NotOnScreenError, ScreenUnavailableError
from server.machines.socket import LinkSocket
from server.tasks import Tasks

QUIET_SECONDS: Final = 0.1
"""After an input, before it is asked: programs need a moment to show what it did."""

REST_SECONDS: Final = 0.3
"""From one answer to the next question, or as long as the answer took, if that is longer."""

ANSWER_SECONDS: Final = 2.0

MOST_LOOKS: Final = 3
"""After an input that types: a program that is slow shows its text a little later."""

MOST_SECONDS: Final = 3.0
"""After an input that types, where others come all the time: its step waits no longer."""

_NOTHING: Final[Elements] = {}


@dataclass(slots=True)
class _Typed:
    """An input after which it is looked: how many there were by then, and looks since.

    ``ended`` is when it was over, by the loop's clock.
    """

    around: BeforeAndAfter
    inputs: int
    has_text: bool
    ended: float
    looks: int = 0


class Surroundings:
    """Knows which elements a machine showed before an input, for all recordings of it."""

    def __init__(self, link: LinkSocket, background: Tasks) -> None:
        self._link = link
        self._background = background
        self._seen = _NOTHING
        # The last that were seen before any text was changed, and how many inputs changed one.
        self._before: Elements | None = None
        self._texts = 0
        # What was typed since, with how many inputs there were by then, and looks since.
        self._typed: list[_Typed] = []
        # The latest of the inputs that are recorded, until another one comes.
        self._latest: Beneath | None = None
        self._inputs = self._under_way = 0
        self._woken = asyncio.Event()
        self._is_asking = self._is_private = self._is_closed = False
        self._running = background.start_and_report(self._run(), "see the elements of a recording")

    def close(self) -> None:
        """Ask no more."""
        self._is_closed = True
        self._running.cancel()
        self._forget_typed(1)

    def began(
        self, command: Command, *, is_recorded: bool
    ) -> tuple[Beneath | None, BeforeAndAfter | None]:
        """An input is on its way; what is under its place, and around it, is known a little later.

        There is something around an input that may type one text.
        """
        seen = self._seen
        if is_quiet(command.body):
            return None, None
        self._passed()
        self._under_way += 1
        around = self._around(changes_texts(command.body), seen)
        beneath = _beneath(command.body, seen) if is_recorded else None
        if not _is_release(command.body):
            # A text that is typed may stand in names, and keys have no place.
            has_place = beneath is not None and beneath.place is not None
            self._latest = beneath if has_place else None
        return (beneath, around) if is_recorded else (None, None)

    def ended(
        self, command: Command, beneath: Beneath | None, around: BeforeAndAfter | None
    ) -> None:
        """An input is over, however it ended."""
        if not is_quiet(command.body):
            self._under_way -= 1
            self._passed()
        if around is not None:
            # Where another one has begun, nothing tells them apart.
            around.is_over = self._is_closed or around.number != self._texts
            if not around.is_over:
                has_text = changes_texts(command.body) > 0
                ended = asyncio.get_running_loop().time()
                self._typed.append(_Typed(around, self._inputs, has_text, ended))
        if beneath is None or beneath.place is None or self._is_asking:
            return
        self._is_asking = True
        finding = self._find(beneath, beneath.place)
        self._background.start_and_report(finding, "see what is at a place")

    def private_is(self, is_private: bool) -> None:
        """Nobody looks while somebody has private control: then nothing seen before is sure."""
        if is_private == self._is_private:
            return
        self._is_private = is_private
        self._before = self._latest = None
        self._forget_typed(1)
        self._passed()

    def _around(self, texts: int, seen: Elements) -> BeforeAndAfter | None:
        """What is around an input that may change so many texts; None for several."""
        if self._link.desktop.why_no_elements is not None:
            return None
        self._forget_typed(texts)
        self._texts += texts
        before = self._before
        if texts:
            self._before = None
        if texts > 1:
            return None
        return BeforeAndAfter(before, bool(seen) and before is not None, self._texts)

    def _forget_typed(self, texts: int) -> None:
        """Another input comes, which may change texts: then what was typed is not told apart."""
        for each in self._typed:
            each.around.is_over |= texts > 0 or not each.has_text
        self._forget_what_is_over()

    def _give_up_on_typed(self) -> None:
        """What was typed long ago, with other inputs since, is looked for no more."""
        now = asyncio.get_running_loop().time()
        for each in self._typed:
            is_late = now - each.ended > MOST_SECONDS
            each.around.is_over |= is_late and each.inputs != self._inputs
        self._forget_what_is_over()

    def _forget_what_is_over(self) -> None:
        self._typed = [each for each in self._typed if not each.around.is_over]

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
            while inputs != self._inputs or self._under_way:
                inputs = self._inputs
                await asyncio.sleep(QUIET_SECONDS)
                self._give_up_on_typed()
            self._woken.clear()
            began = loop.time()
            seen = await self._elements(None, MAX_ELEMENTS)
            if inputs == self._inputs:
                self._seen = seen
                self._was_seen(seen)
            took = loop.time() - began
            await asyncio.sleep(max(REST_SECONDS, took))

    def _was_seen(self, seen: Elements) -> None:
        """Nothing was done while this was looked for."""
        self._before = seen or None
        if seen and self._latest is not None:
            self._latest.left, self._latest = seen, None
        self._forget_what_is_over()
        for each in self._typed:
            each.looks += 1
            each.around.after = seen or None
            each.around.is_after_fresh = each.inputs == self._inputs
            most = MOST_LOOKS if each.has_text else 1
            each.around.is_over |= each.looks >= most or not seen
        self._forget_what_is_over()
        if self._typed:
            self._woken.set()

    async def _find(self, beneath: Beneath, place: tuple[int, int]) -> None:
        try:
            there = [each for each in beneath.seen.values() if _is_at(each, place)]
            if len({(each.application, each.window) for each in there}) > 1:
                x, y = place
                found = await self._elements(Point(x=x, y=y), 1)
                there = [each for each in there if _is_same(each, found.get(each.ref))]
            if there:
                # The innermost comes last of those that are as deep.
                _tell(beneath, max(reversed(there), key=lambda each: each.depth))
        finally:
            self._is_asking = False

    async def _elements(self, at: Point | None, limit: int) -> Elements:
        """The elements there are by their refs; none where not all are told, in bounded time."""
        if self._link.desktop.why_no_elements is not None:
            return _NOTHING
        with suppress(
            *(LinkBusyError, LinkDownError, LinkLostError, TimeoutError),
            *(ScreenUnavailableError, NotOnScreenError, PrivateError),
        ):
            screen = self._link.screen
            async with self._link.privacy.look(NOBODY):
                answer = await screen.elements(Sought(), at, limit, None, ANSWER_SECONDS)
            is_whole = at is not None or answer.truncated is None
            if is_whole and not answer.silent:
                return {each.ref: each for each in answer.elements}
        return _NOTHING


def _beneath(body: InputBody, seen: Elements) -> Beneath | None:
    """What an input is for, where anything is known of what there is."""
    if not seen:
        return None
    if isinstance(body, PressKeys | TypeText):
        return _with_focus(seen)
    place = _pressed_place(body)
    return None if place is None else Beneath(place, seen)


def _pressed_place(body: InputBody) -> tuple[int, int] | None:
    """Where an input presses or turns something; None where it only lets go."""
    is_pressed = isinstance(body, ClickMouse | DragMouse | ScrollMouse) and not _is_release(body)
    return place_of(body) if is_pressed else None


def _is_release(body: InputBody) -> bool:
    return isinstance(body, ClickMouse) and body.down is False


def _is_at(element: SeenElement, place: tuple[int, int]) -> bool:
    """Whether an element is at a place, with nothing over it there."""
    return _has(element.bounds, place) and not any(_has(each, place) for each in element.covered)


def _has(bounds: Region | None, place: tuple[int, int]) -> bool:
    if bounds is None:
        return False
    x, y = place
    return 0 <= x - bounds.x < bounds.width and 0 <= y - bounds.y < bounds.height


def _is_same(one: SeenElement, other: SeenElement | None) -> bool:
    if other is None:
        return False
    return (one.role, one.name, one.bounds) == (other.role, other.name, other.bounds)


def _with_focus(seen: Elements) -> Beneath | None:
    """What keys go to, where one element alone says that it has the focus."""
    focused = [each for each in seen.values() if "focused" in each.states]
    if len(focused) != 1:
        return None
    beneath = Beneath(None, seen)
    _tell(beneath, focused[0])
    if beneath.around is not None and "editable" in focused[0].states and focused[0].value == "":
        beneath.around = beneath.around.model_copy(update={"is_empty": True})
    return beneath


def _tell(beneath: Beneath, element: SeenElement) -> None:
    among = list(beneath.seen.values())
    beneath.box, beneath.ref = element.bounds, element.ref
    beneath.around = what_is_around(element, among)
    (selector,) = selectors_of([element], among, Sought())
    if selector.ref is not None or selector.value is not None:
        selector = _by_what_is_around(element, among, beneath.around) or selector
    beneath.selector = selector


def _by_what_is_around(
    element: SeenElement, among: Sequence[SeenElement], recorded: Around
) -> Selector | None:
    """What finds it among those like it by what stands around each; None where nothing does."""
    sought = sought_as(element)
    if sought is None:
        return None
    same = [each for each in among if is_like(each, sought) and not lacks(each, among, recorded)]
    return sought if same == [element] else None
