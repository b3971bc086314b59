"""A desktop for tests: an X server without a screen, a witness of its events, a real program.

Nothing here uses the code under test, so that it can contradict it.
"""

import contextlib
import os
import random
import select
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import Xlib.display
from Xlib import X, Xatom
from Xlib.ext import record, xtest
from Xlib.protocol import rq

# It has python-xlib work with several X servers, which tests look at too.
import machine_client.desktop.x11.connection  # noqa: F401
from tests.held import x_display
from tests.processes import go_on, stop
from tests.waiting import WAIT_SECONDS, eventually

_MARKER_BUTTON = 10

NO_DISPLAY = ":3999"
"""A display that there is not; nor is anybody given its TCP port, 9999, which is tried as well."""

_KINDS = {
    X.KeyPress: "KeyPress",
    X.KeyRelease: "KeyRelease",
    X.ButtonPress: "ButtonPress",
    X.ButtonRelease: "ButtonRelease",
    X.MotionNotify: "MotionNotify",
}


def program(name: str) -> str:
    """The path of a program that tests need; its absence is a failure, not a reason to skip."""
    path = shutil.which(name)
    if path is None:
        raise RuntimeError(f"The tests need the program {name}: install it (see CONTRIBUTING.md)")
    return path


@contextlib.contextmanager
def running(*command: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is ended with the block."""
    process = subprocess.Popen(
        [program(command[0]), *command[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def virtual_display(size: str = "1280x800x24", *options: str) -> Iterator[str]:
    """Start an X server on a free display; yields its name, such as ``:7``.

    A key that is held repeats there only with the option ``r``, as it does on a real desktop.
    """
    with _x_server(size, *options) as (name, _):
        yield name


@contextlib.contextmanager
def _x_server(size: str, *options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    readable, writable = os.pipe()
    try:
        server = running(
            *("Xvfb", "-displayfd", str(writable), "-screen", "0", size),
            # -r: a key that is held does not repeat; else what a witness sees of one depends on how
            # long the machine takes for the next step.
            *("-nolisten", "tcp", "-noreset", "-r", *options),
            pass_fds=[writable],
        )
        with server as process:
            os.close(writable)
            writable = -1
            if not select.select([readable], [], [], WAIT_SECONDS)[0]:
                raise RuntimeError("Xvfb did not say its display in time")
            number = os.read(readable, 32).decode().strip()
            if not number:
                raise RuntimeError("Xvfb ended at once")
            yield f":{number}", process
    finally:
        os.close(readable)
        if writable >= 0:
            os.close(writable)


class UnsteadyDisplay:
    """An X server that a test kills, freezes and starts again, always on the same display."""

    def __init__(self, size: str = "1280x800x24") -> None:
        # Far from the numbers that other X servers choose for themselves meanwhile.
        self.name = f":{random.randint(10_000, 50_000)}"
        self._size = size
        self._running = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Run it; a lock file and a socket that a killed one left behind do no harm."""
        server = _x_server(self._size, self.name)
        _, self._process = self._running.enter_context(server)

    def kill(self) -> None:
        """End it as a crash does, frozen or not."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._running.close()

    def freeze(self) -> None:
        """Let it answer nobody when this returns, and end no connection."""
        assert self._process is not None
        stop(self._process.pid)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        go_on(self._process.pid)


@contextlib.contextmanager
def unsteady_display() -> Iterator[UnsteadyDisplay]:
    """One that runs, and is ended with the block."""
    display = UnsteadyDisplay()
    display.start()
    try:
        yield display
    finally:
        display.kill()


@contextlib.contextmanager
def grabbed(display: str) -> Iterator[None]:
    """A program that has grabbed the X server, as some menus do, for as long as the block takes."""
    connection: Any = Xlib.display.Display(display)
    connection.grab_server()
    connection.sync()
    with contextlib.closing(connection):
        yield


def set_layout(display: str, layout: str, option: str = "") -> None:
    """Give the display another keyboard layout, as a person would."""
    command = [program("setxkbmap"), "-display", display, "-layout", layout, "-option", ""]
    if option:
        command += ["-option", option]
    subprocess.run(command, check=True, timeout=WAIT_SECONDS, stderr=subprocess.DEVNULL)


def somebody_else(display: str, *command: str) -> None:
    """Do something with xdotool, which stands for a person or another program."""
    environment = {**os.environ, "DISPLAY": display}
    subprocess.run(
        [program("xdotool"), *command], check=True, timeout=WAIT_SECONDS, env=environment
    )


def tap_keycode(display: str, keycode: int) -> None:
    """Press and release a key by its number, which xdotool does not do without side effects."""
    with x_display(display) as connection:
        xtest.fake_input(connection, X.KeyPress, keycode)
        xtest.fake_input(connection, X.KeyRelease, keycode)
        connection.sync()


def resize_screen(display: str, width: int, height: int) -> None:
    """Give the only screen of a virtual display another size, as a person would with RANDR.

    It can be no larger than it was at first.
    """
    with x_display(display) as connection:
        root = connection.screen().root
        resources = root.xrandr_get_screen_resources()
        (crtc,), (output,) = resources.crtcs, resources.outputs
        mode_id = _mode_of(root, resources, width, height)
        connection.xrandr_add_output_mode(output, mode_id)
        now = resources.config_timestamp
        connection.xrandr_set_crtc_config(crtc, now, 0, 0, X.NONE, 1, [])
        root.xrandr_set_screen_size(width, height, width, height)
        now = root.xrandr_get_screen_resources().config_timestamp
        connection.xrandr_set_crtc_config(crtc, now, 0, 0, mode_id, 1, [output])


def _mode_of(root: Any, resources: Any, width: int, height: int) -> int:
    """A mode of this size, which is made where there is none."""
    for each in resources.modes:
        if (each.width, each.height) == (width, height):
            return int(each.id)
    name = f"{width}x{height}"
    mode = dict.fromkeys(("dot_clock", "flags", "h_skew", "h_total", "v_total", "id"), 0)
    mode |= dict.fromkeys(("h_sync_start", "h_sync_end", "v_sync_start", "v_sync_end"), 0)
    mode |= {"width": width, "height": height, "name_length": len(name)}
    return int(root.xrandr_create_mode(mode, name).mode)


@dataclass(frozen=True)
class DeviceEvent:
    """What a device did: ``kind`` is as in ``KeyPress``, ``detail`` a keycode or button.

    ``time`` is the X server's own, in milliseconds.
    """

    kind: str
    detail: int
    state: int
    x: int
    y: int
    time: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.detail}"


class Witness:
    """Lists the device events that really arrived at an X server, through its RECORD extension."""

    def __init__(self, display: str) -> None:
        # RECORD needs a connection that does nothing else.
        self._control: Any = Xlib.display.Display(display)
        self._data: Any = Xlib.display.Display(display)
        self._changed = threading.Condition()
        self._events: list[DeviceEvent] = []
        self._markers = 0
        self._hears = False
        self._context = self._control.record_create_context(
            0,
            [record.AllClients],
            [
                {
                    "core_requests": (0, 0),
                    "core_replies": (0, 0),
                    "ext_requests": (0, 0, 0, 0),
                    "ext_replies": (0, 0, 0, 0),
                    "delivered_events": (0, 0),
                    "device_events": (X.KeyPress, X.MotionNotify),
                    "errors": (0, 0),
                    "client_started": False,
                    "client_died": False,
                }
            ],
        )
        self._control.sync()
        self._thread = threading.Thread(target=self._listen, name="witness", daemon=True)
        self._thread.start()
        with self._changed:
            if not self._changed.wait_for(lambda: self._hears, WAIT_SECONDS):
                raise AssertionError("the witness does not hear the X server")

    def take(self) -> list[DeviceEvent]:
        """The events since the last call, all that were injected before this one included."""
        with self._changed:
            wanted = self._markers + 1
            self._mark()
            if not self._changed.wait_for(lambda: self._markers >= wanted, WAIT_SECONDS):
                raise AssertionError("the witness no longer hears the X server")
            events, self._events = self._events, []
            return events

    def take_seen(self) -> list[DeviceEvent]:
        """The events so far, without waiting and without an event of the witness's own."""
        with self._changed:
            events, self._events = self._events, []
            return events

    def seen(self) -> list[DeviceEvent]:
        """The events so far, without waiting and without taking them."""
        with self._changed:
            return list(self._events)

    def until_seen(self, count: int) -> None:
        """Wait until so many events have been seen and not taken."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._events) >= count, WAIT_SECONDS):
                raise AssertionError(f"only {len(self._events)} of {count} events were seen")

    def close(self) -> None:
        self._control.record_disable_context(self._context)
        self._control.sync()
        self._thread.join(WAIT_SECONDS)
        self._control.record_free_context(self._context)
        self._control.close()
        self._data.close()

    def _mark(self) -> None:
        xtest.fake_input(self._control, X.ButtonPress, _MARKER_BUTTON)
        xtest.fake_input(self._control, X.ButtonRelease, _MARKER_BUTTON)
        self._control.sync()

    def _listen(self) -> None:
        self._data.record_enable_context(self._context, self._note)

    def _note(self, reply: Any) -> None:
        data = reply.data if reply.category == record.FromServer else b""
        with self._changed:
            # From what the server says first on, it tells of all.
            self._hears |= reply.category == record.StartOfData
            while data:
                event, data = rq.EventField("event").parse_binary_value(
                    data, self._data.display, None, None
                )
                if event.detail == _MARKER_BUTTON and event.type == X.ButtonRelease:
                    self._markers += 1
                elif event.detail != _MARKER_BUTTON or event.type not in (
                    X.ButtonPress,
                    X.ButtonRelease,
                ):
                    kind = _KINDS[event.type]
                    self._events.append(
                        DeviceEvent(
                            kind, event.detail, event.state, event.root_x, event.root_y, event.time
                        )
                    )
            self._changed.notify_all()


class Terminal:
    """An xterm in the corner of a display: what is typed into it, what is selected in it.

    xterm ignores events that were sent with XSendEvent.
    """

    _BORDER = 2
    _CELL = (6, 13)

    def __init__(self, display: str, directory: Path) -> None:
        self._typed = directory / "typed"
        self._display = display

    @classmethod
    @contextlib.contextmanager
    def open(cls, display: str, directory: Path, shown: str = "") -> Iterator["Terminal"]:
        """Open one that shows a text and has the pointer, and so the keyboard, inside."""
        terminal = cls(display, directory)
        # What asks for the cursor's place is answered once all before it is in the window.
        asking = f"printf '%s\\033[6n' '{shown}'"
        script = f"stty raw -echo; {asking}; exec cat >> '{terminal._typed}'"
        command = ("xterm", "-display", display, "-geometry", "60x10+0+0", "-b", "2", "+sb", "-bw")
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        with running(
            # Clicks of one input are together, however busy the machine is between them.
            *(*command, "0", "-fn", "fixed", "-u8", "-xrm", "*multiClickTime: 10000"),
            *("-e", "sh", "-c", script),
            env=environment,
        ):
            eventually(terminal._typed.exists, "xterm runs its program")
            terminal.typed_before("R")
            terminal._take_focus()
            yield terminal

    def typed_before(self, end: str) -> str:
        """Everything typed since this was last asked, once what was typed ends with ``end``."""
        text = eventually(
            lambda: text if (text := self._text()).endswith(end) else None,
            f"something that ends with {end!r} is typed",
        )
        os.truncate(self._typed, 0)
        return text.removesuffix(end)

    def place(self, column: int, row: int = 0) -> tuple[int, int]:
        """The pixel in the middle of a character cell."""
        width, height = self._CELL
        return (
            self._BORDER + column * width + width // 2,
            self._BORDER + row * height + height // 2,
        )

    def selected(self) -> str:
        """The text that is selected on the display (PRIMARY), empty if none is."""
        with x_display(self._display) as connection:
            window = connection.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
            target = connection.intern_atom("TEST_SELECTION")
            window.convert_selection(Xatom.PRIMARY, Xatom.STRING, target, X.CurrentTime)
            while (event := connection.next_event()).type != X.SelectionNotify:
                pass
            if event.property == X.NONE:
                return ""
            return bytes(window.get_full_property(target, Xatom.STRING).value).decode()

    def _text(self) -> str:
        return self._typed.read_bytes().decode(errors="replace")

    def _take_focus(self) -> None:
        with x_display(self._display) as connection:
            root = connection.screen().root

            def shown() -> Any:
                viewable = (
                    child
                    for child in root.query_tree().children
                    if child.get_attributes().map_state == X.IsViewable
                )
                return next(viewable, None)

            window = eventually(shown, "xterm shows its window")
            window.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
            connection.sync()
