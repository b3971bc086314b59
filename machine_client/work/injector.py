"""Carries out inputs on this machine's desktop: checked whole first, then injected.

This module is what all systems share; `machine_client.desktop.base` says what it needs of one.
"""

import logging
import threading
import time
from collections.abc import Callable

from machine_client.desktop.base import (
    ELEMENTS_UNTOLD,
    Desktop,
    DesktopElements,
    DesktopError,
    DesktopInput,
    DesktopLost,
    InjectionUnavailable,
    OutcomeUnknown,
    Refusal,
    interrupted,
)
from machine_client.work.elements import Found, ask_element, find_all, put_on_elements
from machine_client.work.places import put_on_desktop
from machine_client.work.route import Route
from schemas.inputs import bodies
from schemas.inputs.key_combinations import Chord, Key, parse_combination
from schemas.inputs.modifiers import modifier_keys
from schemas.inputs.outcomes import Effect, Point, Refused
from schemas.inputs.texts import chords_of
from schemas.link.messages import Display, Released

__all__ = [
    "DesktopInjector",
    "InjectionFailed",
    "InjectionUnavailable",
    "OutcomeUnknown",
    "Refusal",
]

_DRAG_MOVES_A_SECOND = 100
_QUICK_DRAG_MOVES = 8
_QUICK_DRAG_SECONDS = 0.016
"""A drag without a duration: programs that drop moves arriving all at once still see some."""


_TOLD_OF_A_TEXT = {
    "character_not_typeable": "The keyboard now lacks a character of the text",
    "already_down": "Somebody else holds down a key that the text needs",
}

logger = logging.getLogger(__name__)


class InjectionFailed(Exception):  # noqa: N818  # an outcome, not an error of ours
    """An input was begun and not finished; what it had pressed was released, if that was possible.

    ``code`` is "interrupted", or what went wrong with the desktop.  ``injected_at_least`` counts
    the events that surely reached the desktop, those of the release included.
    """

    def __init__(self, code: str, message: str, injected_at_least: int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.injected_at_least = injected_at_least


class DesktopInjector:
    """The one that presses, on a desktop.

    For one thread at a time, and never the event loop: an input takes as long as it takes.  Only
    `interrupt`, `is_interrupted`, `injected`, `is_lost` and `displays` may be used from any thread
    at any time.

    One whose desktop was lost stays so; `machine_client.work.desktop_watch` opens another.

    The caller's duty: `prepare`, then write down that the input begins, then call what came back;
    `release_all` when the link ends, `close` at the end.
    """

    def __init__(
        self,
        desktop: Desktop,
        why_no_clipboard: str | None = None,
        elements: DesktopElements = ELEMENTS_UNTOLD,
    ) -> None:
        """Take hold of the desktop's pointer and keyboard.  Raises InjectionUnavailable.

        ``why_no_clipboard`` says why nothing is copied, where it is not.
        """
        self._elements = elements
        self._why_no_clipboard = why_no_clipboard
        self._input = desktop.open_input()
        self.is_lost = False
        self._released = self._input.released
        if self._released is not None:
            logger.warning(
                "released what a machine client that died had left pressed: %s",
                _named(self._released),
            )
        self._confirmed_before = self._input.confirmed
        self._stop = threading.Event()

    @property
    def effect(self) -> Effect:
        """What is known of an input that was carried out; for any thread."""
        return self._input.effect

    @property
    def injected(self) -> int:
        """How many events of the input prepared last have surely happened; for any thread."""
        return self._input.confirmed - self._confirmed_before

    def take_released(self) -> Released | None:
        """What a machine client that died had left pressed, if this released any; told once."""
        released, self._released = self._released, None
        return released

    def displays(self) -> list[Display]:
        """Look where the screens are now, some milliseconds long.  Raises InjectionUnavailable."""
        try:
            return self._input.look_at_displays()
        except DesktopError as error:
            raise InjectionUnavailable(str(error)) from error

    def prepare(self, body: bodies.AnyInput) -> Callable[[], Point]:
        """Check everything that can be known before the first event, and inject nothing.

        What comes back injects the input, once, and says where the pointer is after it; it raises
        InjectionFailed, and of an input that names elements Refusal as well, where one of them has
        changed meanwhile, or OutcomeUnknown.  Raises Refusal where this desktop cannot carry the
        input out, and InjectionUnavailable where there is none at the moment.
        """
        chords: tuple[Chord, ...] = ()
        try:
            desktop = self._present_input()
            # From here on, whoever looks sees this input's count and no earlier one's.
            self._confirmed_before = desktop.confirmed
            if isinstance(body, bodies.MouseInput):
                body = put_on_desktop(body, desktop)
                _check_button(body, desktop)
                if body.modifiers and (modifiers := modifier_keys(body.modifiers)):
                    _check_modifiers(modifiers, desktop)
                    chords = (Chord(modifiers, None),)
            elif isinstance(body, bodies.PressKeys):
                chords = parse_combination(body.text)
                if body.down is not False:
                    desktop.check_keys(chords, hold=bool(body.down or body.hold))
            elif isinstance(body, bodies.TypeText):
                chords = chords_of(body.text)
                _check_text(chords, desktop)
            elif isinstance(body, bodies.WriteClipboard):
                self._check_clipboard()
            found = find_all(body, self._elements)
        except DesktopError as error:
            self._note(error)
            raise InjectionUnavailable(str(error)) from error
        return lambda: self._perform(body, chords, found)

    @property
    def is_interrupted(self) -> bool:
        """Whether nothing is to begin any more before `release_all`; for any thread."""
        return self._stop.is_set()

    def pause(self, seconds: float) -> None:
        """Let time pass; less where it is interrupted."""
        self._stop.wait(seconds)

    def pointer(self) -> Point:
        """Say where the pointer is.  Raises InjectionUnavailable."""
        try:
            return self._present_input().pointer()
        except DesktopError as error:
            self._note(error)
            raise InjectionUnavailable(str(error)) from error

    def release(self, body: bodies.ClickMouse | bodies.PressKeys) -> None:
        """Release what an input holds, if it still does.

        Does not raise for a desktop that is gone, nor where somebody else holds it by now.
        """
        try:
            if isinstance(body, bodies.ClickMouse):
                self._input.release(body.button)
            else:
                self._input.release_keys(parse_combination(body.text))
            self._input.confirm()
        except DesktopError as error:
            self._note(error)
            logger.warning("what an input held may be pressed still: %s", error)

    def interrupt(self) -> None:
        """End a running drag, scroll or typing early, and let none begin before `release_all`."""
        self._stop.set()

    def release_all(self) -> None:
        """Release exactly the keys and buttons that earlier inputs hold.

        Does not raise for a desktop that is gone: what it held went with it.
        """
        try:
            self._input.release_all()
        except DesktopError as error:
            self._note(error)
        self._stop.clear()

    def close(self) -> None:
        """Release everything and leave the desktop as it was found."""
        self._input.close()

    def _present_input(self) -> DesktopInput:
        if self.is_lost:
            raise InjectionUnavailable("The desktop is gone; it is opened again when it is back")
        return self._input

    def _note(self, error: DesktopError) -> None:
        if isinstance(error, DesktopLost):
            self.is_lost = True

    def _check_clipboard(self) -> None:
        if self._why_no_clipboard is not None:
            raise Refusal(Refused(code="clipboard_unavailable", message=self._why_no_clipboard))

    def _perform(self, body: bodies.AnyInput, chords: tuple[Chord, ...], found: Found) -> Point:
        self._confirmed_before = self._input.confirmed
        try:
            try:
                self._go_on()
                if isinstance(body, bodies.ElementInput):
                    ask_element(body, found, self._elements, self._go_on)
                elif isinstance(body, bodies.MouseInput):
                    placed = put_on_elements(body, found, self._elements)
                    # Programs may have taken seconds to say where their elements are.
                    self._go_on()
                    self._gesture(placed, chords)
                else:
                    self._carry_out(body, chords)
            finally:
                # Confirms everything, after a failure too: the releases of what it had pressed.
                place = self._input.pointer()
        except DesktopError as error:
            self._note(error)
            raise InjectionFailed(error.code, _told(error, body), self.injected) from error
        return place

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise interrupted()

    def _carry_out(self, body: bodies.AnyInput, chords: tuple[Chord, ...]) -> None:
        match body:
            case bodies.PressKeys(down=None, hold=float(seconds), repeat=repeat):
                for _ in range(repeat):
                    self._hold_for(seconds, chords)
            case bodies.PressKeys(down=None, repeat=repeat):
                self._input.type_keys(chords * repeat, self._stop)
            case bodies.TypeText():
                self._input.type_keys(chords, self._stop)
            case bodies.PressKeys(down=True):
                self._input.hold_keys(chords)
            case bodies.PressKeys():
                self._input.release_keys(chords)
            case bodies.WriteClipboard(text=text, selection=selection):
                self._input.write_clipboard(selection, text)

    def _gesture(self, body: bodies.MouseInput, modifiers: tuple[Chord, ...]) -> None:
        """Hold modifiers meanwhile, if any; those that an earlier input holds stay held."""
        self._check_nobody_holds_it(body)
        fresh = self._input.press_modifiers(modifiers[0].modifiers) if modifiers else ()
        try:
            self._use_mouse(body)
        finally:
            self._let_go(fresh)

    def _check_nobody_holds_it(self, body: bodies.MouseInput) -> None:
        match body:
            case bodies.ClickMouse(button=button) | bodies.DragMouse(button=button):
                self._input.check_button(button or "left")
            case bodies.ScrollMouse(amount=amount, direction=direction) if amount:
                self._input.check_wheel(direction)

    def _hold_for(self, seconds: float, chords: tuple[Chord, ...]) -> None:
        self._go_on()
        fresh = self._input.hold_keys(chords)
        try:
            if self._stop.wait(seconds):
                raise interrupted()
        finally:
            self._let_go(fresh)

    def _let_go(self, keys: tuple[Key, ...]) -> None:
        if keys:
            self._input.release_keys((Chord(keys, None),))

    def _use_mouse(self, body: bodies.MouseInput) -> None:
        match body:
            case bodies.ClickMouse():
                self._click(body)
            case bodies.MoveMouse():
                self._travel_along(body)
            case bodies.ScrollMouse():
                self._scroll(body)
            case bodies.DragMouse():
                self._drag(body)

    def _travel_along(self, move: bodies.MoveMouse) -> None:
        """Pass every point: a program that draws needs the corners."""
        for point in move.passed:
            self._go_on()
            self._input.move(point.x, point.y)
        self._move_if_given(move.x, move.y)

    def _click(self, click: bodies.ClickMouse) -> None:
        """Click, or press or release once: ``clicks`` counts full clicks alone."""
        if click.down is not False:
            # Ours goes up where the pointer is: moved first, it would drag something along.
            self._input.release(click.button)
        if click.down is not False or not self._is_there(click.x, click.y):
            self._move_if_given(click.x, click.y)
        if click.down is True:
            self._input.press(click.button)
        elif click.down is False:
            self._input.release(click.button)
        else:
            for _ in range(click.clicks):
                self._input.press(click.button)
                self._input.release(click.button)

    def _scroll(self, scroll: bodies.ScrollMouse) -> None:
        self._move_if_given(scroll.x, scroll.y)
        for _ in range(scroll.amount):
            self._go_on()
            self._input.scroll(scroll.direction)
            self._input.confirm()

    def _drag(self, drag: bodies.DragMouse) -> None:
        button: bodies.Button = drag.button or "left"
        start, end, *corners = ((place.x, place.y) for place in drag.places)
        self._input.release(button)
        self._input.move(*start)
        try:
            self._input.press(button)
            self._travel(start, Route([start, *corners, end]), drag.duration)
        finally:
            self._input.release(button)

    def _travel(self, at: tuple[int, int], route: Route, seconds: float | None) -> None:
        """Move along the way by the clock, from where the pointer is, and nowhere twice at once.

        Late moves are skipped, but no point of the path, nor more than a quarter of them at once: a
        program must see that something is dragged, also where a clock ticks in 16 ms, as Windows'.
        """
        duration = seconds or _QUICK_DRAG_SECONDS
        moves = _QUICK_DRAG_MOVES
        if seconds:
            moves = max(moves, round(duration * _DRAG_MOVES_A_SECOND))
        # Where the desktop takes the press late, programs would see a shorter drag.
        self._input.confirm()
        begin = time.monotonic()
        move = 0
        while move < moves:
            passed = time.monotonic() - begin
            due = min(int(passed / duration * moves), move + moves // 4)
            before, move = move, min(moves, max(move + 1, due))
            if self._stop.wait(max(0.0, move / moves * duration - passed)):
                raise interrupted()
            for place in route.between(before / moves, move / moves):
                self._go_on()
                if place != at:
                    self._input.move(*place)
                    self._input.confirm()
                at = place

    def _is_there(self, x: int | None, y: int | None) -> bool:
        """Whether the pointer is at a place: to move it there would be a drag for some programs."""
        place = self._input.pointer()
        return (place.x, place.y) == (x, y)

    def _move_if_given(self, x: int | None, y: int | None) -> None:
        if x is not None and y is not None:
            self._input.move(x, y)


def _named(released: Released) -> str:
    """What was released, without which keys: they could tell what was typed."""
    named = [f"the {button} button" for button in released.buttons]
    if released.keys:
        named.append("1 key" if released.keys == 1 else f"{released.keys} keys")
    return ", ".join(named)


def _told(error: DesktopError, body: bodies.AnyInput) -> str:
    """An error in words that hold nothing of a typed text."""
    if isinstance(body, bodies.TypeText) and error.code in _TOLD_OF_A_TEXT:
        return _TOLD_OF_A_TEXT[error.code]
    return str(error)[:1000]


def _check_text(chords: tuple[Chord, ...], desktop: DesktopInput) -> None:
    """Raise Refusal where a character cannot be typed; it says which by its place alone."""
    try:
        desktop.check_keys(chords, hold=False)
    except Refusal as refusal:
        name = refusal.outcome.ctx.get("key")
        places = (
            position
            for position, chord in enumerate(chords, 1)
            if chord.key is not None and chord.key.name == name
        )
        position = next(places, 1)
        raise Refusal(
            Refused(
                code=refusal.outcome.code,
                message=f"The keyboard layout lacks character {position} of the text,"
                " and no unused key is left for it",
                loc=("body", "text"),
                ctx={"position": position},
            )
        ) from None


def _check_button(body: bodies.MouseInput, desktop: DesktopInput) -> None:
    """Raise Refusal where a desktop's mouse lacks the button."""
    if not isinstance(body, bodies.ClickMouse | bodies.DragMouse):
        return
    if (button := body.button or "left") not in desktop.buttons:
        raise Refusal(
            Refused(
                code="button_unavailable",
                message=f"The {button} button of a mouse cannot be pressed on this desktop, but"
                f" {', '.join(desktop.buttons)}",
                loc=("body", "button"),
                ctx={"buttons": list(desktop.buttons)},
            )
        )


def _check_modifiers(keys: tuple[Key, ...], desktop: DesktopInput) -> None:
    """Raise Refusal for the first modifier that the keyboard lacks."""
    for number, key in enumerate(keys):
        try:
            desktop.check_keys((Chord((key,), None),), hold=True)
        except Refusal as refusal:
            where = ("body", "modifiers", str(number))
            raise Refusal(refusal.outcome.model_copy(update={"loc": where})) from None
