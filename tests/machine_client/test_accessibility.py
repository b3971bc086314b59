"""Accessibility of a real session: switched on where its owner agrees, and put back at the end."""

import os
import pty
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.inputs.selectors import Selector
from tests.desktop import program
from tests.machine_client.desktop.accessibility.rig import (
    AccessibleDesktop,
    Program,
    accessible_desktop,
    patience_with_programs,
)
from tests.processes import SCRIPTS, Ended, environment, run
from tests.waiting import WAIT_SECONDS, eventually

IN_UNIT = "ExecStartPre=-"


@pytest.fixture
def session() -> Iterator[AccessibleDesktop]:
    """A session's bus of the test's own, on which accessibility is off."""
    with patience_with_programs(), accessible_desktop() as desktop:
        assert not desktop.elements.is_switched_on()
        yield desktop


class Installing:
    """``farhand-machine`` of a user whose systemd does whatever it is told."""

    def __init__(self, directory: Path, session: AccessibleDesktop) -> None:
        programs = directory / "bin"
        programs.mkdir()
        (programs / "systemctl").write_text("#!/bin/sh\n")
        (programs / "systemctl").chmod(0o700)
        token = directory / "token"
        token.write_text("fh_t")
        self._given = "--server", "http://127.0.0.1:9", "--token-file", str(token)
        self._unit = directory / "home" / "systemd" / "user" / "farhand-machine.service"
        self.variables = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "XDG_CONFIG_HOME": str(directory / "home"),
            "DBUS_SESSION_BUS_ADDRESS": session.environment["DBUS_SESSION_BUS_ADDRESS"],
            "DISPLAY": session.display,
        }

    @property
    def before_start(self) -> str:
        """What the unit does before each start; empty where that is nothing."""
        lines = self._unit.read_text().splitlines()
        return next((line.removeprefix(IN_UNIT) for line in lines if IN_UNIT in line), "")

    @property
    def is_installed(self) -> bool:
        return self._unit.exists()

    def install(self, *options: str, **variables: str) -> Ended:
        given = {**self.variables, **variables}
        return run("farhand-machine", "install", *self._given, *options, **given)

    def uninstall(self) -> str:
        ended = run("farhand-machine", "uninstall", **self.variables)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def asked(self, answer: str) -> str:
        """Install on a terminal, and give this answer; what was said."""
        ours, its = pty.openpty()
        try:
            os.write(ours, f"{answer}\n".encode())
            ended = subprocess.run(
                [str(SCRIPTS / "farhand-machine"), "install", *self._given],
                stdin=its,
                capture_output=True,
                env=environment(**self.variables),
                text=True,
                check=True,
                timeout=WAIT_SECONDS,
            )
        finally:
            os.close(ours)
            os.close(its)
        return ended.stdout


@pytest.fixture
def installing(session: AccessibleDesktop, tmp_path: Path) -> Installing:
    return Installing(tmp_path, session)


def test_owner_is_asked_on_a_terminal_and_it_is_put_back(
    session: AccessibleDesktop, installing: Installing
) -> None:
    assert "stays so; --accessibility switches it on" in installing.install().stdout
    said = installing.asked("n")
    assert "Switch it on? [y/N]" in said
    assert (session.elements.is_switched_on(), installing.before_start) == (False, "")

    said = installing.asked("y")
    assert said.index("IsEnabled") < said.index("is there, was started") < said.index("is on in")
    assert session.elements.is_switched_on()
    # At the next start, and after the next logon, the unit does it.
    session.elements.switch(on=False)
    words = shlex.split(installing.before_start)
    subprocess.run(
        [program(words[0]), *words[1:]], env=environment(**installing.variables), check=True
    )
    assert session.elements.is_switched_on()
    # Installed anew, it is still this service's to put back.
    assert installing.install().returncode == 0
    assert installing.before_start
    assert "is off again" in installing.uninstall()
    assert not session.elements.is_switched_on()


def test_program_of_qt_tells_that_starts_once_it_is_on(
    session: AccessibleDesktop, installing: Installing
) -> None:
    window = Selector(role="frame", name="Invoice")
    variables = {**session.environment}
    del variables["QT_LINUX_ACCESSIBILITY_ALWAYS_ON"]
    # A machine client that runs asks, as this does: so what programs register with is there.
    assert not session.elements.sight(window)[0]
    installed = installing.install("--accessibility")
    assert installed.returncode == 0, installed.stderr
    with Program("qt5_program.py", "1", "Invoice", environment=variables):
        eventually(lambda: session.elements.sight(window)[0], "the program tells")


def test_what_was_on_before_stays_on(session: AccessibleDesktop, installing: Installing) -> None:
    session.elements.switch(on=True)
    assert "is on already" in installing.install("--accessibility").stdout
    assert installing.before_start == ""
    assert "accessibility" not in installing.uninstall()
    assert session.elements.is_switched_on()


def test_owner_who_takes_it_back_has_it_switched_off(
    session: AccessibleDesktop, installing: Installing
) -> None:
    installing.install("--accessibility")
    assert "is off again" in installing.install("--no-accessibility").stdout
    assert (session.elements.is_switched_on(), installing.before_start) == (False, "")


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}, "nothing was installed: there is no"),
        ({"FARHAND_MACHINE_CONFIG": "elements.toml"}, "nobody may see, as the settings say"),
    ],
)
def test_what_cannot_be_switched_on_installs_nothing(
    installing: Installing, tmp_path: Path, variables: dict[str, str], why: str
) -> None:
    (tmp_path / "elements.toml").write_text("elements = false\n")
    config = variables.pop("FARHAND_MACHINE_CONFIG", "")
    options = ("--config", str(tmp_path / config)) if config else ()
    refused = installing.install("--accessibility", *options, **variables)
    assert refused.returncode == 1
    assert why in refused.stderr
    assert not installing.is_installed
