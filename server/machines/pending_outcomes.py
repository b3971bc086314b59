"""Who waits for what a machine says, on one link."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from schemas.inputs.outcomes import Outcome
from server.machines.link.errors import LinkLostError


@dataclass(slots=True)
class Question:
    """A command that the machine was asked about.

    ``fingerprint`` is of the request that was asked for: under the same key there may be others.
    ``reported`` ends with the machine's first word on it, ``outcome`` with its outcome: the same
    moment, unless the command still runs.  Both end with :class:`LinkLostError` where the link
    does.
    """

    fingerprint: str
    outcome: asyncio.Future[Outcome]
    reported: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class PendingOutcomes:
    """The futures of commands that were sent, and of those that the machine was asked about."""

    __slots__ = ("_asked", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[UUID, asyncio.Future[Outcome]] = {}
        self._asked: dict[UUID, Question] = {}

    def outcome_of(self, command_id: UUID) -> asyncio.Future[Outcome]:
        """What ends with the command's outcome: one future for all who wait for it."""
        future = self._waiting.get(command_id)
        if future is None or future.done():
            future = self._waiting[command_id] = asyncio.get_running_loop().create_future()
        return future

    def question(self, command_id: UUID, fingerprint: str) -> tuple[Question, bool]:
        """The open question about a command, and whether it is new, so that it must be asked.

        One that is not new may be about another request.
        """
        if (asked := self._asked.get(command_id)) is not None:
            return asked, False
        question = self._asked[command_id] = Question(fingerprint, self.outcome_of(command_id))
        return question, True

    def heard_of(self, command_id: UUID) -> None:
        """The machine has said something of a command."""
        if self._asked:
            question = self._asked.pop(command_id, None)
            if question is not None and not question.reported.done():
                question.reported.set_result(None)

    def settle(self, command_id: UUID, outcome: Outcome) -> None:
        """The machine has said how a command ended."""
        self.heard_of(command_id)
        future = self._waiting.pop(command_id, None)
        if future is not None and not future.done():
            future.set_result(outcome)

    def abandon(self, command_ids: Iterable[UUID]) -> None:
        """Nothing will be said of these commands any more."""
        futures: list[asyncio.Future[Outcome] | asyncio.Future[None] | None] = []
        for command_id in command_ids:
            futures.append(self._waiting.pop(command_id, None))
            question = self._asked.pop(command_id, None)
            futures.append(None if question is None else question.reported)
        for future in futures:
            if future is not None and not future.done():
                future.set_exception(LinkLostError())
                # Nobody may be waiting any more; that is no reason for a warning.
                future.exception()


class RepeatedEvent:
    """Something that happens again and again."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next: OneTimeEvent | None = None

    def happens(self) -> None:
        """It happens: whoever waits goes on."""
        happening, self._next = self._next, None
        if happening is not None:
            happening.happens()

    async def wait(self) -> None:
        """Wait until it happens next."""
        if self._next is None:
            self._next = OneTimeEvent()
        await self._next.wait()


class OneTimeEvent:
    """Something that happens once, as asyncio.Event, in a tenth of its memory."""

    __slots__ = ("_has_happened", "_waiting")

    def __init__(self) -> None:
        self._has_happened = False
        self._waiting: asyncio.Future[None] | None = None

    @property
    def has_happened(self) -> bool:
        """Whether it has, so that nobody need wait."""
        return self._has_happened

    def happens(self) -> None:
        """It has happened: whoever waits goes on, and nobody waits any more."""
        self._has_happened = True
        if self._waiting is not None:
            if not self._waiting.done():
                self._waiting.set_result(None)
            self._waiting = None

    async def wait(self) -> None:
        """Wait until it has happened."""
        if self._has_happened:
            return
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_future()
        # One who gives up leaves the others waiting.
        await asyncio.shield(self._waiting)
