"""What every system's way to keep a program running has in common."""

import subprocess
from collections.abc import Callable, Sequence
from typing import Final, Protocol

_SECONDS: Final = 60.0

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
"""Runs a program of the system to its end."""


class ServiceError(Exception):
    """It cannot be done here; ``str()`` tells a person why, and what would help."""


class Service(Protocol):
    """One machine client that its user's session starts, and starts again when it ends."""

    def install(self, command: Sequence[str], *, elevated: bool) -> str:
        """Start a command now and at every logon; what was done, in words.

        One that is installed already is replaced.  Raises ServiceError.
        """

    def uninstall(self) -> str:
        """End it and forget it, in words what was done; fine where there is none."""

    def status(self) -> tuple[bool, str]:
        """Whether it is installed and what the system says of it.  Raises ServiceError."""


def run_program(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a program of the system.  Raises ServiceError where it is not there or does not end."""
    try:
        return subprocess.run(  # noqa: S603  a program of the system, with arguments of our own
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    except FileNotFoundError:
        raise ServiceError(f"{command[0]} is not there, which starts programs here") from None
    except subprocess.TimeoutExpired:
        raise ServiceError(f"{command[0]} did not answer for {_SECONDS:g} s") from None


def checked(run: Run, command: Sequence[str]) -> str:
    """What a program says that did what it was told.  Raises ServiceError, with its words."""
    ended = run(command)
    if ended.returncode != 0:
        said = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
        why = said[-1] if said else f"it ended with {ended.returncode}"
        raise ServiceError(f"{' '.join(command[:3])}: {why}")
    return ended.stdout
