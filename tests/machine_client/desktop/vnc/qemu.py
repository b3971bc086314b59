"""QEMU for tests: a machine with a VNC server, without a disk, whose only program is given below.

Two witnesses, neither of which uses the code under test: QEMU's own record of what reaches its
input layer, and what the program reads from its keyboard, which it says on a serial port.
"""

import contextlib
import json
import math
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from tests.desktop import running
from tests.machine_client.desktop.contract.rig import Seen
from tests.processes import free_port
from tests.waiting import WAIT_SECONDS, eventually

SIZE = (720, 400)
"""Of the screen while there is text on it."""

PAINTED, RED = (640, 400), (168, 0, 0)
"""Its size after ctrl+p, twice that of the mode, and its colour."""

_PROGRAM = bytes.fromhex(
    "31c0 8ed8"  # ax = ds = 0
    "e84000"  # call places
    "b021 e85f00"  # say "!"
    # again:
    "b400 cd16"  # wait for a key
    "3c10 741d"  # ctrl+p: paint
    "3c13 740e"  # ctrl+s: steps
    "3c11 7405"  # ctrl+q: places
    "e84c00 ebeb"  # say what the key makes; again
    "e82300 ebe6"  # call places; again
    # steps: a mouse without places, from here on
    "66bbf5000000 e82700 ebdb"  # ebx = off, call mouse; again
    # paint: 320 x 200 pixels of the colour 4, which is red
    "b81300 cd10"
    "b800a0 8ec0 31ff b900fa b004 fc f3aa ebc5"
    # places: a mouse with places, QEMU's "vmmouse", from here on
    "66bb52454145 e80600"  # ebx = on, call mouse
    "66bb52414253"  # ebx = absolute
    # mouse: say ebx to it
    "66ba58560000 66b868584d56 66b929000000 66ed c3"
    # say: on the serial port, and on the screen
    "baf803 ee bb0700 b40e cd10 c3"
)

_EVENT = re.compile(
    r"@(?P<at>[\d.]+):input_(?:"
    r"event_key_qcode con -?\d+, key qcode (?P<key>\w+), down (?P<key_down>\d)"
    r"|event_btn con -?\d+, button (?P<button>[\w-]+), down (?P<button_down>\d)"
    r"|event_abs con -?\d+, axis (?P<axis>[xy]), value 0x(?P<value>[0-9a-f]+)"
    r"|event_rel con -?\d+, axis (?P<step_axis>[xy]), value (?P<step>-?\d+)"
    r"|(?P<sync>event_sync))"
)

KEYS = {
    "ret": "enter",
    "spc": "space",
    "pgup": "page_up",
    "pgdn": "page_down",
    "compose": "menu",
    "meta_l": "super",
    "meta_r": "super_r",
    "print": "print_screen",
    "kp_equals": "kp_equal",
}
"""Our names of keys that QEMU has others for."""

_MARK = "katakanahiragana"


class Qemu:
    """A machine that a test starts, kills and starts again; its VNC server has always one port."""

    def __init__(self, directory: Path, *options: str, vnc: str = "") -> None:
        self.port = free_port()
        self._directory = directory
        self._options = options
        self._vnc = vnc
        self._running = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._trace, self._serial = directory / "trace", directory / "serial"
        (directory / "disk").write_bytes(_PROGRAM.ljust(510, b"\0") + b"\x55\xaa")

    def start(self) -> None:
        """Run it until its program reads keys."""
        for file in (self._trace, self._serial, self._directory / "qmp"):
            file.unlink(missing_ok=True)
        self._read = 0
        self._place = self._next = (-1, -1)
        self._held: set[str] = set()
        self._seen: list[Seen] = []
        self.steps: list[int] = []
        self._process = self._running.enter_context(
            running(
                *("qemu-system-x86_64", "-nodefaults", "-machine", "pc,accel=tcg", "-m", "16"),
                *("-vga", "std", "-display", "none", "-boot", "a", "-msg", "timestamp=on"),
                *("-vnc", f"127.0.0.1:{self.port - 5900}{self._vnc}"),
                *("-drive", "file=disk,format=raw,if=floppy", "-serial", "file:serial"),
                *("-qmp", "unix:qmp,server=on,wait=off", "-D", "trace"),
                *("-trace", "enable=input_event_*"),
                *self._options,
                cwd=self._directory,
            )
        )
        eventually(lambda: self._is_up() or None, "the machine has started")
        self.take()

    def _is_up(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError("QEMU ended at once")
        return self._serial.exists() and self._serial.read_bytes() == b"!"

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._running.close()

    def tell(self, command: str, **arguments: Any) -> Any:
        """Have its monitor do something."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(WAIT_SECONDS)
            monitor.connect(str(self._directory / "qmp"))
            with monitor.makefile("rw") as lines:
                # It tells of events at any time, even before its greeting.
                _heard(lines, "QMP")
                for each in ({"execute": "qmp_capabilities"}, _command(command, arguments)):
                    lines.write(json.dumps(each) + "\n")
                    lines.flush()
                    answer = _heard(lines, "return")
        return answer["return"]

    @property
    def knows_places(self) -> bool:
        """Whether its mouse takes places, and not steps, now."""
        return any(mouse["current"] and mouse["absolute"] for mouse in self.tell("query-mice"))

    def typed(self) -> str:
        """What its program has read so far."""
        return self._serial.read_bytes()[1:].decode("latin-1")

    def take(self) -> list[Seen]:
        """See `tests.machine_client.desktop.contract.rig.Witness`."""
        # Keys wait in a queue there; this one comes out of it after all others.
        key = {"type": "qcode", "data": _MARK}
        self.tell("send-key", keys=[key], **{"hold-time": 1})
        eventually(lambda: any(_MARK in each.names for each in self._look()) or None, "the mark")
        eventually(lambda: _MARK not in self._held_now() or None, "the mark is over")
        taken = [each for each in self._seen if _MARK not in each.names]
        self._seen.clear()
        return taken

    def seen(self) -> list[Seen]:
        return [each for each in self._look() if _MARK not in each.names]

    def held(self) -> frozenset[str]:
        self.take()
        return frozenset(self._held)

    def pointer(self) -> tuple[int, int]:
        self._look()
        return self._place

    def _held_now(self) -> set[str]:
        self._look()
        return self._held

    def _look(self) -> list[Seen]:
        """Read on in the record, whole lines alone."""
        with self._trace.open("rb") as trace:
            trace.seek(self._read)
            new = trace.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.decode().splitlines():
            if (event := _EVENT.search(line)) is not None:
                self._note(event)
        return self._seen

    def _note(self, event: "re.Match[str]") -> None:
        if event["axis"]:
            value, (x, y) = int(event["value"], 16), self._next
            across = event["axis"] == "x"
            at = math.ceil(value * SIZE[0 if across else 1] / 0x7FFF)
            self._next = (at, y) if across else (x, at)
        elif event["sync"] and self._next != self._place:
            self._place = self._next
            self._add("move", set(), event)
        elif event["step"] and event["step"] != "0":
            self.steps.append(int(event["step"]))
        elif (button := event["button"]) and button.startswith("wheel-"):
            if event["button_down"] == "1":
                self._add("wheel", {button.removeprefix("wheel-")}, event)
        elif name := event["button"] or event["key"]:
            is_down = "1" in (event["button_down"], event["key_down"])
            (self._held.add if is_down else self._held.discard)(KEYS.get(name, name))
            self._add("down" if is_down else "up", {KEYS.get(name, name)}, event)

    def _add(self, action: Any, names: set[str], event: "re.Match[str]") -> None:
        self._seen.append(Seen(action, frozenset(names), *self._place, float(event["at"])))


def _heard(lines: TextIO, what: str) -> Any:
    """The next that its monitor says which is no event: a greeting, or an answer."""
    while "event" in (said := json.loads(lines.readline())):
        pass
    assert what in said, said
    return said


def _command(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"execute": name, "arguments": arguments}


@contextlib.contextmanager
def qemu(directory: Path, *options: str, vnc: str = "") -> Iterator[Qemu]:
    """One that runs, and is ended with the block."""
    machine = Qemu(directory, *options, vnc=vnc)
    try:
        machine.start()
        yield machine
    finally:
        machine.kill()
