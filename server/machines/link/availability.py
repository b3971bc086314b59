"""Whether a connected machine takes inputs, and why it does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from schemas.inputs.bodies import Operation
from schemas.link.messages import Input
from server.machines.link.desktop import DesktopState
from server.machines.link.errors import (
    NoClipboardError,
    NoElementsError,
    NoInputError,
    NoScreenError,
)
from server.machines.link.questions.clipboard_ability import ClipboardAbility
from server.machines.link.restrictions import NONE, Restrictions

_SIGHTED = frozenset(("wait_for", "screenshot"))
"""The actions that need a screen."""

_ELEMENTS = frozenset(("element", "start_element", "to_element"))
"""The fields of inputs and conditions that name an element."""

STUCK = "its desktop is stuck and has not answered an input in time"


class DesktopTrouble(NamedTuple):
    """What is wrong with a desktop, and since when (ms since 1970)."""

    kind: Literal["no_input", "no_screen"]
    reason: str
    since: int


@dataclass(slots=True)
class Availability:
    """What stands between an input and the desktop of a machine whose link is up.

    ``restrictions`` are what operators have decided.  ``stuck_since`` is since when its desktop has
    been late with an answer: milliseconds since 1970, None where it is not so.
    """

    desktop: DesktopState
    clipboard: ClipboardAbility
    restrictions: Restrictions = NONE
    stuck_since: int | None = None
    _recovered_at: int = 0
    _has_restrictions: bool = False

    @property
    def no_input(self) -> tuple[str, int] | None:
        """Why the desktop takes no input, and since when (ms since 1970); None where it does."""
        if (why := self.desktop.why_no_input) is not None:
            return why, self.desktop.input_since
        return None if self.stuck_since is None else (STUCK, self.stuck_since)

    @property
    def trouble(self) -> DesktopTrouble | None:
        """The worst that is wrong with the desktop; None where nothing is."""
        if (no_input := self.no_input) is not None:
            return DesktopTrouble("no_input", *no_input)
        if not self.desktop.is_dark:
            return None
        why = self.desktop.why_no_screen or ""
        return DesktopTrouble("no_screen", why, self.desktop.screen_since)

    @property
    def input_since(self) -> int:
        """Since when the desktop takes input, or does not (ms since 1970)."""
        return max(self.desktop.input_since, self.stuck_since or self._recovered_at)

    def recovered(self, at: int) -> None:
        """The desktop has answered what it was late with."""
        self.stuck_since, self._recovered_at = None, at

    def restrict(self, restrictions: Restrictions) -> bool:
        """From now on inputs are taken from whom these allow.

        Whether what runs or is held is of somebody from whom nothing is taken any more.  While
        somebody has control it is theirs, and people may work on a paused machine.
        """
        before, self.restrictions = self.restrictions, restrictions
        is_new, self._has_restrictions = not self._has_restrictions, True
        control = restrictions.control
        # What their machine was at as its last link was lost goes on.
        had_it_before = is_new and control is not None and control.is_confirmed
        if _lease_of(before) != _lease_of(restrictions) and not had_it_before:
            return True
        begins_pause = before.pause is None and restrictions.pause is not None
        return begins_pause and (control is None or control.is_run)

    def check(self, lease_hash: str | None) -> None:
        """Raise a SubmissionRefusedError where no input is taken with this lease."""
        self.restrictions.check(lease_hash)
        if (trouble := self.no_input) is not None:
            raise NoInputError(*trouble)

    def check_input(self, message: Input) -> None:
        """Raise a SubmissionRefusedError where this machine lacks what an input needs."""
        operations, actions = {message.operation}, [message.body]
        if message.operation is Operation.ACTIONS:
            actions = message.body["actions"]
            operations = {each["operation"] for each in actions}
            looks = message.body["screenshot"] is not None or not _SIGHTED.isdisjoint(operations)
            if looks and (why := self.desktop.why_no_screen) is not None:
                raise NoScreenError(why, self.desktop.screen_since)
        if (
            Operation.CLIPBOARD_WRITE in operations
            and (why := self.clipboard.why_no_write) is not None
        ):
            raise NoClipboardError(why)
        if (why := self.desktop.why_no_elements) is not None and any(map(_names_element, actions)):
            raise NoElementsError(why)


def _lease_of(restrictions: Restrictions) -> str | None:
    return None if restrictions.control is None else restrictions.control.lease_hash


def _names_element(action: Mapping[str, Any]) -> bool:
    """Whether an input names one, or a wait waits for one."""
    conditions = action.get("any", ())
    return not all(_ELEMENTS.isdisjoint(each) for each in (action, *conditions))
