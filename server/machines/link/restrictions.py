"""Whom a machine takes inputs from, as operators have decided; wherever its link is."""

from dataclasses import dataclass
from typing import Final

from server.machines.link.errors import (
    ControlEndedError,
    MachineControlledError,
    MachinePausedError,
)


@dataclass(frozen=True, slots=True)
class Control:
    """Somebody holds the machine's control lease.

    ``lease_hash`` stands for the lease, which only whoever took it has, and ``holder`` for them;
    ``by`` is their name.  ``since``, and ``private_since`` where nobody else may see anything of
    the machine, are milliseconds since 1970.  ``is_run`` is whether a run has it, and no person.
    ``is_confirmed`` is whether the machine has confirmed that nothing runs of anybody else.
    """

    lease_hash: str
    by: str
    since: int
    holder: str = ""
    private_since: int | None = None
    is_run: bool = False
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """Somebody has paused the machine, ``since`` then (ms since 1970); ``why`` says who and why."""

    since: int
    why: str


@dataclass(frozen=True, slots=True)
class Restrictions:
    """What stands between an input and a machine whose desktop would take it.

    ``pause`` is there where nobody may send inputs, ``control`` where somebody alone may.
    """

    pause: Pause | None = None
    control: Control | None = None

    def check(self, lease_hash: str | None) -> None:
        """Raise a SubmissionRefusedError where an input is not taken.

        ``lease_hash`` is of the lease that it came with; None for an input that came with none.
        A person who holds the lease passes also while the machine is paused.
        """
        control = self.control
        if lease_hash is not None:
            if control is None or control.lease_hash != lease_hash:
                raise ControlEndedError
        elif control is not None:
            raise MachineControlledError(control.by, control.since, is_run=control.is_run)
        if self.pause is not None and (control is None or control.is_run):
            raise MachinePausedError(self.pause.since, self.pause.why)


NONE: Final = Restrictions()
"""Those of nearly every machine."""
