"""The demo's second machine: a desktop with a form, of which the program tells what it shows."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from farhand import Farhand, Machine
from server.demo import DemoError, parts
from server.demo.children import Child, Children

MACHINE_ID, MACHINE_NAME = "orders", "Order desk"
RECORDED_VERSION, NEWER_VERSION = "1", "2"

_PYTHON: Final = "/usr/bin/python3"
_LAUNCHERS: Final = (
    "/usr/libexec/at-spi-bus-launcher",
    "/usr/lib/at-spi2-core/at-spi-bus-launcher",
)
_GTK: Final = 'import gi; gi.require_version("Gtk", "3.0"); from gi.repository import Gtk'


def missing() -> list[str]:
    """The packages of Debian without which there is no form."""
    return [*_missing()]


def _missing() -> Iterator[str]:
    if shutil.which("dbus-daemon") is None:
        yield "dbus"
    if not any(Path(each).exists() for each in _LAUNCHERS):
        yield "at-spi2-core"
    try:
        subprocess.run([_PYTHON, "-c", _GTK], check=True, capture_output=True)  # noqa: S603  ours
    except (OSError, subprocess.CalledProcessError):
        yield "python3-gi"
        yield "gir1.2-gtk-3.0"


@dataclass(frozen=True)
class OrderDesk:
    """The machine with the form; ``variables`` are what its programs need of their environment."""

    children: Children
    desk: Machine
    variables: dict[str, str]
    form: Child

    @classmethod
    def started(
        cls, children: Children, xvfb: str, farhand: Farhand, address: str, directory: Path
    ) -> "OrderDesk":
        """Its display, its bus, the form as it was recorded, and its machine client."""
        display = parts.start_display(children, xvfb, "second Xvfb")
        bus = parts.start_telling(
            children,
            "bus of the second desktop",
            [
                *(str(shutil.which("dbus-daemon")), "--session", "--nofork", "--nopidfile"),
                "--print-address={}",
            ],
        )
        variables = {
            "DISPLAY": display,
            "DBUS_SESSION_BUS_ADDRESS": bus,
            "GTK_MODULES": "gail:atk-bridge",
            "NO_AT_BRIDGE": "0",
            # What the form sets is nobody's setting afterwards.
            "GSETTINGS_BACKEND": "memory",
        }
        form = _shown(children, RECORDED_VERSION, variables)
        token_file = parts.add_machine(farhand, directory, MACHINE_ID, MACHINE_NAME)
        _end_runs(farhand)
        state = directory / "second-machine"
        machine = parts.start_machine(children, address, token_file, display, state, bus)
        parts.wait_for_machine(children, machine, farhand, MACHINE_ID)
        made = cls(children, farhand.machine(MACHINE_ID), variables, form)
        made.until_told()
        return made

    def until_told(self) -> None:
        """Wait until the form's program tells what it shows, which takes a moment."""
        if self.desk.wait(element={"role": "push button", "name": "Save"}).matched is None:
            raise DemoError(f"the form tells nothing of its button{self.form.last_words()}")

    def renewed(self) -> "OrderDesk":
        """The same with a newer form, in which a field has gone."""
        self.children.end(self.form)
        newer = replace(self, form=_shown(self.children, NEWER_VERSION, self.variables))
        newer.until_told()
        return newer

    def saved(self) -> list[str]:
        """What the form says was saved: the field's texts of each order, from above."""
        lines = self.form.output().splitlines()
        return [line.removeprefix("saved ") for line in lines if line.startswith("saved ")]


def _end_runs(farhand: Farhand) -> None:
    """Let go of the machine where a demo was ended in the middle of its run."""
    for run in farhand.runs.list(machine_id=MACHINE_ID):
        if run.ended_at is None:
            farhand.runs.cancel(run.id)
            farhand.runs.wait(run.id)


def _shown(children: Children, version: str, variables: dict[str, str]) -> Child:
    """A form of this version, once it is open."""
    script = Path(parts.__file__).parents[2] / "machine_client" / "demo" / "form.py"
    name = f"form {version}"
    form = children.start(name, [_PYTHON, str(script), version], variables=variables)
    children.wait_for(lambda: "open\n" in form.output(), "the form is open", form)
    return form
