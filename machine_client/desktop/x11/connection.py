"""One connection to an X server: events, what is down, what changed meanwhile, errors in words."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import Xlib.display
import Xlib.error
from Xlib import X
from Xlib.ext import randr, xtest

from machine_client.desktop.base import DesktopError, DesktopLost, InjectionUnavailable
from machine_client.desktop.x11 import requests, xkb
from machine_client.desktop.x11.requests import (
    DeviceState,
    InputDevice,
    Kind,
    Use,
    fake_input,
    list_devices,
)


def _keep_servers_apart() -> None:
    """Give every display tables of its own.

    python-xlib 0.33 has one for the whole program of the numbers that extensions have on a server.
    Where it works on two servers that number them differently, the first would be sent requests by
    the numbers of the second.
    """
    base: Any = Xlib.display._BaseDisplay  # noqa: SLF001  there is no public way
    begin = base.__init__

    def begin_apart(display: Any, *args: Any, **options: Any) -> None:
        display.extension_major_opcodes = {}
        display.error_classes = base.error_classes.copy()
        display.event_classes = base.event_classes.copy()
        begin(display, *args, **options)

    base.__init__ = begin_apart


_keep_servers_apart()


@contextlib.contextmanager
def errors_translated() -> Iterator[None]:
    """Raise as DesktopError what python-xlib raises."""
    try:
        yield
    except (Xlib.error.ConnectionClosedError, OSError) as error:
        raise DesktopLost("The connection to the X server ended") from error
    except Xlib.error.XError as error:
        raise DesktopError("display_error", f"The X server refused a request: {error}") from error


class X11Connection:
    """A display with XTEST and XKB.

    Not for several threads at once.  Raises InjectionUnavailable where the display cannot be
    opened or lacks an extension; wrap the methods in `errors_translated`.

    ``confirmed`` counts the events that have surely happened: a press of what was down already,
    or a release of what was up, is none.  ``down`` is what the last look found down, whoever holds
    it, and what was sent since.
    """

    def __init__(self, name: str | None) -> None:
        # Any: python-xlib adds the extensions' methods to its objects at run time.
        self.display: Any = open_display(name)
        self.root: Any = self.display.screen().root
        self.confirmed = 0
        self.down: dict[Kind, set[int]] = {Kind.KEYS: set(), Kind.BUTTONS: set()}
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
        keyboard = self.display.query_extension(xkb.EXTENSION)
        devices = self.display.query_extension(requests.EXTENSION)
        events = self.display.query_extension(xtest.extname)
        if not keyboard or not devices or not events:
            raise InjectionUnavailable(
                "The X server lacks the extension XTEST, XKEYBOARD or XInputExtension, without"
                " which nothing can be typed on it: enable all three"
            )
        self._keyboard_opcode, self._keyboard_event = keyboard.major_opcode, keyboard.first_event
        self._devices_opcode, self._xtest_opcode = devices.major_opcode, events.major_opcode
        if not xkb.use_extension(self.display.display, self._keyboard_opcode):
            raise InjectionUnavailable("The X server does not speak version 1.0 of XKEYBOARD")
        xkb.select_changes(self.display.display, self._keyboard_opcode)
        ids = {device.use: device.id for device in self._list_devices()}
        self._pointer_id, self._keyboard_id = ids[Use.POINTER], ids[Use.KEYBOARD]
        # The root's size is told by every server; RANDR also tells of screens moved within it.
        self.root.change_attributes(event_mask=X.StructureNotifyMask)
        if self.display.has_extension(randr.extname):
            self.root.xrandr_select_input(
                randr.RRScreenChangeNotifyMask
                | randr.RRCrtcChangeNotifyMask
                | randr.RROutputChangeNotifyMask
            )
        self.confirm()

    def ignore_grabs(self) -> None:
        """Go on where a program grabs the server: some menus do, for as long as they like."""
        self.display.xtest_grab_control(True)

    def fake_key(self, keycode: int, *, down: bool) -> None:
        """Press or release a key; it has surely happened once `confirm` returns."""
        kind = X.KeyPress if down else X.KeyRelease
        fake_input(self.display.display, self._xtest_opcode, kind, keycode)
        self._note(Kind.KEYS, keycode, down=down)

    def note_button(self, number: int, *, down: bool) -> None:
        """Count what was sent for a button, as `fake_key` does for a key."""
        self._note(Kind.BUTTONS, number, down=down)

    def count_event(self) -> None:
        """Count an event that was sent, and happens whatever is down."""
        self._sent += 1

    def _note(self, kind: Kind, number: int, *, down: bool) -> None:
        if (number in self.down[kind]) != down:
            self._sent += 1
        (self.down[kind].add if down else self.down[kind].discard)(number)

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

    def look_at_buttons(self) -> None:
        """Learn which buttons are down; confirms as `confirm` does, in the same round trip."""
        state = self._state_of(self._pointer_id)
        self.down[Kind.BUTTONS] = set(state.down(Kind.BUTTONS))
        self._take_confirmation()

    def look_at_keyboard(self) -> xkb.KeyboardState:
        """Learn which keys are down, and tell modifiers and group; confirms as `confirm` does."""
        keys = self._state_of(self._keyboard_id)
        state = self.keyboard_state()
        self.down[Kind.KEYS] = set(keys.down(Kind.KEYS))
        self._take_confirmation()
        return state

    def keyboard_state(self) -> xkb.KeyboardState:
        """Modifiers and group now: one round trip."""
        return xkb.get_state(self.display.display, self._keyboard_opcode)

    def down_by_device(self, kind: Kind) -> Iterator[tuple[InputDevice, frozenset[int]]]:
        """What is down on each device that feeds pointer or keyboard: two round trips."""
        devices = [
            device
            for device in self._list_devices()
            if device.use not in (Use.POINTER, Use.KEYBOARD)
        ]
        states = [self._state_of(device.id) for device in devices]
        for device, state in zip(devices, states, strict=True):
            yield device, state.down(kind)

    def _list_devices(self) -> list[InputDevice]:
        return list_devices(self.display.display, self._devices_opcode)

    def _state_of(self, device: int) -> DeviceState:
        return DeviceState(self.display.display, self._devices_opcode, device)

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

    def change_key(self, keycode: int, without_shift: int, with_shift: int) -> None:
        """Map a key in all groups; 0 is nothing."""
        self.display.change_keyboard_mapping(keycode, [[without_shift, with_shift]])

    def take_keyboard_change(self) -> bool:
        """Whether the keyboard's map or group may have changed since this was last asked.

        No round trip.
        """
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
    except (
        Xlib.error.DisplayError,
        Xlib.error.XauthError,
        Xlib.error.ConnectionClosedError,  # by a server that ended during the greeting
        OSError,
        OverflowError,
    ) as error:
        # One of python-xlib's errors names the display as well, the others do not.
        why = error.msg if isinstance(error, Xlib.error.DisplayConnectionError) else error
        tried = name or os.environ.get("DISPLAY")
        raise InjectionUnavailable(f"The X display {tried} cannot be opened: {why}") from error
    # python-xlib 0.33 puts RANDR's errors in the place of the core protocol's first ones, and then
    # fails with an unrelated error when the server sends one of those.
    for code, error_class in Xlib.error.xerror_class.items():
        display.extension_add_error(code, error_class)
    return display
