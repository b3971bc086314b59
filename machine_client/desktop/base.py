"""What Farhand needs of a desktop, whichever system draws it, and how it says no.

A `Desktop` names one and opens nothing by itself.  `DesktopInput` acts on it, `DesktopView` only
looks: they are two, because nobody who looks may wait for somebody who acts, a minute in a long
drag, and because either can be possible where the other is not.
`tests/machine_client/desktop/contract` is what every implementation must do, as tests.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn, Protocol

from schemas.inputs.bodies import Button, Direction
from schemas.inputs.clipboard_texts import Selection
from schemas.inputs.key_combinations import Chord, Key
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE, Effect, Point, Refused
from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import SeenElement, Truncation
from schemas.link.messages import Display, Released
from schemas.values.pictures import Region, Size


class InjectionUnavailable(Exception):  # noqa: N818  # an outcome, not an error of ours
    """Nothing can be injected on this machine now; ``str()`` tells a person why."""


class Refusal(Exception):  # noqa: N818  # an outcome, not an error of ours
    """An input cannot be carried out, and nothing of it was."""

    def __init__(self, outcome: Refused) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class DesktopError(Exception):
    """The desktop failed in the middle of something; ``code`` is that of an input's outcome."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class DesktopLost(DesktopError):  # noqa: N818  # what is known, and not what was done wrong
    """The desktop has ended, or nobody reaches it any more: another one must be opened."""

    def __init__(self, message: str) -> None:
        super().__init__("display_lost", message)


class ClipboardError(DesktopError):
    """A clipboard cannot be read or written; ``str()`` holds nothing of what is in it."""


def key_refused(key: Key, code: str, message: str) -> Refusal:
    """What says that a key of an input is not pressed, and nothing of the input is."""
    return Refusal(Refused(code=code, message=message, loc=("body", "text"), ctx={"key": key.name}))


def held_by_others(what: str) -> DesktopError:
    """What an input fails with that needs what somebody else holds."""
    return DesktopError("already_down", f"Somebody else holds down {what}")


def interrupted() -> DesktopError:
    """What ends an input that was told to stop."""
    return DesktopError(
        "interrupted",
        "The input was interrupted: control changed, the machine was paused, or its client or its "
        "server stops",
    )


@dataclass(frozen=True, slots=True)
class RawFrame:
    """The pixels of a part of the desktop: rows of blue, green, red and a byte that says nothing.

    ``region`` is where it lies, in the coordinates of inputs; ``size`` can be another than the
    region's where the system draws several pixels for each of those.  ``captured_at`` is seconds
    of the boottime clock.  ``pointer_at`` is where the pointer may be on a frame that was wanted
    without it.
    """

    region: Region
    size: Size
    pixels: bytearray
    captured_at: float
    pointer_at: Point | None = None

    def looks_like(self, other: "RawFrame | None") -> bool:
        """Whether it shows the same; a comparison of all bytes is quicker than any hash."""
        return (
            other is not None
            and (self.region, self.size) == (other.region, other.size)
            and self.pixels == other.pixels
        )


@dataclass(frozen=True, slots=True)
class DesktopCheck:
    """One look whether a part of a desktop can be used, which changes nothing on it.

    ``look`` returns what is good about it, or raises InjectionUnavailable or DesktopError with what
    is wrong, and what would mend it.  It may never return: ``if_silent`` says what that means.
    """

    part: Literal["display", "input", "screen"]
    look: Callable[[], str]
    if_silent: str


@dataclass(frozen=True, slots=True)
class FoundElement:
    """The one element that is meant; ``place`` is where a click reaches it, if that was asked.

    ``handle`` is the finder's own.
    """

    handle: object
    bounds: Region | None = None
    place: Point | None = None


@dataclass(frozen=True, slots=True)
class ListedElements:
    """Elements of the screen, why these are not all, and the programs that did not answer."""

    elements: tuple[SeenElement, ...]
    truncated: Truncation | None = None
    silent: tuple[str, ...] = ()


class OutcomeUnknown(Exception):  # noqa: N818  # an outcome, not an error of ours
    """Something was asked of a program that does not say whether it did it."""


class DesktopElements(Protocol):
    """What a desktop's programs say is on its screen; for any thread.

    All of it takes some seconds at most, whatever programs do.  It raises DesktopError of code
    "elements_unavailable" where nothing is told, and Refusal, whose place the caller knows, where
    an element is missing, or several are meant.
    """

    def why_none(self) -> str | None:
        """Why nothing is told here, and what would mend it; None where it is."""

    def listed(
        self, sought: Sought, *, at: Point | None, limit: int, depth: int | None
    ) -> ListedElements:
        """Tell what can be seen, or what of it is at a place."""

    def sight(self, selector: Selector) -> tuple[bool | None, Region | None]:
        """Whether any such element can be seen, and where one is.

        None where no such one is, of those that are told, and some program does not tell.
        """

    def find(self, selector: Selector, *, place: bool) -> FoundElement:
        """Find the one element that is meant, that can be seen, and is enabled.

        With ``place`` it is one that a click reaches: nothing else is before it.
        """

    def look_again(self, found: FoundElement) -> FoundElement:
        """Make sure of a found element right before something is done; it may have moved."""

    def invoke(self, found: FoundElement) -> None:
        """Have it do what it is there for; OutcomeUnknown where its program is stuck then.

        So do the two below.
        """

    def set_value(self, found: FoundElement, value: str | float) -> None:
        """Put a text or a number into it."""

    def focus(self, found: FoundElement) -> None:
        """Put the keyboard's focus on it."""

    def why_few(self) -> str | None:
        """Why some programs tell nothing though others may, with the remedy; None: none does so.

        Raises DesktopError.
        """

    def is_switched_on(self) -> bool:
        """Whether programs are asked to tell what they show; DesktopError where nobody says so."""

    def switch(self, *, on: bool) -> None:
        """Ask them to from now on, or not any more.  Raises DesktopError."""

    def close(self) -> None:
        """Let go of what was opened; whoever asks afterwards has it opened again."""


class NoElements:
    """See `DesktopElements`; ``reason`` says why a desktop has none."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def why_none(self) -> str | None:
        return self._reason

    def listed(
        self, sought: Sought, *, at: Point | None, limit: int, depth: int | None
    ) -> NoReturn:
        raise self._error

    def sight(self, selector: Selector) -> NoReturn:
        raise self._error

    def find(self, selector: Selector, *, place: bool) -> NoReturn:
        raise self._error

    def look_again(self, found: FoundElement) -> NoReturn:
        raise self._error

    def invoke(self, found: FoundElement) -> NoReturn:
        raise self._error

    def set_value(self, found: FoundElement, value: str | float) -> NoReturn:
        raise self._error

    def focus(self, found: FoundElement) -> NoReturn:
        raise self._error

    def why_few(self) -> str | None:
        return None

    def is_switched_on(self) -> NoReturn:
        raise self._error

    def switch(self, *, on: bool) -> NoReturn:
        raise self._error

    def close(self) -> None:
        """There is nothing to close."""

    @property
    def _error(self) -> DesktopError:
        return DesktopError(ELEMENTS_UNAVAILABLE, self._reason)


ELEMENTS_UNTOLD = NoElements("its owner lets nobody see elements")


class Desktop(Protocol):
    """A desktop that inputs can go into and pictures can come from; for any thread.

    It outlives what it names: after a desktop has ended and come back, the same object opens the
    new one.
    """

    def open_input(self) -> "DesktopInput":
        """Take hold of pointer and keyboard.

        Whatever a machine client that died had left pressed is released.  Raises
        InjectionUnavailable, which says why nothing can be injected.  May never return where the
        desktop hangs.
        """

    def open_view(self) -> "DesktopView":
        """Make something to look through; it opens what it needs when it needs it."""

    def why_no_clipboard(self) -> str | None:
        """Why this kind of desktop has no clipboard that could be used; None where it has one.

        It asks the desktop, and so takes as long as that does.
        """

    def read_clipboard(self, selection: Selection) -> str:
        """What was copied last, whichever program it was; empty where nothing was.

        Raises ClipboardError where that is no text, is too long, or is not said in time, and
        DesktopError.  It takes some seconds at most, unless the desktop hangs.
        """

    def elements(self) -> DesktopElements:
        """What tells of the elements on the screen; it opens what it needs when it needs it."""

    def checks(self) -> tuple[DesktopCheck, ...]:
        """What to look at where something does not work: the display, the input, the screen."""


class DesktopView(Protocol):
    """Looks at a desktop, also while a program keeps others from it, and changes nothing on it.

    For one thread at a time.  Every method but `close` may raise DesktopError, and goes on working
    after one: where the desktop is back, it is seen again.
    """

    def displays(self) -> list[Display]:
        """Say where the screens are, at least one, in the coordinates of inputs."""

    def pointer(self) -> Point:
        """Say where the pointer is."""

    def capture(self, *, pointer: bool = True) -> RawFrame:
        """Take all displays as one picture, as it is now, with the pointer on it or without.

        Where it cannot be left out for sure, the frame says where it may be.
        """

    def wait_until_drawn(self, seconds: float) -> bool:
        """Wait until something may have been drawn, at most so long; whether it may.

        What was drawn before the last `capture` is told once at most.  Where a desktop does not
        tell, this takes all of the time and it may have been.
        """

    def close(self) -> None:
        """Let go of the desktop; safe when it has ended, and twice."""


class DesktopInput(Protocol):
    """A desktop's pointer and keyboard, which knows what we hold on them.

    For one thread at a time, but for what is said to be for any.  Every method but `close` may
    raise DesktopError: DesktopLost, and from then on always that, once the desktop has ended.  A
    method that is given ``stop`` ends early with a DesktopError of code "interrupted" once that
    event is set.

    Events are in the order of the calls.  They need not have happened when a call returns, but
    before `confirm` or `pointer` does.
    """

    @property
    def released(self) -> Released | None:
        """What was found pressed, and released, when this was opened.

        A machine client that had died had left it behind.
        """

    @property
    def buttons(self) -> tuple[Button, ...]:
        """The buttons of a mouse that can be pressed here."""

    @property
    def effect(self) -> Effect:
        """What is known of events that `confirm` has waited for; for any thread."""

    @property
    def confirmed(self) -> int:
        """How many events have surely reached the desktop since it was opened; for any thread."""

    def displays(self) -> list[Display]:
        """Say where the screens are, at least one; cheap unless they have changed."""

    def look_at_displays(self) -> list[Display]:
        """Say where the screens are, looking anew; for any thread."""

    def pointer(self) -> Point:
        """Say where the pointer is, after every event so far has been confirmed."""

    def confirm(self) -> None:
        """Wait until every event so far has reached the desktop."""

    def check_button(self, button: Button) -> None:
        """Raise DesktopError of code "already_down" where somebody else holds a mouse button."""

    def check_wheel(self, direction: Direction) -> None:
        """Raise the same where somebody else holds what turns the wheel."""

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere."""

    def press(self, button: Button) -> None:
        """Press a mouse button that is up, as one is after `check_button` and `release`."""

    def release(self, button: Button) -> None:
        """Release a mouse button if we hold it."""

    def scroll(self, direction: Direction) -> None:
        """Turn the wheel by one notch."""

    def check_keys(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        """Raise Refusal where the keyboard lacks a key, or cannot hold so many at once."""

    def type_keys(self, chords: tuple[Chord, ...], stop: threading.Event) -> None:
        """Press and release one chord after another, and leave nothing pressed by them.

        DesktopError of code "already_down" where somebody else holds a key; so does `hold_keys`.
        """

    def hold_keys(self, chords: tuple[Chord, ...]) -> tuple[Key, ...]:
        """Press every key and keep it pressed; where that fails, none of them stays pressed.

        Returns those that we did not hold before.
        """

    def press_modifiers(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        """Press those that we do not hold yet and keep them pressed, and return these.

        Else as `hold_keys`, but "already_down" for a modifier, too, that somebody else holds.
        """

    def release_keys(self, chords: tuple[Chord, ...]) -> None:
        """Release every key that we hold, last one first; "already_down" where others hold one."""

    def write_clipboard(self, selection: Selection, text: str) -> None:
        """Copy a text, for whoever pastes until something else is copied, or this is closed.

        Raises ClipboardError where it was not copied: then nothing has changed.
        """

    def release_all(self) -> None:
        """Release every button and key that we hold, and put back what was lent."""

    def close(self) -> None:
        """Release everything that we hold, as `release_all`, and let go of the desktop.

        Safe when it has ended, and twice; never raises.
        """
