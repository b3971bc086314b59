"""The door: the only way from the API to a machine, wherever its link is.

What enters is plain data.  What is meant for a machine whose link is on another node leaves for
there, and comes in by that node's door for other nodes (`server.dispatch.forwarding.responder`).
"""

import asyncio
from collections.abc import Callable
from functools import partial
from uuid import UUID

from schemas.http.problems import ProblemError
from schemas.inputs.bodies import AnyInput
from schemas.inputs.clipboard_texts import Selection
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions, ScreenshotOptions
from server.clock import milliseconds, seconds_until
from server.dispatch.clipboard.reading import read_clipboard
from server.dispatch.command import Command
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.forwarding.elsewhere import ForwardLostError, MachinesElsewhere
from server.dispatch.here import MachinesHere
from server.dispatch.ledger.ledger import Ledger
from server.dispatch.moves import Moves
from server.dispatch.recorder import InputRecorder
from server.dispatch.refusals import (
    pending,
    too_many_viewers,
    unavailable,
    unknown_machine,
    unreachable,
)
from server.dispatch.screens import (
    LiveScreen,
    SeenDesktop,
    check_screen,
    live_screen,
    look,
    screenshot,
)
from server.store.commands import Answer, CommandRecord
from server.store.machines.machines import MachineStore


class Dispatcher:
    """Finds the link of a machine, has it do what is asked, or says why it cannot.

    ``node_id`` is this node's, and ``is_alive`` tells whether another one is.  ``input_timeout`` is
    how many seconds an input has, ``most_viewers`` how many may watch live screens through this
    node at once.
    """

    def __init__(
        self,
        *,
        here: MachinesHere,
        elsewhere: MachinesElsewhere,
        node_id: UUID,
        is_alive: Callable[[UUID], bool],
        machines: MachineStore,
        ledger: Ledger,
        fingerprints: Fingerprints,
        recorder: InputRecorder,
        input_timeout: float,
        most_viewers: int,
    ) -> None:
        self._here = here
        self._elsewhere = elsewhere
        self._is_alive = is_alive
        self._machines = machines
        self._moves = Moves(machines, node_id, is_alive)
        self._ledger = ledger
        self._fingerprints = fingerprints
        self._recorder = recorder
        self._input_timeout = input_timeout
        self._most_viewers = most_viewers

    def accept(
        self,
        *,
        organization_id: UUID,
        machine_id: str,
        body: AnyInput,
        key: str | None,
        request_id: str,
        minimal: bool,
        token_id: UUID,
        token_name: str,
        proof: str | None = None,
        in_stretch: bool = False,
    ) -> Command:
        """The command that an input becomes; ``key`` is its Idempotency-Key.

        ``proof`` is that of the control lease that it came with, if it did, and ``in_stretch`` is
        whether the caller records it together with others.

        Raises StoreUnavailable where no further input could be recorded in the audit.
        """
        self._recorder.check_room()
        return Command.accept(
            organization_id=organization_id,
            machine_id=machine_id,
            body=body,
            key=key,
            fingerprints=self._fingerprints,
            timeout=self._input_timeout,
            request_id=request_id,
            minimal=minimal,
            token_id=token_id,
            token_name=token_name,
            proof=proof,
            in_stretch=in_stretch,
        )

    def is_here(self, organization_id: UUID, machine_id: str) -> bool:
        """Whether a command would leave at once, on a link of this node: so several keep order."""
        link = self._here.find(organization_id, machine_id)
        return link is not None and link.is_live

    async def carry_out(self, command: Command) -> tuple[Answer, bool]:
        """The final answer to a command, and whether it was given before.

        Raises a problem where there is none: nothing was sent, or the outcome is not known yet.
        A machine that moves from one node to another is waited for.
        """
        machine = command.organization_id, command.machine_id
        clock = asyncio.get_running_loop().time
        began_at = clock()
        while (link := self._here.find(*machine)) is None:
            try:
                answered = await self._elsewhere.carry_out(command)
            except ForwardLostError as error:
                return await self._lost(command, error.epoch)
            if answered is not None:
                return answered
            is_over = seconds_until(command.answer_by) <= 0
            if is_over or not await self._moves.wait(*machine, clock() - began_at):
                break
        return await self._here.carry_out(command, link, partial(self._not_connected, *machine))

    async def _lost(self, command: Command, epoch: int) -> tuple[Answer, bool]:
        """The final answer to a command that may have reached another node, where there is one.

        Else its outcome is pending, with a key and without.
        """
        if not command.is_keyed:
            await self._ledger.keep_lost(command, epoch)
        return await self._here.carry_out(command, None, partial(_pending, command.id))

    async def look_up(
        self, organization_id: UUID, command_id: UUID, machine_id: str | None = None
    ) -> CommandRecord | None:
        """The record of a command, or None; the machine is asked where it can settle it.

        With ``machine_id``, None for a command of any other machine.
        """
        record = await self._ledger.find(organization_id, command_id, machine_id)
        if record is None or record.state.is_final:
            return record
        link = self._here.find(organization_id, record.machine_id)
        if link is not None:
            return await self._here.look_up(record, link)
        if await self._elsewhere.resolve(organization_id, record.machine_id, command_id):
            return await self._ledger.find(organization_id, command_id, machine_id)
        return record

    async def screenshot(
        self, organization_id: UUID, machine_id: str, options: ScreenshotOptions
    ) -> Picture:
        """A picture of a machine's screen as it is now, or a problem."""
        link = self._here.find(organization_id, machine_id)
        if link is not None:
            return await screenshot(link, options)
        picture = await self._elsewhere.screenshot(organization_id, machine_id, options)
        if picture is None:
            raise await self._not_connected(organization_id, machine_id)
        return picture

    async def look(self, organization_id: UUID, machine_id: str) -> SeenDesktop:
        """A machine's displays and its pointer as they are now, or a problem."""
        link = self._here.find(organization_id, machine_id)
        if link is not None:
            return await look(link)
        seen = await self._elsewhere.look(organization_id, machine_id)
        if seen is None:
            raise await self._not_connected(organization_id, machine_id)
        return seen

    async def read_clipboard(
        self, organization_id: UUID, machine_id: str, selection: Selection
    ) -> str:
        """What is in a machine's clipboard, after all inputs that it has got; or a problem.

        It may be read while the machine is paused and while somebody has control, like its screen.
        """
        link = self._here.find(organization_id, machine_id)
        if link is not None:
            return await read_clipboard(link, selection)
        text = await self._elsewhere.read_clipboard(organization_id, machine_id, selection)
        if text is None:
            raise await self._not_connected(organization_id, machine_id)
        return text

    async def watch(
        self, organization_id: UUID, machine_id: str, options: LiveOptions, name: str
    ) -> LiveScreen:
        """A machine's live screen, which the caller closes, or a problem; ``name`` watches."""
        link = self._here.find(organization_id, machine_id)
        if link is not None:
            check_screen(link)
        elif not await self._elsewhere.has_link(organization_id, machine_id):
            raise await self._not_connected(organization_id, machine_id)
        if self._here.viewers + self._elsewhere.viewers >= self._most_viewers:
            raise too_many_viewers(self._most_viewers)
        if link is not None:
            return live_screen(link, options, [name])
        return self._elsewhere.watch(organization_id, machine_id, options, name)

    async def pause_changed(self, organization_id: UUID, machine_id: str) -> None:
        """A machine was paused or resumed: when this returns, its link keeps to it or is closed.

        Where its node cannot be told, that reads it from the database within a second.
        """
        await self._here.restrictions_changed(organization_id, machine_id)
        # Also where a link is here: it may be an old one, which its machine has left.
        await self._elsewhere.pause_changed(organization_id, machine_id)

    async def check_reachable(self, organization_id: UUID, machine_id: str) -> None:
        """Raise a problem where nobody could interrupt a machine now."""
        if self._here.find(organization_id, machine_id) is not None:
            return
        if not await self._elsewhere.has_link(organization_id, machine_id):
            raise await self._not_connected(organization_id, machine_id)

    async def control_changed(
        self, organization_id: UUID, machine_id: str, epoch: int, proof: str | None
    ) -> None:
        """Have a machine interrupted, control of which has changed, wherever its link is.

        Raises a problem where nobody confirms it, or where the lease of ``proof`` is not in force.
        """
        link = self._here.find(organization_id, machine_id)
        if link is not None:
            await self._here.control_changed(link, epoch, proof)
        elif not await self._elsewhere.control_changed(organization_id, machine_id, epoch, proof):
            raise await self._not_connected(organization_id, machine_id)

    async def disconnect(self, organization_id: UUID, machine_id: str) -> None:
        """Close all links of a machine that was removed."""
        self._here.disconnect(organization_id, machine_id)
        await self._elsewhere.disconnect(organization_id, machine_id)

    async def _not_connected(self, organization_id: UUID, machine_id: str) -> ProblemError:
        """Why a machine has no link: it is not known, or not connected."""
        machine = await self._machines.get(organization_id, machine_id)
        if machine is None:
            return unknown_machine(machine_id)
        # Where the database has a link of it, it is since now that nobody reaches it.
        since = None if machine.is_linked else milliseconds(machine.state_since)
        if machine.is_linked and machine.link and self._is_alive(machine.link.node_id):
            return unreachable(machine.link.node_name, since)
        return unavailable(
            "offline",
            f"the machine is not connected: {machine.why_offline}",
            since,
        )


async def _pending(command_id: UUID) -> ProblemError:
    return pending(command_id)
