"""Who alone may see a machine: whoever has private control of it, for as long as they have.

What is seen of a machine is seen within `Privacy.look`.  A look that is under way when private
control begins ends then, whatever comes of it, and however soon that control is over.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from server.clock import server_time
from server.machines.link.restrictions import Control
from server.machines.pending_outcomes import OneTimeEvent

NOBODY: Final = ""
"""Looks as nobody who could have control: a recording, or whoever has not said who they are."""

MOST_REMEMBERED: Final = 16
"""Stretches of private control that are over, by different holders."""


class PrivateError(Exception):
    """Somebody else has private control: ``by`` is their name, ``since`` in ms since 1970."""

    def __init__(self, by: str, since: int) -> None:
        super().__init__(f"{by} has private control of the machine")
        self.by = by
        self.since = since


class _Look:
    """One that is under way; ``broken_by`` is the private control that has ended it."""

    __slots__ = ("broken_by", "looker", "scope")

    def __init__(self, looker: str) -> None:
        self.looker = looker
        self.scope = asyncio.timeout(None)
        self.broken_by: Control | None = None


class _Over(NamedTuple):
    """Private control that has ended: whose it was, and from when until when."""

    by: str
    since: int
    at: int


class Privacy:
    """Whose one machine's screen, elements and clipboard are now; of one link.

    Who looks, and who has control, is said by what stands for a token or a session.
    """

    __slots__ = ("_control", "_ends", "_known_or_over", "_looks")

    def __init__(self) -> None:
        self._control: Control | None = None
        self._known_or_over = OneTimeEvent()
        self._looks: dict[_Look, None] = {}
        # By their holders, when private control of each ended last, the latest last.
        self._ends: dict[str, _Over] = {}

    @property
    def is_private(self) -> bool:
        """Whether one alone may see the machine."""
        return self._control is not None

    @property
    def is_known(self) -> bool:
        """Whether it is known who has control, or the link is over."""
        return self._known_or_over.has_happened

    async def until_known(self) -> None:
        """Wait for that."""
        await self._known_or_over.wait()

    def changed(self, control: Control | None) -> bool:
        """Who has control is read; whether anybody may see less or more than before."""
        private = None if control is None or control.private_since is None else control
        before, self._control = self._control, private
        self._known_or_over.happens()
        if _holder(before) == _holder(private):
            return False
        if before is not None:
            self._ends.pop(before.holder, None)
            since = before.private_since or before.since
            self._ends[before.holder] = _Over(before.by, since, server_time())
            while len(self._ends) > MOST_REMEMBERED:
                del self._ends[next(iter(self._ends))]
        for look in self._looks:
            if private is not None and private.holder != look.looker and look.broken_by is None:
                look.broken_by = private
                look.scope.reschedule(asyncio.get_running_loop().time())
        return True

    def over(self) -> None:
        """The link is over: nobody will say who has control."""
        self._known_or_over.happens()

    def check(self, looker: str) -> None:
        """Raise PrivateError where somebody else alone may see the machine."""
        control = self._control
        if control is not None and control.private_since is not None and control.holder != looker:
            raise PrivateError(control.by, control.private_since)

    @asynccontextmanager
    async def look(self, looker: str) -> AsyncIterator[None]:
        """Within it, somebody sees the machine.

        Raises PrivateError where somebody else alone may at its begin, or later: then it ends at
        once.  It begins when it is known who has control, or when the link is over.
        """
        await self.until_known()
        self.check(looker)
        look = _Look(looker)
        self._looks[look] = None
        try:
            async with look.scope:
                yield
        except Exception:
            if look.broken_by is None:
                raise
        finally:
            del self._looks[look]
        if (control := look.broken_by) is not None:
            raise PrivateError(control.by, control.private_since or control.since)

    def check_since(self, moment: int, looker: str) -> None:
        """Raise PrivateError where somebody else alone saw it at any time from then on (ms)."""
        for holder, over in self._ends.items():
            if holder != looker and over.at >= moment:
                raise PrivateError(over.by, over.since)


def _holder(control: Control | None) -> str | None:
    return None if control is None else control.holder
