"""A task of Windows' scheduler: what it is told, and in which words; schtasks is played."""

from xml.etree import ElementTree as ET

import pytest

from machine_client.service.base import ServiceError
from machine_client.service.scheduled_task import NAME, ScheduledTask, task_of
from machine_client.service.task_scheduler import DISABLED, NEVER_RAN, RUNNING, Task
from tests.machine_client.service.runs import Runs

READY = 3
COMMAND = ["C:\\Jörg Müller\\pythonw.exe", "-m", "machine_client", "--config", "C:\\a b\\c.toml"]


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USERNAME", "Jörg")
    monkeypatch.setenv("USERDOMAIN", "OFFICE")


def absent(_: str) -> None:
    """A scheduler that has no such task."""


def there(_: str) -> Task:
    """One that has it."""
    return task()


def task(state: int = RUNNING, last_result: int = 0, *, elevated: bool = False) -> Task:
    command = [*COMMAND, "--log-file", "C:\\a b\\client.log"]
    description = task_of(command, "Jörg", elevated=elevated).decode("utf-16")
    # The scheduler's own is a text, which names no encoding of its bytes.
    return Task(state, last_result, description.partition("?>")[2])


def said(task: bytes, path: str) -> str | None:
    space = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    place = "/".join(space + each for each in path.split("/"))
    return ET.fromstring(task).findtext(place)


def test_task_runs_in_the_session_of_its_user_without_higher_rights_and_again() -> None:
    runs = Runs()
    done = ScheduledTask(runs, absent).install(COMMAND, elevated=False)
    assert "starts when OFFICE\\Jörg logs on, without higher" in done
    assert [each[1] for each in runs.told] == ["/Create", "/Run"]
    (made,) = runs.files
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
        assert said(made, path) == expected, path


def test_higher_rights_are_asked_for_where_they_are_wanted() -> None:
    made = task_of(COMMAND, "Jörg", elevated=True)
    assert said(made, "Principals/Principal/RunLevel") == "HighestAvailable"


def test_one_that_runs_is_ended_before_another_takes_its_place() -> None:
    runs = Runs()
    ScheduledTask(runs, there).install(COMMAND, elevated=False)
    assert [each[1] for each in runs.told] == ["/End", "/Create", "/Run"]


def test_uninstalled_is_ended_and_gone_and_twice_is_fine() -> None:
    runs = Runs()
    assert "was ended and removed" in ScheduledTask(runs, there).uninstall()
    assert [each[1] for each in runs.told] == ["/End", "/Delete"]
    assert ScheduledTask(Runs(), absent).uninstall() == "nothing is installed"


def test_state_is_what_the_scheduler_says() -> None:
    assert ScheduledTask(Runs(), absent).state() is None
    state = ScheduledTask(Runs(), there).state()
    assert state is not None
    assert state.is_running
    assert NAME in state.name
    assert str(state).endswith("without higher rights, and runs; its log: C:\\a b\\client.log")


@pytest.mark.parametrize(
    ("state", "last_result", "why"),
    [
        (DISABLED, 0, "it is disabled"),
        (READY, NEVER_RAN, "it has not run yet"),
        (READY, 3, "it ended with 3"),
        (READY, -0x3FFFFEC6, "Windows says 0xc000013a"),
    ],
)
def test_why_it_does_not_run_is_told(state: int, last_result: int, why: str) -> None:
    found = ScheduledTask(Runs(), lambda _: task(state, last_result, elevated=True)).state()
    assert found is not None
    assert not found.is_running
    assert why in str(found)
    assert "with the highest rights its user has" in str(found)


def test_description_that_cannot_be_read_is_one_that_says_nothing() -> None:
    state = ScheduledTask(Runs(), lambda _: Task(RUNNING, 0, "")).state()
    assert state is not None
    assert state.log == "where its file of settings says"


def test_what_cannot_be_done_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceError, match="schtasks /Create /F: it will not"):
        ScheduledTask(Runs(Create=1), absent).install(COMMAND, elevated=False)
    monkeypatch.delenv("USERDOMAIN")
    assert "when Jörg logs on" in ScheduledTask(Runs(), absent).install(COMMAND, elevated=False)
    monkeypatch.delenv("USERNAME")
    with pytest.raises(ServiceError, match="USERNAME is not set"):
        ScheduledTask(Runs(), absent).install(COMMAND, elevated=False)
