"""A task of Windows' Task Scheduler, in the session of the user who logs on.

Not a service: those live in a session that sees no desktop.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from machine_client.service.base import Run, ServiceError, ServiceState, checked, run_program
from machine_client.service.task_scheduler import DISABLED, NEVER_RAN, RUNNING, Task, find_task

NAME: Final = "Farhand machine client"
_NAMESPACE: Final = "http://schemas.microsoft.com/windows/2004/02/mit/task"
_AGAIN: Final = "PT1M"
"""It is begun this often while its user is logged on, and not while it runs: so one that ended,
however it ended, runs again."""
_LAST_OF_OURS: Final = 255
"""Greater codes than these are Windows' own."""
_HIGHEST: Final = "HighestAvailable"
_ELEVATED, _PLAIN = "with the highest rights its user has", "without higher rights"
_PROGRAM: Final = (
    # By its whole path: a program of that name where somebody happens to stand is not meant.
    str(Path(os.environ.get("SYSTEMROOT", "C:\\Windows")) / "System32" / "schtasks.exe")
    if sys.platform == "win32"
    else "schtasks"
)


class ScheduledTask:
    """See `machine_client.service.base.Service`."""

    def __init__(
        self, run: Run = run_program, find: Callable[[str], Task | None] = find_task
    ) -> None:
        self._run = run
        self._find = find

    def install(
        self, command: Sequence[str], *, elevated: bool, accessibility: bool = False
    ) -> str:
        if accessibility:
            raise ServiceError("--accessibility is for Linux: here, no elements are told yet")
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "task.xml"
            file.write_bytes(task_of(command, _user(), elevated=elevated))
            # One that runs keeps running as it was told to, whatever its task becomes.
            self._end()
            checked(self._run, [_PROGRAM, "/Create", "/F", "/TN", NAME, "/XML", str(file)])
        checked(self._run, [_PROGRAM, "/Run", "/TN", NAME])
        rights = _ELEVATED if elevated else _PLAIN
        return (
            f"the task {NAME!r} is there, was started, and starts when {_user()} logs on, {rights}"
        )

    def switches_accessibility(self) -> bool:
        return False

    def uninstall(self) -> str:
        if not self._end():
            return "nothing is installed"
        checked(self._run, [_PROGRAM, "/Delete", "/F", "/TN", NAME])
        return (
            f"the task {NAME!r} was ended and removed; journal, token and settings are where they "
            "were"
        )

    def state(self) -> ServiceState | None:
        task = self._find(NAME)
        if task is None:
            return None
        return ServiceState(
            name=f"the task {NAME!r}",
            is_running=task.state == RUNNING,
            rights=_ELEVATED if _said(task, "RunLevel") == _HIGHEST else _PLAIN,
            why_not=_why_not(task),
            log=_log(_said(task, "Arguments")),
        )

    def _end(self) -> bool:
        """End it where it runs; whether it is there at all."""
        if self._find(NAME) is None:
            return False
        self._run([_PROGRAM, "/End", "/TN", NAME])
        return True


def _why_not(task: Task) -> str:
    if task.state == DISABLED:
        return "it is disabled in the Task Scheduler"
    if task.last_result == NEVER_RAN:
        return "it has not run yet"
    code = task.last_result & 0xFFFFFFFF
    return f"it ended with {code}" if code <= _LAST_OF_OURS else f"Windows says {code:#x}"


def _said(task: Task, element: str) -> str:
    """What a task's description has in one place; empty where it has none."""
    try:
        found = ET.fromstring(task.description).iter(f"{{{_NAMESPACE}}}{element}")  # noqa: S314
    except ET.ParseError:
        return ""
    return next((each.text or "" for each in found), "")


def _log(arguments: str) -> str:
    """The log file that a task's arguments name, as `command_of` gives it."""
    found = re.search(r'--log-file ("[^"]+"|\S+)', arguments)
    return found[1].strip('"') if found else "where its file of settings says"


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
                "RunLevel": _HIGHEST if elevated else "LeastPrivilege",
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
