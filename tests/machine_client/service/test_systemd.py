"""A unit of the user's systemd: its file is read by systemd itself, and systemctl is played."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from machine_client.service.base import ServiceError
from machine_client.service.systemd import NAME, SystemdService
from tests.desktop import program
from tests.machine_client.service.runs import Runs

COMMAND = ["/usr/bin/true", "join", "--state-dir", '/home/Jörg "Müller"/100% $HOME\\x']


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "Jörg Müller"))
    return tmp_path / "Jörg Müller" / "systemd" / "user" / NAME


def test_unit_is_what_systemd_understands_and_is_started(unit: Path) -> None:
    runs = Runs()
    assert str(unit) in SystemdService(runs).install(COMMAND, elevated=False)
    assert [each[2:] for each in runs.told] == [
        ["show-environment"],
        ["daemon-reload"],
        ["enable", NAME],
        ["restart", NAME],
    ]
    verified = subprocess.run(
        [program("systemd-analyze"), "verify", "--user", str(unit)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert NAME not in verified.stderr, verified.stderr
    assert r'"/home/Jörg \"Müller\"/100%% $$HOME\\x"' in unit.read_text()


def test_unit_switches_accessibility_on_where_that_is_wanted(unit: Path) -> None:
    service = SystemdService(Runs())
    assert not service.switches_accessibility()
    service.install(COMMAND, elevated=False, accessibility=True)
    assert service.switches_accessibility()
    verified = subprocess.run(
        [program("systemd-analyze"), "verify", "--user", str(unit)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert NAME not in verified.stderr, verified.stderr
    service.install(COMMAND, elevated=False)
    assert not service.switches_accessibility()


def test_what_is_made_for_the_unit_is_for_its_user_alone_whatever_the_umask(unit: Path) -> None:
    before = os.umask(0)
    try:
        SystemdService(Runs()).install(COMMAND, elevated=False)
    finally:
        os.umask(before)
    made = (unit.parent, unit.parent.parent, unit.parent.parent.parent)
    assert [stat.S_IMODE(each.stat().st_mode) for each in made] == [0o700] * 3
    assert not stat.S_IMODE(unit.stat().st_mode) & 0o022


def test_uninstalled_is_ended_and_gone_and_twice_is_fine(unit: Path) -> None:
    runs = Runs()
    service = SystemdService(runs)
    service.install(COMMAND, elevated=False)
    runs.told.clear()
    assert "was ended and removed" in service.uninstall()
    assert runs.told[0] == ["systemctl", "--user", "disable", "--now", NAME]
    assert not unit.exists()
    assert service.uninstall() == "nothing is installed"


def shown(active: str, sub: str, code: int) -> str:
    return f"ActiveState={active}\nSubState={sub}\nResult=exit-code\nExecMainStatus={code}\n"


def test_state_is_what_systemd_says(unit: Path) -> None:
    assert SystemdService(Runs()).state() is None
    runs = Runs(says=shown("active", "running", 0))
    service = SystemdService(runs)
    service.install(COMMAND, elevated=False)
    state = service.state()
    assert state is not None
    assert (state.name, state.is_running) == (str(unit), True)
    assert "with its user's rights, and runs" in str(state)
    assert runs.told[-1][-1] == NAME
    assert f"journalctl --user --unit {NAME}" in str(state)


@pytest.mark.usefixtures("unit")
def test_one_that_does_not_run_is_told_with_its_last_end() -> None:
    service = SystemdService(Runs(says=shown("failed", "failed", 3)))
    service.install(COMMAND, elevated=False)
    state = service.state()
    assert state is not None
    assert not state.is_running
    assert "does not run (it is failed, failed; its last end: exit-code, exit code 3)" in str(state)


@pytest.mark.usefixtures("unit")
def test_systemd_that_does_not_say_is_told() -> None:
    SystemdService(Runs()).install(COMMAND, elevated=False)
    with pytest.raises(ServiceError, match="systemctl --user show: it will not"):
        SystemdService(Runs(show=1)).state()
    with pytest.raises(ServiceError, match="does not say how"):
        SystemdService(Runs(says="")).state()


def test_without_a_systemd_that_answers_nothing_is_written(unit: Path) -> None:
    runs = Runs()
    runs.codes["show-environment"] = 1
    with pytest.raises(ServiceError, match="systemctl --user show-environment: it will not"):
        SystemdService(runs).install(COMMAND, elevated=False)
    assert not unit.exists()


def test_what_cannot_be_done_is_told(unit: Path) -> None:
    with pytest.raises(ServiceError, match="for Windows"):
        SystemdService(Runs()).install(COMMAND, elevated=True)
    with pytest.raises(ServiceError, match="systemctl --user enable: it will not"):
        SystemdService(Runs(enable=1)).install(COMMAND, elevated=False)
    unit.unlink()
    unit.parent.rmdir()
    unit.parent.write_text("a file")
    with pytest.raises(ServiceError, match="cannot write"):
        SystemdService(Runs()).install(COMMAND, elevated=False)
