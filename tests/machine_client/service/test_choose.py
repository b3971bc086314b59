"""What is installed is this program, with what it was told, wherever it is started from."""

import sys
from pathlib import Path

import pytest

from machine_client.service.base import ServiceError
from machine_client.service.choose import command_of, service_of_this_system
from machine_client.service.scheduled_task import ScheduledTask
from machine_client.service.systemd import SystemdService


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARHAND_MACHINE_CONFIG", raising=False)


def test_every_system_has_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    for platform, kind in (("linux", SystemdService), ("win32", ScheduledTask)):
        monkeypatch.setattr(sys, "platform", platform)
        assert isinstance(service_of_this_system(), kind)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ServiceError, match="on darwin"):
        service_of_this_system()


def test_command_has_what_was_given_with_whole_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {
        "server": "https://a.example",
        "token_file": Path("a token"),
        "log_file": tmp_path / "log",
        "display": None,
    }
    assert command_of(Path("a.toml"), given) == [
        *(sys.executable, "-m", "machine_client", "join", "--config", str(tmp_path / "a.toml")),
        *("--server", "https://a.example", "--token-file", str(tmp_path / "a token")),
        *("--log-file", str(tmp_path / "log")),
    ]


def test_token_and_variables_that_would_be_seen_or_lost_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ServiceError, match="--token-file"):
        command_of(None, {"token": "fh_secret"})
    monkeypatch.setenv("FARHAND_MACHINE_HEARTBEAT", "7")
    with pytest.raises(ServiceError, match="FARHAND_MACHINE_HEARTBEAT: give it as an option"):
        command_of(None, {})


@pytest.mark.skipif(sys.platform != "win32", reason="there is a console elsewhere")
def test_task_logs_into_a_file() -> None:
    command = command_of(None, {"server": "https://a.example"})
    assert command[-2] == "--log-file"
    assert command[-1].endswith("client.log")
