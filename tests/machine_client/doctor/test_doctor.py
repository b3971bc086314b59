"""The doctor: it tries each hop and names the one that fails."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopCheck
from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.doctor import doctor
from machine_client.settings import MachineSettings
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import Button, ClickMouse
from schemas.link.messages import Released
from tests.desktop import NO_DISPLAY, unsteady_display, virtual_display
from tests.held import NOTHING, Held, held_on
from tests.machine_client.desktop.accessibility.rig import (
    accessible_desktop,
    patience_with_programs,
)
from tests.machine_client.desktop.vnc.plain_server import plain_server
from tests.machine_client.journals import journal_in
from tests.machine_client.pressing import READY, pressing
from tests.machine_client.scripted import TOKEN, scripted_server
from tests.processes import run


async def examined(
    address: str, state: Path, display: str, *options: str, **variables: str
) -> tuple[int, list[str]]:
    """The exit code and the lines of a doctor that ran to its end."""
    ended = await asyncio.to_thread(
        lambda: run(
            *("farhand-machine", "doctor", "--server", address, "--token", TOKEN),
            *("--state-dir", str(state), "--display", display, *options),
            **variables,
        )
    )
    assert "Traceback" not in ended.stderr
    assert TOKEN not in ended.stdout + ended.stderr
    return ended.returncode, ended.stdout.splitlines()


def failing(lines: list[str]) -> list[str]:
    return [line.removeprefix("FAIL ") for line in lines if line.startswith("FAIL ")]


async def failure_of(state: Path, display: str, *options: str) -> str:
    """The one failure of a doctor whose server is well; its exit code is 1."""
    async with scripted_server() as server:
        code, lines = await examined(server.address, state, display, *options)
    (failure,) = failing(lines)
    assert code == 1
    return failure


@contextmanager
def client_that_holds(display: str, button: Button) -> Iterator["subprocess.Popen[bytes]"]:
    """A machine client's injector in a process of its own, which is killed with the block."""
    client = pressing(display, ClickMouse(button=button, down=True))
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == READY
        yield client
    finally:
        client.kill()
        client.communicate()


async def test_healthy_machine_is_ok_at_every_hop(tmp_path: Path, display: str) -> None:
    async with scripted_server() as server:
        off = {"FARHAND_MACHINE_ELEMENTS": "false"}
        code, lines = await examined(server.address, tmp_path, display, **off)
    assert code == 0
    assert [line.split(":")[0] for line in lines] == [
        *("ok   desktop", "ok   display", "ok   input", "ok   screen", "ok   elements"),
        "ok   journal",
        *("ok   server's name", "ok   server's port", "ok   token", "ok   version"),
        "ok   service",
    ]
    assert lines[0] == "ok   desktop: x11, found on this machine"
    assert "1280x800" in lines[1]
    assert "can see 1280x800" in lines[3]


async def test_screen_that_nobody_may_see_is_no_failure(tmp_path: Path, display: str) -> None:
    async with scripted_server() as server:
        variables = {"FARHAND_MACHINE_SCREEN": "false"}
        code, lines = await examined(server.address, tmp_path, display, **variables)
    assert code == 0
    assert lines[3].startswith("ok   screen: nobody may look")


async def test_elements_that_nobody_tells_are_a_warning_with_its_remedy(
    tmp_path: Path, display: str
) -> None:
    bus = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}
    async with scripted_server() as server:
        code, lines = await examined(server.address, tmp_path, display, **bus)
    assert code == 0
    assert lines[4].startswith("warn elements: none: there is no D-Bus of a session: run")


async def test_elements_of_a_session_with_a_bus_are_told(tmp_path: Path) -> None:
    with patience_with_programs(), accessible_desktop() as desktop:
        bus = {"DBUS_SESSION_BUS_ADDRESS": desktop.environment["DBUS_SESSION_BUS_ADDRESS"]}
        async with scripted_server() as server:
            told = []
            for on, variables in ((False, {}), (True, {"NO_AT_BRIDGE": "1"}), (True, {})):
                await asyncio.to_thread(desktop.elements.switch, on=on)
                _, lines = await examined(
                    server.address, tmp_path, desktop.display, **bus, **variables
                )
                told.append(lines[4])
    off, without_gtk3, on_for_all = told
    assert off.startswith("warn elements: of some programs: accessibility is off in this session")
    assert off.endswith("farhand-machine install --accessibility switches it on")
    assert without_gtk3.startswith("warn elements: of some programs: NO_AT_BRIDGE=1 is set")
    assert "accessibility is off" not in without_gtk3
    assert on_for_all == "ok   elements: programs can tell what they show"


class DarkDesktop(UnavailableDesktop):
    """One that takes input and shows nothing."""

    def checks(self) -> tuple[DesktopCheck, ...]:
        return (DesktopCheck("screen", self._look, "it is silent"),)


async def test_screen_that_cannot_be_seen_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "choose_desktop", lambda *_: DarkDesktop("it is dark"))
    settings = MachineSettings(server="http://127.0.0.1:1", state_dir=tmp_path, token=TOKEN)
    _, finding, elements = await doctor._desktop(settings)
    assert str(elements) == "ok   elements: none: it is dark; all else works without them"
    assert not finding.good
    assert finding.what.startswith("it is dark; inputs work without it")


@pytest.mark.parametrize(
    ("variables", "remedy"),
    [
        ({}, "inside the graphical session"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "Wayland session"),
    ],
)
async def test_missing_display_is_named(
    tmp_path: Path, variables: dict[str, str], remedy: str
) -> None:
    async with scripted_server() as server:
        code, lines = await examined(server.address, tmp_path, NO_DISPLAY, **variables)
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith("display: ")
    assert failure.count(NO_DISPLAY) == 1
    assert remedy in failure
    assert lines[2].startswith("ok   journal")


def test_missing_library_is_named_with_its_package_and_not_as_a_missing_display(
    tmp_path: Path, display: str
) -> None:
    script = """
import ctypes.util
find = ctypes.util.find_library
ctypes.util.find_library = lambda name: None if name == "xcb-render" else find(name)
from machine_client.__main__ import main
main()
"""
    place = ("--state-dir", str(tmp_path), "--display", display)
    server = ("--server", "http://127.0.0.1:1", "--token", TOKEN)
    ended = run("python", "-c", script, "doctor", *server, *place)
    second = ended.stdout.splitlines()[1]
    assert second.startswith("FAIL display: "), ended.stderr
    assert "libxcb-render.so not found" in second
    assert second.endswith("sudo apt-get install libxcb-render0)")


@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "running"])
async def test_doctor_releases_nothing_that_a_client_has_pressed(
    tmp_path: Path, is_killed: bool
) -> None:
    """A client that starts releases what a dead one left, and tells the server; a look must not."""
    with virtual_display() as display:
        with client_that_holds(display, "right") as client:
            if is_killed:
                client.kill()
                client.wait()
            async with scripted_server() as server:
                code, lines = await examined(server.address, tmp_path, display)
            assert (code, failing(lines)) == (0, [])
            assert held_on(display) == Held(buttons=frozenset({3}))
        injector = DesktopInjector(X11Desktop(display))
        assert injector.take_released() == Released(buttons=["right"], keys=0)
        assert held_on(display) == NOTHING
        injector.close()


async def test_display_without_injection_is_named(tmp_path: Path) -> None:
    with virtual_display("640x480x24", "-extension", "XTEST") as display:
        failure = await failure_of(tmp_path, display)
    assert failure.startswith("input: ")
    assert "XTEST" in failure


async def test_vnc_server_is_named_with_what_is_wrong_with_it(tmp_path: Path) -> None:
    with plain_server() as vnc:
        address = f"127.0.0.1:{vnc.port}"
        async with scripted_server() as server:
            code, lines = await examined(server.address, tmp_path, NO_DISPLAY, "--vnc", address)
    assert (code, failing(lines)) == (0, [])
    assert lines[0] == "ok   desktop: vnc, as the settings say"
    assert lines[1] == f"ok   display: 64x48, of the VNC server {address}"
    failure = await failure_of(tmp_path, NO_DISPLAY, "--vnc", address)
    assert failure.startswith(f"display: The VNC server {address} cannot be reached")


async def test_x_server_that_hangs_is_named(tmp_path: Path) -> None:
    with unsteady_display() as display:
        display.freeze()
        failure = await failure_of(tmp_path, display.name)
    assert failure.startswith("display: the X server does not answer")


async def test_journal_in_use_is_a_running_client_and_no_failure(
    tmp_path: Path, display: str
) -> None:
    owner = journal_in(tmp_path / f"journal{display.replace(':', '_')}.sqlite3")
    async with scripted_server() as server:
        code, lines = await examined(server.address, tmp_path, display)
    owner.close()
    assert (code, failing(lines)) == (0, [])
    assert "in use: a machine client runs with it now" in lines[5]


async def test_journal_that_cannot_be_used_is_named(tmp_path: Path, display: str) -> None:
    (tmp_path / f"journal{display.replace(':', '_')}.sqlite3").write_text("no database " * 100)
    failure = await failure_of(tmp_path, display)
    assert failure.startswith("journal: ")
    assert "--state-dir" in failure


async def test_hop_that_fails_is_exit_code_1_and_nothing_behind_it_is_tried(
    tmp_path: Path, display: str
) -> None:
    code, lines = await examined("http://farhand.invalid:8600", tmp_path, display)
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith("server's name: farhand.invalid is not known")
    assert lines[-2] == f"FAIL {failure}"


async def test_file_that_others_can_read_is_named_and_is_no_failure(
    tmp_path: Path, display: str
) -> None:
    token, password = tmp_path / "Jörg's token", tmp_path / "password"
    for file, mode in ((token, 0o640), (password, 0o600)):
        file.write_text(TOKEN)
        file.chmod(mode)
    async with scripted_server() as server:
        settings = MachineSettings(
            server=server.address, state_dir=tmp_path, display=display, token_file=token,
            vnc_password_file=password,
        )  # fmt: skip
        findings = {each.hop: each for each in await doctor.examine(settings, TOKEN)}
    assert findings["token file"].good
    assert str(findings["token file"]).startswith(f"warn token file: others can read {token}")
    assert str(findings["VNC password"]) == f"ok   VNC password: {password}, for its user alone"


@pytest.mark.parametrize(
    ("active", "sub", "code", "begins"),
    [("active", "running", 0, "ok   service: "), ("failed", "failed", 3, "FAIL service: ")],
)
async def test_installed_service_is_told_with_how_it_is(
    tmp_path: Path, display: str, active: str, sub: str, code: int, begins: str
) -> None:
    programs, unit = tmp_path / "bin", tmp_path / "systemd" / "user" / "farhand-machine.service"
    for directory in (programs, unit.parent):
        directory.mkdir(parents=True)
    unit.touch()
    said = f"ActiveState={active}\\nSubState={sub}\\nResult=x\\nExecMainStatus={code}\\n"
    (programs / "systemctl").write_text(f"#!/bin/sh\nprintf '{said}'\n")
    (programs / "systemctl").chmod(0o700)
    variables = {"PATH": f"{programs}:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(tmp_path)}
    async with scripted_server() as server:
        ended, lines = await examined(server.address, tmp_path, display, **variables)
    assert ended == (begins[:4] == "FAIL")
    assert lines[-1].startswith(f"{begins}{unit} is installed, with its user's rights")
