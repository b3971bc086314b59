"""What every system's way to keep a program running has in common."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

_SECONDS: Final = 60.0

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
"""Runs a program of the system to its end."""


class ServiceError(Exception):
    """It cannot be done here; ``str()`` tells a person why, and what would help."""


@dataclass(frozen=True)
class ServiceState:
    """How the machine client is that was installed; ``str()`` says so in a sentence."""

    name: str
    """What the system calls it."""
    is_running: bool
    rights: str
    """Those that it has: ``without higher rights``."""
    why_not: str = ""
    """What the system says of one that does not run."""
    log: str = ""
    """Where it says why."""

    def __str__(self) -> str:
        how = "and runs" if self.is_running else f"and does not run ({self.why_not})"
        return f"{self.name} is installed, {self.rights}, {how}; its log: {self.log}"


class Service(Protocol):
    """One machine client that its user's session starts, and starts again when it ends."""

    def install(
        self, command: Sequence[str], *, elevated: bool, accessibility: bool = False
    ) -> str:
        """Start a command now and at every logon; what was done, in words.

        With ``accessibility`` the session's is switched on before each start.  One that is
        installed already is replaced.  Raises ServiceError.
        """

    def switches_accessibility(self) -> bool:
        """Whether one is installed that switches the session's accessibility on."""

    def uninstall(self) -> str:
        """End it and forget it, in words what was done; fine where there is none."""

    def state(self) -> ServiceState | None:
        """How it is, or None where none is installed.  Raises ServiceError."""


def run_program(
    command: Sequence[str], seconds: float = _SECONDS
) -> "subprocess.CompletedProcess[str]":
    """Run a program of the system.  Raises ServiceError where it is not there or does not end."""
    try:
        return subprocess.run(  # noqa: S603  a program of the system, with arguments of our own
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except FileNotFoundError:
        raise ServiceError(f"{command[0]} is not there, which starts programs here") from None
    except OSError as error:
        raise ServiceError(f"{command[0]} cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ServiceError(f"{command[0]} did not answer for {seconds:g} s") from None


def checked(run: Run, command: Sequence[str]) -> str:
    """What a program says that did what it was told.  Raises ServiceError, with its words."""
    ended = run(command)
    if ended.returncode != 0:
        said = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
        why = said[-1] if said else f"it ended with {ended.returncode}"
        raise ServiceError(f"{' '.join(command[:3])}: {why}")
    return ended.stdout
