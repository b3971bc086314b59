"""A headless sway and its far side: a witness of pywayland's, and foot to type into."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from machine_client.desktop.base import Desktop
from machine_client.desktop.wayland.desktop import WaylandDesktop
from schemas.values.pictures import Region
from tests.desktop import running
from tests.machine_client.desktop.contract.rig import Colour, Rig, TextField
from tests.machine_client.desktop.contract.witness_programs import WitnessProgram
from tests.machine_client.desktop.wayland.compositor import Sway
from tests.machine_client.pressing import PROJECT, killed_after
from tests.waiting import eventually


class WaylandWitness(WitnessProgram):
    """One that sees what sway tells its windows."""

    def __init__(self, compositor: Sway, directory: Path) -> None:
        self._compositor = compositor
        self._directory = directory
        module = "tests.machine_client.desktop.wayland.witness_program"
        super().__init__(
            subprocess.Popen(
                [sys.executable, "-m", module, compositor.name],
                cwd=PROJECT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        )
        eventually(lambda: self.ask("has_keyboard"), "the witness has the keyboard")

    def typed(self) -> str:
        """What a program makes of all keys since this was last asked."""
        return str(self.ask("typed"))

    @contextlib.contextmanager
    def painted(self, region: Region, colour: Colour) -> Iterator[None]:
        rectangle = [region.x, region.y, region.width, region.height]
        self.ask("paint", rectangle, colour)
        try:
            yield
        finally:
            self.ask("paint", rectangle, None)

    @contextlib.contextmanager
    def text_field(self) -> Iterator[TextField]:
        typed = self._directory / "typed"
        script = f"stty raw -echo; exec cat >> '{typed}'"
        self._compositor.tell("workspace", "typing")
        environment = {
            **os.environ,
            "LC_ALL": "C.UTF-8",
            "WAYLAND_DISPLAY": self._compositor.name,
            "XDG_RUNTIME_DIR": str(self._directory),
        }
        try:
            with running("foot", "--config=/dev/null", "sh", "-c", script, env=environment):
                eventually(typed.exists, "foot runs its program")
                eventually(lambda: self._compositor.has_focus("foot"), "foot has the keyboard")
                yield _Lines(typed)
        finally:
            typed.unlink(missing_ok=True)
            self._compositor.tell("workspace", "1")
            eventually(lambda: self.ask("has_keyboard"), "the witness has the keyboard")


class _Lines:
    """What a program in a terminal got; a new line is what it is anywhere else."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def typed_before(self, end: str) -> str:
        text = eventually(
            lambda: text if (text := self._file.read_bytes().decode()).endswith(end) else None,
            f"something that ends with {end!r} is typed",
        )
        os.truncate(self._file, 0)
        return text.removesuffix(end).replace("\r", "\n")


@contextlib.contextmanager
def wayland_rig(compositor: Sway, directory: Path) -> Iterator[Rig]:
    """A compositor whose screens are covered by the witness."""
    with contextlib.closing(WaylandWitness(compositor, directory)) as witness:
        yield Rig(
            WaylandDesktop(compositor.name),
            witness,
            {},
            lambda *bodies: killed_after(compositor.name, *bodies, kind="wayland"),
        )


class MortalWayland:
    """A compositor that a test ends, and starts again at the same place."""

    def __init__(self, compositor: Sway) -> None:
        self.desktop: Desktop = WaylandDesktop(compositor.name)
        self.start, self.kill = compositor.start, compositor.kill
