"""A unit of the user's own systemd, which graphical sessions start."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from machine_client.service.base import Run, ServiceError, ServiceState, checked, run_program
from machine_client.system.private_files import make_private_directory, make_private_file

NAME: Final = "farhand-machine.service"

_UNIT: Final = """\
# Made by farhand-machine install, and replaced by it.
[Unit]
Description=Farhand machine client
PartOf=graphical-session.target
After=graphical-session.target

[Service]
{before}ExecStart={command}
Restart=on-failure
RestartSec=5
# 2 is a mistake in the settings; 3 is the server itself saying stop, as with a revoked token.
# Whatever a proxy or a portal answers does not end it.
RestartPreventExitStatus=2 3

[Install]
WantedBy=graphical-session.target
"""

_SWITCHING_ON: Final = (
    # It was off when this was installed, and uninstall switches it off again.
    "ExecStartPre=-busctl --user set-property"
    " org.a11y.Bus /org/a11y/bus org.a11y.Status IsEnabled b true\n"
)

_ASKED: Final = ("ActiveState", "SubState", "Result", "ExecMainStatus")


class SystemdService:
    """See `machine_client.service.base.Service`."""

    def __init__(self, run: Run = run_program) -> None:
        self._run = run

    def install(
        self, command: Sequence[str], *, elevated: bool, accessibility: bool = False
    ) -> str:
        if elevated:
            raise ServiceError("--elevated is for Windows: here, the client has its user's rights")
        file = _file()
        # First of all, whether it can be asked: where it cannot, nothing is left behind.
        checked(self._run, ["systemctl", "--user", "show-environment"])
        try:
            make_private_directory(file.parent)
            # Whoever can write into it chooses what runs here.
            make_private_file(file)
            before = _SWITCHING_ON if accessibility else ""
            file.write_text(_UNIT.format(before=before, command=" ".join(map(_quoted, command))))
        except OSError as error:
            raise ServiceError(f"cannot write {file}: {error.strerror}") from None
        checked(self._run, ["systemctl", "--user", "daemon-reload"])
        checked(self._run, ["systemctl", "--user", "enable", NAME])
        checked(self._run, ["systemctl", "--user", "restart", NAME])
        return f"{file} is there, was started, and starts with the graphical session"

    def switches_accessibility(self) -> bool:
        try:
            return _SWITCHING_ON in _file().read_text(errors="replace")
        except OSError:
            return False

    def uninstall(self) -> str:
        file = _file()
        if not file.exists():
            return "nothing is installed"
        checked(self._run, ["systemctl", "--user", "disable", "--now", NAME])
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise ServiceError(f"cannot remove {file}: {error.strerror}") from None
        checked(self._run, ["systemctl", "--user", "daemon-reload"])
        return f"{file} was ended and removed; journal, token and settings are where they were"

    def state(self) -> ServiceState | None:
        file = _file()
        if not file.exists():
            return None
        asked = ["systemctl", "--user", "show", f"--property={','.join(_ASKED)}", NAME]
        lines = checked(self._run, asked).splitlines()
        told = {name: value for name, _, value in (line.partition("=") for line in lines)}
        if not told.keys() >= {*_ASKED}:
            raise ServiceError(f"{' '.join(asked[:3])}: it does not say how {NAME} is")
        return ServiceState(
            name=str(file),
            is_running=told["ActiveState"] == "active",
            rights="with its user's rights",
            why_not=f"it is {told['ActiveState']}, {told['SubState']}; "
            f"its last end: {told['Result']}, exit code {told['ExecMainStatus']}",
            log=f"journalctl --user --unit {NAME}",
        )


def _file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "systemd" / "user" / NAME


def _quoted(argument: str) -> str:
    """An argument as systemd reads it: without variables and specifiers of its own."""
    for special in ("\\", '"'):
        argument = argument.replace(special, f"\\{special}")
    return '"' + argument.replace("%", "%%").replace("$", "$$") + '"'
