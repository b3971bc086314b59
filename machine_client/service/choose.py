"""Which way this system has to keep a program running, and the program itself."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from machine_client.service.base import Service, ServiceError
from machine_client.service.scheduled_task import ScheduledTask
from machine_client.service.systemd import SystemdService

_KEPT = ("FARHAND_MACHINE_CONFIG",)
"""What a setting's variable may be all the same: it was read already."""


def service_of_this_system() -> Service:
    """The one way to install a machine client here.  Raises ServiceError."""
    if sys.platform == "win32":
        return ScheduledTask()
    if sys.platform == "linux":
        return SystemdService()
    raise ServiceError(f"on {sys.platform} there is no way to install it")


def command_of(config: Path | None, given: Mapping[str, Any], unseen_log: Path | None) -> list[str]:
    """The program and its arguments, by which these settings are joined with from anywhere.

    ``unseen_log`` is a file for what nobody would see, where the settings have it log into none.
    Raises ServiceError for settings that would be lost, or seen by others.
    """
    if given.get("token") is not None:
        raise ServiceError("give the token as --token-file: others can read a command's arguments")
    left = sorted(
        name for name in os.environ if name.startswith("FARHAND_MACHINE_") and name not in _KEPT
    )
    if left:
        raise ServiceError(f"{', '.join(left)}: give it as an option, or in the file of --config")
    options = dict(given)
    if sys.platform == "win32" and unseen_log is not None:
        options["log_file"] = unseen_log  # systemd keeps what a unit says; a task's is lost
    arguments = ["join"] if config is None else ["join", "--config", str(config.absolute())]
    for name, value in options.items():
        if value is not None:
            text = str(value.expanduser().absolute() if isinstance(value, Path) else value)
            arguments += [f"--{name.replace('_', '-')}", text]
    return [*_program(), *arguments]


def _program() -> list[str]:
    """How this program is started: alone, where it is packed into one file with its Python."""
    if getattr(sys, "frozen", False):
        return [sys.executable]
    return [_interpreter(), "-m", "machine_client"]


def _interpreter() -> str:
    """This Python; on Windows the one of its kinds that opens no console."""
    program = Path(sys.executable)
    without_console = program.with_name("pythonw.exe")
    if sys.platform == "win32" and without_console.exists():
        return str(without_console)
    return str(program)
