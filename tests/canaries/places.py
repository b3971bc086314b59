"""Where passwords are typed: programs with fields for them, on desktops that real clients watch."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from tests.desktop import running
from tests.end_to_end.system import Workstation
from tests.machine_client.desktop.accessibility.rig import (
    AccessibleDesktop,
    Program,
    accessible_desktop,
)
from tests.machine_client.desktop.vnc.xvnc import xvnc
from tests.processes import ServedApi, ServerProcess
from tests.waiting import eventually

HERE: Final = Path(__file__).parent

HEARTBEAT: Final = "20"
"""Who stands still for a moment has not lost its link."""

Point = tuple[int, int]


class Place:
    """A machine with fields for passwords, at these places of its desktop."""

    def __init__(self, machine: Workstation, fields: list[Point]) -> None:
        self.machine = machine
        self.fields = fields


@contextmanager
def gtk3(server: ServerProcess, api: ServedApi, directory: Path) -> Iterator[Place]:
    """A field of GTK 3."""
    with accessible_desktop() as desktop, desktop.gtk3() as program:
        yield from _found(server, api, directory, desktop, program)


@contextmanager
def qt5(server: ServerProcess, api: ServedApi, directory: Path) -> Iterator[Place]:
    """A field of Qt 5."""
    with accessible_desktop() as desktop, desktop.qt5() as program:
        yield from _found(server, api, directory, desktop, program)


@contextmanager
def gtk4(server: ServerProcess, api: ServedApi, directory: Path) -> Iterator[Place]:
    """The two kinds of fields of GTK 4."""
    variables = {"GSK_RENDERER": "cairo"}
    with accessible_desktop() as desktop:
        script = str(HERE / "gtk4_passwords.py")
        with desktop.shown(script, "", "Sign in", variables):
            machine = Workstation.added(server.url, api, desktop.display, directory)
            with machine.joined(heartbeat=HEARTBEAT):
                yield Place(machine, [(150, 30), (150, 90)])


@contextmanager
def terminal(server: ServerProcess, api: ServedApi, directory: Path) -> Iterator[Place]:
    """A prompt in xterm, which asks for one password after another."""
    with accessible_desktop() as desktop, _prompt(desktop.display, directory):
        machine = Workstation.added(server.url, api, desktop.display, directory)
        with machine.joined(heartbeat=HEARTBEAT):
            yield Place(machine, [(100, 40)])


@contextmanager
def vnc(server: ServerProcess, api: ServedApi, directory: Path) -> Iterator[Place]:
    """A prompt and a machine client that sees nothing of it but pictures."""
    with xvnc() as (display, port, _process), _prompt(display, directory):
        machine = Workstation.added(server.url, api, "", directory)
        with machine.joined(heartbeat=HEARTBEAT, vnc=f"127.0.0.1:{port}"):
            yield Place(machine, [(100, 40)])


OpenedPlace = Callable[[ServerProcess, ServedApi, Path], AbstractContextManager[Place]]
PLACES: Final[dict[str, OpenedPlace]] = {
    "gtk3": gtk3,
    "gtk4": gtk4,
    "qt5": qt5,
    "terminal": terminal,
    "vnc": vnc,
}


def _found(
    server: ServerProcess,
    api: ServedApi,
    directory: Path,
    desktop: AccessibleDesktop,
    program: Program,
) -> Iterator[Place]:
    machine = Workstation.added(server.url, api, desktop.display, directory)
    with machine.joined(heartbeat=HEARTBEAT):
        path = f"/v1/computer/{machine.machine}/elements?role=password%20text"
        (field,) = eventually(lambda: api.call("GET", path).json["items"], "the field is there")
        box = field["bounds"]
        yield Place(machine, [(box["x"] + box["width"] // 2, box["y"] + box["height"] // 2)])


@contextmanager
def _prompt(display: str, directory: Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    ready = directory / "prompt"
    script = f"touch {ready}; while IFS= read -rsp 'Password: ' line; do echo; done"
    command = ("xterm", "-display", display, "-geometry", "60x10+0+0", "-e", "bash", "-c", script)
    with running(*command, env={**os.environ, "LC_ALL": "C.UTF-8"}):
        eventually(ready.exists, "the prompt is there")
        yield
