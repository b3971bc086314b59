"""A session of Windows and its far side: a window that logs, hooks, and an EDIT control."""

import contextlib
import ctypes
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from typing import Any

from machine_client.desktop.windows.desktop import WindowsDesktop
from schemas.values.pictures import Region
from tests.machine_client.desktop.contract.rig import Colour, Rig, TextField
from tests.machine_client.desktop.contract.witness_programs import WitnessProgram
from tests.machine_client.desktop.windows.key_symbols import LACKING
from tests.machine_client.pressing import PROJECT, killed_after
from tests.waiting import WAIT_SECONDS, eventually

ROOM = "tests.machine_client.desktop.windows"
WITNESS = f"{ROOM}.witness_program"


class WindowsWitness(WitnessProgram):
    """``program`` is given where it does not run beside this one."""

    def __init__(self, program: "subprocess.Popen[bytes] | None" = None) -> None:
        super().__init__(program or _program(WITNESS))

    def messages(self) -> list[list[str]]:
        """What the window itself was told since this was last asked, moves aside."""
        return list(self.ask("messages"))

    def characters(self) -> str:
        """The characters that the window itself was told since this was last asked."""
        # JSON puts together what came as two halves.
        return str(self.ask("characters"))

    def copied(self) -> list[str | None]:
        """Each text that was put on the clipboard since this was last asked; None for no text."""
        return list(self.ask("copied"))

    @contextlib.contextmanager
    def painted(self, region: Region, colour: Colour) -> Iterator[None]:
        window = self.ask("paint", [region.x, region.y, region.width, region.height], colour)
        try:
            yield
        finally:
            self.ask("remove", window)

    @contextlib.contextmanager
    def text_field(self) -> Iterator[TextField]:
        window = self.ask("field")
        try:
            yield _Field(self)
        finally:
            self.ask("remove", window)


class _Field:
    """An EDIT control, which has two characters for a line's end."""

    def __init__(self, witness: WindowsWitness) -> None:
        self._witness = witness

    def typed_before(self, end: str) -> str:
        def typed() -> str | None:
            text = str(self._witness.ask("typed"))
            return text if text.endswith(end) else None

        text = eventually(typed, f"something that ends with {end!r} is typed")
        self._witness.ask("clear")
        return text.removesuffix(end).replace("\r\n", "\n")


def _program(module: str, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def held_by_another_program(what: str) -> AbstractContextManager[None] | None:
    """Another program that holds something; nobody can hold a wheel."""
    return None if what.startswith("wheel") else _held(what)


@contextlib.contextmanager
def _held(what: str) -> Iterator[None]:
    program = _program(f"{ROOM}.somebody", what)
    assert program.stdout is not None
    try:
        assert program.stdout.readline().strip() == b"held"
        code = {"left": 1, "right": 2, "middle": 4, "x": 0x58, "ctrl": 0x11}[what]
        # Wine remembers for some milliseconds that something was up.
        eventually(lambda: is_down(code) or None, f"{what} is down")
        yield
    finally:
        program.communicate(timeout=WAIT_SECONDS)


def is_down(code: int) -> bool:
    """Whether the system says so; not by the code under test."""
    user32: Any = getattr(ctypes, "windll").user32  # noqa: B009  there is none on Linux
    return bool(user32.GetAsyncKeyState(code) & 0x8000)


@contextlib.contextmanager
def windows_rig() -> Iterator[Rig]:
    """The session that the tests run in."""
    witness = WindowsWitness()
    leave: Callable[..., None] = lambda *bodies: killed_after("", *bodies, kind="windows")  # noqa: E731
    with closing(witness):
        yield Rig(
            WindowsDesktop(),
            witness,
            {"another program": held_by_another_program},
            leave,
            lacks=LACKING,
        )
