"""Whether a connected machine takes inputs, and why it does not."""

from dataclasses import dataclass

from server.machines.link.desktop import DesktopState
from server.machines.link.errors import MachinePausedError, NoInputError

STUCK = "its desktop is stuck and has not answered an input in time"


@dataclass
class Availability:
    """What stands between an input and the desktop of a machine whose link is up.

    ``paused_since`` is since when an operator has paused the machine, ``stuck_since`` since when
    its desktop has been late with an answer: milliseconds since 1970, None where it is not so.
    """

    desktop: DesktopState
    paused_since: int | None = None
    stuck_since: int | None = None
    _recovered_at: int = 0

    @property
    def no_input(self) -> tuple[str, int] | None:
        """Why the desktop takes no input, and since when (ms since 1970); None where it does."""
        if (why := self.desktop.why_no_input) is not None:
            return why, self.desktop.input_since
        return None if self.stuck_since is None else (STUCK, self.stuck_since)

    @property
    def input_since(self) -> int:
        """Since when the desktop takes input, or does not (ms since 1970)."""
        return max(self.desktop.input_since, self.stuck_since or self._recovered_at)

    def recovered(self, at: int) -> None:
        """The desktop has answered what it was late with."""
        self.stuck_since, self._recovered_at = None, at

    def check(self) -> None:
        """Raise MachinePausedError or NoInputError where no input is taken."""
        if self.paused_since is not None:
            raise MachinePausedError(self.paused_since)
        if (trouble := self.no_input) is not None:
            raise NoInputError(*trouble)
