"""What the injector needs of a desktop, whichever system draws it, and how it says no."""

import threading
from typing import Protocol

from schemas.inputs.bodies import Button, Direction
from schemas.inputs.key_combinations import Chord
from schemas.inputs.outcomes import Point, Refused
from schemas.link.messages import Display, Released


class InjectionUnavailable(Exception):  # noqa: N818  # an outcome, not an error of ours
    """Nothing can be injected on this machine now; ``str()`` tells a person why."""


class Refusal(Exception):  # noqa: N818  # an outcome, not an error of ours
    """An input cannot be carried out, and nothing of it was."""

    def __init__(self, outcome: Refused) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class DesktopError(Exception):
    """The desktop failed in the middle of an input; ``code`` is that of its outcome."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def interrupted() -> DesktopError:
    """What ends an input that was told to stop."""
    return DesktopError("interrupted", "The input was interrupted because the client is stopping")


class Desktop(Protocol):
    """A desktop's pointer, keyboard and displays, which knows what we hold on it.

    Not for several threads at once.  Every method may raise DesktopError.  A method that is given
    ``stop`` ends early with a DesktopError of code "interrupted" once that event is set.

    ``released`` is what was found pressed, and released, when this was opened: left behind by a
    machine client that had died.
    """

    @property
    def released(self) -> Released | None: ...

    @property
    def confirmed(self) -> int:
        """How many events have surely reached the desktop since it was opened."""

    def displays(self) -> list[Display]:
        """Say where the screens are, at least one; cheap unless they have changed."""

    def look_at_displays(self) -> list[Display]:
        """Say where the screens are, looking anew; the one method for any thread."""

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

    def hold_keys(self, chords: tuple[Chord, ...]) -> None:
        """Press every key and keep it pressed; where that fails, none of them stays pressed."""

    def release_keys(self, chords: tuple[Chord, ...]) -> None:
        """Release every key that we hold, last one first; "already_down" where others hold one."""

    def release_all(self) -> None:
        """Release every button and key that we hold, and put back what was lent."""

    def close(self) -> None:
        """End the connection."""
