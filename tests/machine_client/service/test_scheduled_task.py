"""A task of Windows' scheduler: what it is told, and in which words; schtasks is played."""

from xml.etree import ElementTree as ET

import pytest

from machine_client.service.base import ServiceError
from machine_client.service.scheduled_task import NAME, ScheduledTask, task_of
from tests.machine_client.service.runs import Runs

COMMAND = ["C:\\Jörg Müller\\pythonw.exe", "-m", "machine_client", "--config", "C:\\a b\\c.toml"]


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USERNAME", "Jörg")
    monkeypatch.setenv("USERDOMAIN", "OFFICE")


def said(task: bytes, path: str) -> str | None:
    space = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    place = "/".join(space + each for each in path.split("/"))
    return ET.fromstring(task).findtext(place)


def test_task_runs_in_the_session_of_its_user_without_higher_rights_and_again() -> None:
    runs = Runs()
    assert "starts when OFFICE\\Jörg logs on, without higher" in ScheduledTask(runs).install(
        COMMAND, elevated=False
    )
    assert [each[1] for each in runs.told] == ["/Create", "/Run"]
    (task,) = runs.files
    for path, expected in (
        ("Triggers/LogonTrigger/UserId", "OFFICE\\Jörg"),
        ("Triggers/LogonTrigger/Repetition/Interval", "PT1M"),
        ("Principals/Principal/LogonType", "InteractiveToken"),
        ("Principals/Principal/RunLevel", "LeastPrivilege"),
        ("Settings/MultipleInstancesPolicy", "IgnoreNew"),
        ("Settings/ExecutionTimeLimit", "PT0S"),
        ("Settings/DisallowStartIfOnBatteries", "false"),
        ("Actions/Exec/Command", COMMAND[0]),
        ("Actions/Exec/Arguments", '-m machine_client --config "C:\\a b\\c.toml"'),
    ):
        assert said(task, path) == expected, path


def test_higher_rights_are_asked_for_where_they_are_wanted() -> None:
    task = task_of(COMMAND, "Jörg", elevated=True)
    assert said(task, "Principals/Principal/RunLevel") == "HighestAvailable"


def test_uninstalled_is_ended_and_gone_and_twice_is_fine() -> None:
    runs = Runs()
    assert "was ended and removed" in ScheduledTask(runs).uninstall()
    assert [each[1] for each in runs.told] == ["/Query", "/End", "/Delete"]
    assert ScheduledTask(Runs(Query=1)).uninstall() == "nothing is installed"


def test_status_is_what_the_scheduler_says() -> None:
    assert ScheduledTask(Runs()).status() == (True, "it runs")
    assert ScheduledTask(Runs(Query=1)).status() == (False, "not installed")


def test_what_cannot_be_done_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceError, match="schtasks /Create /F: it will not"):
        ScheduledTask(Runs(Create=1)).install(COMMAND, elevated=False)
    monkeypatch.delenv("USERDOMAIN")
    assert "when Jörg logs on" in ScheduledTask(Runs()).install(COMMAND, elevated=False)
    monkeypatch.delenv("USERNAME")
    with pytest.raises(ServiceError, match="USERNAME is not set"):
        ScheduledTask(Runs()).install(COMMAND, elevated=False)
    assert NAME
