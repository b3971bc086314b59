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
    with pytest.raises(ServiceError, match="on darwin there is no way"):
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
    assert command_of(Path("a.toml"), given, None) == [
        *(sys.executable, "-m", "machine_client", "join", "--config", str(tmp_path / "a.toml")),
        *("--server", "https://a.example", "--token-file", str(tmp_path / "a token")),
        *("--log-file", str(tmp_path / "log")),
    ]


def test_token_and_variables_that_would_be_seen_or_lost_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ServiceError, match="--token-file"):
        command_of(None, {"token": "fh_secret"}, None)
    monkeypatch.setenv("FARHAND_MACHINE_HEARTBEAT", "7")
    with pytest.raises(ServiceError, match="FARHAND_MACHINE_HEARTBEAT: give it as an option"):
        command_of(None, {}, None)


def test_program_that_is_packed_into_one_file_is_its_own_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    command = command_of(None, {"server": "https://a.example"}, None)
    assert command[:3] == [sys.executable, "join", "--server"]


@pytest.mark.parametrize("config", [None, Path("a.toml")])
def test_task_logs_into_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, config: Path | None
) -> None:
    given = {"server": "https://a.example"}
    log = tmp_path / "client.log"
    assert "--log-file" not in command_of(config, given, log)
    monkeypatch.setattr(sys, "platform", "win32")
    assert command_of(config, given, log)[-2:] == ["--log-file", str(log)]
    assert "--log-file" not in command_of(config, given, None)
