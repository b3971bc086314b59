"""A unit of the user's systemd: its file is read by systemd itself, and systemctl is played."""

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


def test_uninstalled_is_ended_and_gone_and_twice_is_fine(unit: Path) -> None:
    runs = Runs()
    service = SystemdService(runs)
    service.install(COMMAND, elevated=False)
    runs.told.clear()
    assert "was ended and removed" in service.uninstall()
    assert runs.told[0] == ["systemctl", "--user", "disable", "--now", NAME]
    assert not unit.exists()
    assert service.uninstall() == "nothing is installed"


@pytest.mark.usefixtures("unit")
def test_status_is_what_systemd_says() -> None:
    service = SystemdService(Runs(status=3))
    assert service.status() == (False, "not installed")
    service.install(COMMAND, elevated=False)
    assert service.status() == (True, "it runs")


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
