"""The machines whose links are on this node."""

import asyncio
from typing import Final
from uuid import UUID

from schemas.http.problems import ProblemError
from schemas.link.close_codes import CloseCode
from server.dispatch.command import Command
from server.dispatch.ledger.ledger import Ledger, WhyNoLink
from server.dispatch.ledger.timings import Timings
from server.dispatch.recorder import InputRecorder
from server.dispatch.refusals import (
    control_ended,
    control_held,
    not_interrupted,
)
from server.machines.admission import Admission
from server.machines.link.errors import LinkDownError
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.store.commands import Answer, CommandRecord

INTERRUPT_SECONDS: Final = 5.0
"""For a machine to end what runs, which takes it a fraction of a second."""


class MachinesHere:
    """Has the links of this node do what is asked, whichever node was asked."""

    def __init__(
        self,
        registry: LinkRegistry,
        admission: Admission,
        ledger: Ledger,
        recorder: InputRecorder,
    ) -> None:
        self._registry = registry
        self._admission = admission
        self._ledger = ledger
        self._recorder = recorder

    def find(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The machine's link that is up, paused or not, or None."""
        return self._registry.find(organization_id, machine_id)

    def check_room(self) -> None:
        """Raise StoreUnavailable where no further input could be recorded in the audit."""
        self._recorder.check_room()

    async def carry_out(
        self, command: Command, link: LinkSocket | None, why_no_link: WhyNoLink
    ) -> tuple[Answer, bool]:
        """The final answer to a command, and whether it was given before.

        Without a link that is what the ledger knows.  Raises a problem where there is no answer:
        nothing was sent, or the outcome is not known yet.
        """
        try:
            answer, is_replayed = await self._ledger.answer(command, link, why_no_link, Timings())
        except ProblemError as problem:
            self._recorder.answered_without_end(command, problem.problem_type.name)
            raise
        if is_replayed:
            self._recorder.answered_without_end(command, "replayed")
        return answer, is_replayed

    async def look_up(self, record: CommandRecord, link: LinkSocket) -> CommandRecord | None:
        """A record of the ledger as it is when its machine was asked, where that settles it."""
        return await self._ledger.look_up(record, link)

    async def find_record(
        self, organization_id: UUID, command_id: UUID, machine_id: str | None = None
    ) -> CommandRecord | None:
        """The ledger's record of a command, or None; with ``machine_id`` only if it is of that."""
        return await self._ledger.find(organization_id, command_id, machine_id)

    @property
    def viewers(self) -> int:
        """How many look at the live screens of this node's machines."""
        screens = (each.watched_screen for each in self._registry)
        return sum(screen.viewers for screen in screens if screen is not None)

    async def restrictions_changed(self, organization_id: UUID, machine_id: str) -> None:
        """A machine was paused or resumed, or control of it changed.

        When this returns, its link keeps to that or is closed.
        """
        link = self.find(organization_id, machine_id)
        if link is not None:
            await self._admission.restrictions_changed(link)

    async def control_changed(self, link: LinkSocket, epoch: int, proof: str | None) -> None:
        """Control of the machine of a link that is up has changed: have it interrupted.

        Raises a problem where nobody confirms that nothing runs and nothing is held of whoever had
        control before, or where the lease of this ``proof`` is not in force by then.
        """
        try:
            async with asyncio.timeout(INTERRUPT_SECONDS):
                await self._admission.restrictions_changed(link)
                await link.until_interrupted()
        except (TimeoutError, LinkDownError):
            raise not_interrupted() from None
        if link.epoch < epoch:
            raise not_interrupted()
        control = link.availability.restrictions.control
        if proof is not None and (control is None or control.proof != proof):
            raise control_ended() if control is None else control_held(control.by, control.since)

    def disconnect(self, organization_id: UUID, machine_id: str) -> None:
        """Close all links of a machine that was removed."""
        for link in self._registry.links_of(organization_id, machine_id):
            link.close(CloseCode.MACHINE_REMOVED, "this machine was removed")

    def give_way(self, organization_id: UUID, machine_id: str, epoch: int) -> bool:
        """Close the links of a machine that are older than ``epoch``; whether one was up."""
        was_up = False
        for link in self._registry.links_of(organization_id, machine_id):
            if link.epoch == 0:
                # The database may have counted it already, before the newer one.
                link.newest_epoch = max(link.newest_epoch, epoch)
            elif link.epoch < epoch:
                was_up = was_up or link.is_up
                link.give_way()
        return was_up
