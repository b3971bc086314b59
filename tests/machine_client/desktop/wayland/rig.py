"""A headless sway and its far side: a witness of pywayland's, and foot to type into."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machine_client.desktop.base import Desktop
from machine_client.desktop.wayland.desktop import WaylandDesktop
from schemas.link.picture_frames import Region
from tests.desktop import running
from tests.machine_client.desktop.contract.rig import Colour, Rig, Seen, TextField
from tests.machine_client.desktop.wayland.compositor import Sway
from tests.machine_client.pressing import PROJECT, killed_after
from tests.waiting import eventually


class WaylandWitness:
    """See `tests.machine_client.desktop.contract.rig.Witness`; a program of its own."""

    def __init__(self, compositor: Sway, directory: Path) -> None:
        self._compositor = compositor
        self._directory = directory
        self._program = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.machine_client.desktop.wayland.witness_program"),
                compositor.name,
            ],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._read() == "ready"
        eventually(lambda: self._ask("has_keyboard"), "the witness has the keyboard")

    def take(self) -> list[Seen]:
        return [_seen(event) for event in self._ask("take")]

    def seen(self) -> list[Seen]:
        return [_seen(event) for event in self._ask("seen")]

    def typed(self) -> str:
        """What a program makes of all keys since this was last asked."""
        return str(self._ask("typed"))

    def held(self) -> frozenset[str]:
        return frozenset(self._ask("held"))

    def pointer(self) -> tuple[int, int]:
        x, y = self._ask("pointer")
        return x, y

    @contextlib.contextmanager
    def painted(self, region: Region, colour: Colour) -> Iterator[None]:
        rectangle = [region.x, region.y, region.width, region.height]
        self._ask("paint", rectangle, colour)
        try:
            yield
        finally:
            self._ask("paint", rectangle, None)

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
            eventually(lambda: self._ask("has_keyboard"), "the witness has the keyboard")

    def close(self) -> None:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.close()
        self._program.wait(20)
        self._program.stdout.close()

    def _ask(self, *question: Any) -> Any:
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps(question).encode() + b"\n")
        self._program.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._program.stdout is not None
        line = self._program.stdout.readline()
        assert line, "the witness has ended"
        return json.loads(line)


def _seen(event: dict[str, Any]) -> Seen:
    return Seen(**{**event, "names": frozenset(event["names"])})


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
    witness = WaylandWitness(compositor, directory)
    try:
        yield Rig(
            WaylandDesktop(compositor.name),
            witness,
            {},
            lambda *bodies: killed_after(compositor.name, *bodies, kind="wayland"),
        )
    finally:
        witness.close()


class MortalWayland:
    """A compositor that a test ends, and starts again at the same place."""

    def __init__(self, compositor: Sway) -> None:
        self.desktop: Desktop = WaylandDesktop(compositor.name)
        self.start, self.kill = compositor.start, compositor.kill
