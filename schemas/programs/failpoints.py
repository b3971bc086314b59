"""Points of an input's way at which a test can end or stop a program, by name.

They exist to prove what Farhand promises through crashes: each row of the table in
docs/design/at-most-once.md has one.  A program takes them from ``FARHAND_FAILPOINTS``, and only
where it was started with ``--testing``; in any other start the variable is an error, so that one
that was left behind cannot kill a real server.  How a process is ended is for each program to know.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, cast

VARIABLE = "FARHAND_FAILPOINTS"

Side = Literal["server", "machine"]

Action = Literal["kill", "stop"]
"""What happens to the process: its end, or a halt until somebody lets it go on."""


class Failpoint(StrEnum):
    """Where the way of an input with a key can be cut; in the order of that way.

    The four from BEFORE_BEGUN on are passed once for each of several actions.  AFTER_FOUND is
    passed by what names elements alone: they were found, and are to be looked at once more.  The
    two first and those from BEFORE_STEP_DONE on are passed by a run alone: its attempt is stored
    before its input goes the same way, and then what became of it, of its step, and of the run.
    """

    BEFORE_ATTEMPT = "before-attempt"
    AFTER_ATTEMPT = "after-attempt"
    BEFORE_CLAIM = "before-claim"
    AFTER_CLAIM = "after-claim"
    AFTER_SENT = "after-sent"
    AFTER_BYTES = "after-bytes"
    BEFORE_INTENT = "before-intent"
    AFTER_INTENT = "after-intent"
    AFTER_FOUND = "after-found"
    AFTER_PRESS = "after-press"
    BEFORE_BEGUN = "before-begun"
    AFTER_BEGUN = "after-begun"
    AFTER_ACTION = "after-action"
    AFTER_ACTION_DONE = "after-action-done"
    AFTER_EVENTS = "after-events"
    AFTER_DONE = "after-done"
    BEFORE_REPORT = "before-report"
    AFTER_ACK = "after-ack"
    AFTER_STORED = "after-stored"
    BEFORE_STEP_DONE = "before-step-done"
    AFTER_STEP_DONE = "after-step-done"
    IN_CHECKS = "in-checks"
    AFTER_STEP = "after-step"
    BEFORE_HALT = "before-halt"
    AFTER_HALT = "after-halt"
    AFTER_CONTINUE = "after-continue"
    BEFORE_HANDOVER = "before-handover"
    BEFORE_RUN_END = "before-run-end"
    AFTER_RUN_END = "after-run-end"

    @property
    def side(self) -> Side:
        """The program that passes this point."""
        return "machine" if self in _OF_THE_MACHINE else "server"


_OF_THE_MACHINE = (
    Failpoint.BEFORE_INTENT,
    Failpoint.AFTER_INTENT,
    Failpoint.AFTER_FOUND,
    Failpoint.AFTER_PRESS,
    Failpoint.BEFORE_BEGUN,
    Failpoint.AFTER_BEGUN,
    Failpoint.AFTER_ACTION,
    Failpoint.AFTER_ACTION_DONE,
    Failpoint.AFTER_EVENTS,
    Failpoint.AFTER_DONE,
    Failpoint.BEFORE_REPORT,
)


class FailpointError(Exception):
    """The variable says what cannot be done; the message says what would be right."""


Perform = Callable[[Failpoint, Action], None]
"""Does it to the process, at a point."""


@dataclass
class _Armed:
    action: Action
    passes_left: int
    perform: Perform


_armed: dict[Failpoint, _Armed] = {}


def reached(point: Failpoint, first: Callable[[], object] | None = None) -> None:
    """Pass a point: nothing happens unless a test armed it.

    ``first`` makes true what the point's name says, where that costs too much to be so every time:
    it is called before, and only in a program in which something is armed.
    """
    if _armed:
        if first is not None:
            first()
        _count_pass(point)


def arm(text: str, side: Side, perform: Perform, *, testing: bool) -> None:
    """Arm what a text asks for, such as ``after-sent=kill`` or ``after-done=stop@3``.

    ``@3`` means the third pass; each happens once, and commas separate several.  ``perform`` is
    called with the point and the action when its time has come.  Raises FailpointError for anything
    else, and wherever the program was not started for tests.
    """
    if text and not testing:
        raise FailpointError(
            f"{VARIABLE} is set, which would end this program in the middle of its work: unset "
            "it, or start with --testing if that is wanted"
        )
    for entry in filter(None, text.split(",")):
        point, action, passes = _parsed(entry, side)
        _armed[point] = _Armed(action, passes, perform)


def _parsed(entry: str, side: Side) -> tuple[Failpoint, Action, int]:
    name, _, rest = entry.strip().partition("=")
    wanted = re.fullmatch(r"(kill|stop)(?:@([1-9][0-9]*))?", rest)
    known = [point.value for point in Failpoint if point.side == side]
    if name not in known:
        raise FailpointError(f"{VARIABLE}: no failpoint {name!r} here; known: {', '.join(known)}")
    if wanted is None:
        raise FailpointError(
            f"{VARIABLE}: {entry.strip()!r} must be like {name}=kill, {name}=stop or {name}=kill@3"
        )
    return Failpoint(name), cast("Action", wanted[1]), int(wanted[2] or 1)


def _count_pass(point: Failpoint) -> None:
    armed = _armed.get(point)
    if armed is None:
        return
    armed.passes_left -= 1
    if armed.passes_left == 0:
        armed.perform(point, armed.action)
