"""One connection to an X server: fake key events, what changed meanwhile, and errors in words."""

import contextlib
from collections.abc import Iterator
from typing import Any

import Xlib.display
import Xlib.error
from Xlib import X
from Xlib.ext import randr, xtest

from machine_client.desktop import DesktopError, InjectionUnavailable
from machine_client.x11 import xkb


@contextlib.contextmanager
def errors_translated() -> Iterator[None]:
    """Raise as DesktopError what python-xlib raises."""
    try:
        yield
    except (Xlib.error.ConnectionClosedError, OSError) as error:
        raise DesktopError("display_lost", "The connection to the X server ended") from error
    except Xlib.error.XError as error:
        raise DesktopError("display_error", f"The X server refused a request: {error}") from error


class X11Connection:
    """A display with XTEST and XKB.

    Not for several threads at once.  Raises InjectionUnavailable where the display cannot be
    opened or lacks an extension; wrap the methods in `errors_translated`.

    ``confirmed`` counts the events that the server has surely processed.
    """

    def __init__(self, name: str | None) -> None:
        # Any: python-xlib adds the extensions' methods to its objects at run time.
        self.display: Any = open_display(name)
        self.root: Any = self.display.screen().root
        self.confirmed = 0
        self._sent = 0
        self._errors: list[Xlib.error.XError] = []
        self._keyboard_changed = self._displays_changed = True
        self._watch_errors()
        try:
            with errors_translated():
                self._prepare()
        except DesktopError as error:
            self.close()
            raise InjectionUnavailable(str(error)) from error
        except InjectionUnavailable:
            self.close()
            raise

    def _prepare(self) -> None:
        extension = self.display.query_extension(xkb.EXTENSION)
        if extension is None or not self.display.has_extension(xtest.extname):
            raise InjectionUnavailable(
                "The X server lacks the extension XTEST or XKEYBOARD, without which nothing"
                " can be typed on it: enable both"
            )
        self._keyboard_opcode, self._keyboard_event = extension.major_opcode, extension.first_event
        if not xkb.use_extension(self.display.display, self._keyboard_opcode):
            raise InjectionUnavailable("The X server does not speak version 1.0 of XKEYBOARD")
        xkb.select_map_changes(self.display.display, self._keyboard_opcode)
        # A program that grabs the server, as some menus do, would stop us for as long as it likes.
        self.display.xtest_grab_control(True)
        # The root's size is told by every server; RANDR also tells of screens moved within it.
        self.root.change_attributes(event_mask=X.StructureNotifyMask)
        if self.display.has_extension(randr.extname):
            self.root.xrandr_select_input(
                randr.RRScreenChangeNotifyMask
                | randr.RRCrtcChangeNotifyMask
                | randr.RROutputChangeNotifyMask
            )
        self.confirm()

    def fake_key(self, keycode: int, *, down: bool) -> None:
        """Press or release a key; it has surely happened once `confirm` returns."""
        xtest.fake_input(self.display, X.KeyPress if down else X.KeyRelease, keycode)
        self._sent += 1

    @contextlib.contextmanager
    def lent(self, events: int) -> Iterator[None]:
        """Let pynput send this many events and confirm them."""
        try:
            yield
            self._sent += events
            self.confirmed = self._sent
        finally:
            # pynput sets an error handler of its own, and then none.
            self._watch_errors()

    def _watch_errors(self) -> None:
        self.display.set_error_handler(lambda error, _request: self._errors.append(error))

    def confirm(self) -> None:
        """Wait until the server has processed everything sent: one round trip."""
        self.display.sync()
        self._take_confirmation()

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is; confirms as `confirm` does, in the same round trip."""
        reply = self.root.query_pointer()
        self._take_confirmation()
        return reply.root_x, reply.root_y

    def _take_confirmation(self) -> None:
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error
        self.confirmed = self._sent

    def keyboard_state(self) -> xkb.KeyboardState:
        """Modifiers and group now: one round trip."""
        return xkb.get_state(self.display.display, self._keyboard_opcode)

    def keyboard_map(self) -> tuple[xkb.KeyDescription, ...]:
        """The whole keyboard map now: one round trip."""
        return xkb.get_keys(self.display.display, self._keyboard_opcode)

    def set_locks_and_latches(
        self, *, affect_locks: int, locks: int, affect_latches: int, latches: int
    ) -> None:
        """Set the affected modifiers' locks and latches, without any key event."""
        xkb.set_locks_and_latches(
            self.display.display,
            self._keyboard_opcode,
            affect_locks=affect_locks,
            locks=locks & affect_locks,
            affect_latches=affect_latches,
            latches=latches & affect_latches,
        )

    def pressed_keycodes(self) -> Iterator[int]:
        """The keys that are down, whoever holds them: one round trip."""
        for index, byte in enumerate(self.display.query_keymap()):
            for bit in range(8):
                if byte >> bit & 1:
                    yield index * 8 + bit

    def change_key(self, keycode: int, without_shift: int, with_shift: int) -> None:
        """Map a key in all groups; 0 is nothing."""
        self.display.change_keyboard_mapping(keycode, [[without_shift, with_shift]])

    def take_keyboard_change(self) -> bool:
        """Whether the keyboard's map may have changed since this was last asked; no round trip."""
        self._read_events()
        changed, self._keyboard_changed = self._keyboard_changed, False
        return changed

    def take_displays_change(self) -> bool:
        """Whether the displays may have changed since this was last asked; no round trip."""
        self._read_events()
        changed, self._displays_changed = self._displays_changed, False
        return changed

    def _read_events(self) -> None:
        # Each read may bring more; the server has sent what happened before a command by now.
        while self.display.pending_events():
            kind = self.display.next_event().type
            if kind in (self._keyboard_event, X.MappingNotify):
                self._keyboard_changed = True
            else:
                self._displays_changed = True

    def close(self) -> None:
        """End the connection; safe when it has already ended."""
        with contextlib.suppress(Xlib.error.ConnectionClosedError, OSError):
            self.display.close()


def open_display(name: str | None) -> Xlib.display.Display:
    """A connection whose errors can be understood.  Raises InjectionUnavailable."""
    try:
        display = Xlib.display.Display(name)
    except Xlib.error.DisplayNameError:
        raise InjectionUnavailable(
            "There is no X display to work on: set DISPLAY, or name one, such as :0"
            if not name
            else f"{name!r} is not the name of an X display: use one such as :0"
        ) from None
    except (Xlib.error.DisplayError, Xlib.error.XauthError, OSError, OverflowError) as error:
        raise InjectionUnavailable(f"The X display cannot be opened: {error}") from error
    # python-xlib 0.33 puts RANDR's errors in the place of the core protocol's first ones, and then
    # fails with an unrelated error when the server sends one of those.
    for code, error_class in Xlib.error.xerror_class.items():
        display.extension_add_error(code, error_class)
    return display
