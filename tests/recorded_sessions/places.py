"""The programs that are worked, each of which tells what is in it."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from Xlib import Xatom

from tests.desktop import running, somebody_else
from tests.held import x_display
from tests.machine_client.desktop.accessibility.rig import Program
from tests.waiting import eventually

HERE: Final = Path(__file__).parent
WIDTH, HEIGHT = 1280, 800
END: Final = "the end"


@dataclass(frozen=True)
class Spot:
    """A part of the screen on which something is done."""

    x: int
    y: int
    width: int
    height: int


class Gtk:
    """The editor or the form."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def spots(self) -> Mapping[str, Spot]:
        """Where its parts are."""
        return {name: Spot(*where) for name, where in self._asked("where").items()}

    def holds(self) -> Any:
        """What is in it, once all that was done is heard."""
        return self._asked("what")

    def _asked(self, question: str) -> Any:
        return json.loads(self._program.tell(question)[-1])


class Shell:
    """A terminal, in which a program reads lines."""

    def __init__(self, display: str, read: Path) -> None:
        self._display = display
        self._read = read

    def spots(self) -> Mapping[str, Spot]:
        """All of it."""
        return {"text": Spot(4, 4, WIDTH - 30, HEIGHT - 30)}

    def holds(self) -> str:
        """What the program has read, once the line is ended."""
        somebody_else(self._display, "key", "Return")
        somebody_else(self._display, "type", f"{END}\n")
        return eventually(
            lambda: text if (text := self._text()).endswith(f"{END}\n") else None,
            "the terminal's program has read all",
        ).removesuffix(f"{END}\n")

    def _text(self) -> str:
        return self._read.read_bytes().decode(errors="replace")


Place = Gtk | Shell


@contextmanager
def opened(kind: str, display: str, directory: Path) -> Iterator[Place]:
    """One of them, as it always is at first, with the pointer in the corner."""
    with _terminal(display, directory) if kind == "terminal" else _gtk(kind, display) as place:
        yield place


@contextmanager
def _gtk(kind: str, display: str) -> Iterator[Place]:
    variables = {
        **os.environ,
        "DISPLAY": display,
        "GTK_IM_MODULE": "gtk-im-context-simple",
        "GTK_MODULES": "",
        "NO_AT_BRIDGE": "1",
        "GSETTINGS_BACKEND": "memory",
    }
    with Program(str(HERE / "gtk_program.py"), kind, environment=variables) as program:
        yield Gtk(program)


@contextmanager
def _terminal(display: str, directory: Path) -> Iterator[Place]:
    read = directory / "read"
    read.unlink(missing_ok=True)
    with x_display(display) as connection:
        # What an earlier terminal left to be pasted.
        connection.screen().root.delete_property(Xatom.CUT_BUFFER0)
        connection.sync()
    lines = "".join(f"order {number} of 4711 (none) done\n" for number in range(100))
    shown = directory / "shown"
    shown.write_text(lines)
    # Keys that would stop or end the program are characters like others.
    script = (
        "stty -isig -ixon -iexten iutf8 eof undef kill undef; "
        f"cat '{shown}'; touch '{read}'; exec cat > '{read}'"
    )
    cell_x, cell_y = 6, 13
    size = f"{WIDTH // cell_x}x{HEIGHT // cell_y}+0+0"
    command = ("xterm", "-display", display, "-geometry", size, "-b", "0", "+sb", "-bw", "0")
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    with running(*command, "-fn", "fixed", "-u8", "-e", "sh", "-c", script, env=environment):
        eventually(read.exists, "the terminal's program reads")
        yield Shell(display, read)
