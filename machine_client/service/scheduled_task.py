"""A task of Windows' Task Scheduler, in the session of the user who logs on.

Not a service: those live in a session that sees no desktop.
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from machine_client.service.base import Run, ServiceError, checked, run_program

NAME: Final = "Farhand machine client"
_NAMESPACE: Final = "http://schemas.microsoft.com/windows/2004/02/mit/task"
_AGAIN: Final = "PT1M"
"""It is begun this often while its user is logged on, and not while it runs: so one that ended,
however it ended, runs again."""


class ScheduledTask:
    """See `machine_client.service.base.Service`."""

    def __init__(self, run: Run = run_program) -> None:
        self._run = run

    def install(self, command: Sequence[str], *, elevated: bool) -> str:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "task.xml"
            file.write_bytes(task_of(command, _user(), elevated=elevated))
            checked(self._run, ["schtasks", "/Create", "/F", "/TN", NAME, "/XML", str(file)])
        checked(self._run, ["schtasks", "/Run", "/TN", NAME])
        rights = "with the highest rights its user has" if elevated else "without higher rights"
        return f"the task {NAME!r} is there, runs, and starts when {_user()} logs on, {rights}"

    def uninstall(self) -> str:
        if not self._is_there():
            return "nothing is installed"
        self._run(["schtasks", "/End", "/TN", NAME])
        checked(self._run, ["schtasks", "/Delete", "/F", "/TN", NAME])
        return (
            f"the task {NAME!r} was ended and removed; journal, token and settings are where they "
            "were"
        )

    def status(self) -> tuple[bool, str]:
        if not self._is_there():
            return False, "not installed"
        said = checked(self._run, ["schtasks", "/Query", "/TN", NAME, "/FO", "LIST", "/V"])
        return True, said.strip()

    def _is_there(self) -> bool:
        return self._run(["schtasks", "/Query", "/TN", NAME]).returncode == 0


def task_of(command: Sequence[str], user: str, *, elevated: bool) -> bytes:
    """A task's description, as the Task Scheduler reads it."""
    program, *arguments = command
    content: dict[str, object] = {
        "RegistrationInfo": {"Description": "Lets a Farhand server send input to this desktop."},
        "Triggers": {
            "LogonTrigger": {"Repetition": {"Interval": _AGAIN}, "UserId": user},
        },
        "Principals": {
            "Principal": {
                "UserId": user,
                "LogonType": "InteractiveToken",
                "RunLevel": "HighestAvailable" if elevated else "LeastPrivilege",
            },
        },
        "Settings": {
            "MultipleInstancesPolicy": "IgnoreNew",
            "DisallowStartIfOnBatteries": "false",
            "StopIfGoingOnBatteries": "false",
            "StartWhenAvailable": "true",
            "ExecutionTimeLimit": "PT0S",
            "Priority": "4",
        },
        "Actions": {
            "Exec": {"Command": program, "Arguments": subprocess.list2cmdline(arguments)},
        },
    }
    task = ET.Element("Task", {"version": "1.2", "xmlns": _NAMESPACE})
    _add(task, content)
    return bytes(ET.tostring(task, encoding="utf-16"))


def _add(parent: ET.Element, content: dict[str, object]) -> None:
    for name, inside in content.items():
        element = ET.SubElement(parent, name)
        if name == "Principal":
            element.set("id", "Author")
        if isinstance(inside, dict):
            _add(element, inside)
        else:
            element.text = str(inside)


def _user() -> str:
    name, domain = os.environ.get("USERNAME"), os.environ.get("USERDOMAIN")
    if not name:
        raise ServiceError("Windows does not say who is logged on: USERNAME is not set")
    return f"{domain}\\{name}" if domain else name
