"""The window of ``farhand demo``: it fills a display and shows what arrives there.

Run as ``python -m machine_client.demo.window --display :N``.  It says ``open`` on its standard
output once it takes input, and then a line for everything that arrives.  It uses nothing of the
injector, so that it can contradict it.
"""

import select
import time
from typing import Any

import click
import Xlib.display
import Xlib.error
from Xlib import XK, X

from machine_client.demo.arrivals import Arrivals
from machine_client.demo.painter import Painter

FRAME_SECONDS = 1 / 30
"""Between two pictures at least: what arrives faster is shown together."""

# Keysyms beyond Latin-1 are Unicode code points with this added.
_UNICODE_KEYSYM = 0x01000000

MODIFIERS = {
    "Control": "ctrl",
    "Shift": "shift",
    "Alt": "alt",
    "Meta": "alt",
    "Super": "super",
    "ISO_Level3_Shift": "altgr",
}

NAMES = {" ": "space", "Return": "enter", "Escape": "esc", "Prior": "page up", "Next": "page down"}


def key_name(keysym: int) -> tuple[str, bool]:
    """What a key is called here, and whether it is a character; empty where there is no name."""
    if 0x20 < keysym <= 0x7E or 0xA1 <= keysym <= 0xFF:
        return chr(keysym), True
    if keysym > _UNICODE_KEYSYM:
        return chr(keysym - _UNICODE_KEYSYM), True
    if keysym == XK.XK_space:
        return NAMES[" "], False
    name = _NAME_OF_KEYSYM.get(keysym, "")
    return NAMES.get(name, name.replace("_", " ").lower()), False


def modifier_name(keysym: int) -> str | None:
    """What a modifier is called here; None where the key is none."""
    name = _NAME_OF_KEYSYM.get(keysym, "")
    return MODIFIERS.get(name.removesuffix("_L").removesuffix("_R"))


def keysym_index(state: int) -> int:
    """Which of a keycode's keysyms is meant under these modifiers."""
    shift = bool(state & X.ShiftMask)
    if state & X.Mod5Mask:
        return 4 + shift
    return (state >> 13 & 1) * 2 + shift


for _group in ("latin1", "miscellany", "xkb", "xf86"):
    XK.load_keysym_group(_group)

_NAME_OF_KEYSYM = {
    keysym: name.removeprefix("XK_")
    for name, keysym in reversed(vars(XK).items())
    if name.startswith("XK_") and isinstance(keysym, int)
}


class DemoWindow:
    """A window over the whole of a display."""

    def __init__(self, name: str | None) -> None:
        # Any: python-xlib makes its requests' and events' attributes at run time.
        self._display: Any = Xlib.display.Display(name)
        screen = self._display.screen()
        self._arrivals = Arrivals()
        self._window = screen.root.create_window(
            *(0, 0, screen.width_in_pixels, screen.height_in_pixels, 0),
            screen.root_depth,
            background_pixel=screen.black_pixel,
            event_mask=X.ButtonPressMask
            | X.ButtonReleaseMask
            | X.PointerMotionMask
            | X.KeyPressMask
            | X.KeyReleaseMask
            | X.ExposureMask,
        )
        self._window.set_wm_name("Farhand demo")
        self._painter = Painter(
            self._display, self._window, screen.width_in_pixels, screen.height_in_pixels
        )
        self._window.map()
        self._take_focus()

    def _take_focus(self) -> None:
        while self._display.next_event().type != X.Expose:
            pass
        self._window.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
        self._painter.paint(self._arrivals)

    def run(self) -> None:
        """Show what arrives, until the display ends."""
        print("open", flush=True)
        painted_at, dirty = time.monotonic(), False
        while True:
            if self._display.pending_events():
                line = self._take(self._display.next_event())
                if line:
                    print(line, flush=True)
                dirty = True
                continue
            wait = max(painted_at + FRAME_SECONDS - time.monotonic(), 0)
            readable = select.select([self._display], [], [], wait if dirty else None)[0]
            if dirty and not readable:
                self._painter.paint(self._arrivals)
                painted_at, dirty = time.monotonic(), False

    def _take(self, event: Any) -> str:
        match event.type:
            case X.MotionNotify:
                return self._arrivals.pointer_moved(event.root_x, event.root_y)
            case X.ButtonPress:
                return self._arrivals.button_pressed(
                    event.detail, event.root_x, event.root_y, event.time
                )
            case X.ButtonRelease:
                return self._arrivals.button_released(event.detail, event.root_x, event.root_y)
            case X.KeyPress | X.KeyRelease:
                return self._take_key(event, pressed=event.type == X.KeyPress)
            case X.MappingNotify:
                self._display.refresh_keyboard_mapping(event)
        return ""

    def _take_key(self, event: Any, *, pressed: bool) -> str:
        plain = self._display.keycode_to_keysym(event.detail, 0)
        if modifier := modifier_name(plain):
            if pressed:
                return self._arrivals.modifier_pressed(modifier)
            return self._arrivals.modifier_released(modifier)
        if not pressed:
            return ""
        # Ctrl+Shift+T is a chord of three keys, while Shift+T alone is the character T.
        meant = 0
        if not set(self._arrivals.modifiers) & {"ctrl", "alt", "super"}:
            meant = self._display.keycode_to_keysym(event.detail, keysym_index(event.state))
        name, is_character = key_name(meant or plain)
        is_character = is_character and bool(meant)
        return self._arrivals.key_pressed(name or f"key {event.detail}", is_character=is_character)


@click.command()
@click.option("--display", help="The X display, such as :1.  [default: the session's]")
def main(display: str | None) -> None:
    """Show what arrives at a display."""
    try:
        DemoWindow(display).run()
    except (Xlib.error.DisplayError, Xlib.error.ConnectionClosedError, OSError) as error:
        raise click.ClickException(f"the display cannot be used: {error}") from None


if __name__ == "__main__":
    main()
