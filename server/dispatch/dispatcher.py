"""The door: whatever asks something of a machine asks here, wherever the machine's link is.

A question that is meant for a link of another node leaves for there, and comes in by that node's
door for other nodes (`server.dispatch.forwarding.responder`).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast
from uuid import UUID

from schemas.inputs.actions import AnyBody
from schemas.link.screen_options import LiveOptions
from server.clock import milliseconds, seconds_until
from server.dispatch.command import Command, CommandReply, Pending, Sender
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.forwarding.elsewhere import ForwardLostError, MachinesElsewhere
from server.dispatch.handover import HandoverWait
from server.dispatch.here.looking import looking
from server.dispatch.here.machines import MachinesHere
from server.dispatch.here.screens import LiveScreen, live_screen
from server.dispatch.ledger.ledger import Ledger
from server.dispatch.ledger.resolver import known_command
from server.dispatch.questions.control import MachineRemoved, PauseChanged
from server.dispatch.questions.inputs import KnownCommand, LookUp, ResolveCommand, Settle
from server.dispatch.questions.question import Done, LinkQuestion, Question, Refusal
from server.dispatch.questions.screens import FindScreen
from server.dispatch.recorder import InputRecorder
from server.dispatch.refusals import (
    RefusedError,
    too_many_viewers,
    unavailable,
    unknown_machine,
    unreachable,
)
from server.errors import StoreUnavailable
from server.store.commands import CommandRecord
from server.store.machines.machines import MachineStore

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Watch(Question[LiveScreen]):
    """A machine's live screen, which whoever asks closes.

    ``name`` watches, and ``looker`` stands for them.
    """

    organization_id: UUID
    machine_id: str
    options: LiveOptions
    name: str
    looker: str


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
        self._handover = HandoverWait(machines, node_id, is_alive)
        self._ledger = ledger
        self._fingerprints = fingerprints
        self._recorder = recorder
        self._input_timeout = input_timeout
        self._most_viewers = most_viewers

    async def ask(self, question: Question[R]) -> R | Refusal:
        """What becomes of a question, or why nothing does.  Raises StoreUnavailable."""
        reply: object
        match question:
            case Command():
                reply = await self._carry_out(question)
            case LookUp():
                reply = await self._look_up(question)
            case Settle():
                reply = await self._settle(question)
            case Watch():
                reply = await self._watch(question)
            case PauseChanged():
                await self._here.restrictions_changed(question.organization_id, question.machine_id)
                # Also where a link is here: it may be an old one, which its machine has left.
                await self._elsewhere.tell(question)
                reply = Done()
            case MachineRemoved():
                self._here.disconnect(question.organization_id, question.machine_id)
                await self._elsewhere.tell(question)
                reply = Done()
            case LinkQuestion():
                reply = await self._ask_link(question)
            case _:
                raise TypeError(f"nobody answers {type(question).__name__}")
        return cast("R | Refusal", reply)

    async def _ask_link(self, question: LinkQuestion[R]) -> R | Refusal:
        machine = question.organization_id, question.machine_id
        link = self._here.find(*machine)
        if link is not None:
            return await self._here.answer(link, question)
        answer = await self._elsewhere.ask(question)
        return await self._why_no_link(*machine) if answer is None else answer

    def accept(
        self,
        sender: Sender,
        machine_id: str,
        body: AnyBody,
        *,
        key: str | None = None,
        minimal: bool = False,
    ) -> Command:
        """The command that an input becomes; ``key`` is its Idempotency-Key.

        ``minimal`` is whether no body is wanted in the answer.  Raises StoreUnavailable where no
        further input could be recorded in the audit.
        """
        self._recorder.check_room()
        return Command.accept(
            sender,
            machine_id,
            body,
            fingerprints=self._fingerprints,
            timeout=self._input_timeout,
            key=key,
            minimal=minimal,
        )

    def is_here(self, organization_id: UUID, machine_id: str) -> bool:
        """Whether a command would leave at once, on a link of this node: so several keep order."""
        link = self._here.find(organization_id, machine_id)
        return link is not None and link.is_live

    async def _carry_out(self, command: Command) -> CommandReply:
        """What becomes of a command.  A machine that moves between two nodes is waited for."""
        machine = command.organization_id, command.machine_id
        clock = asyncio.get_running_loop().time
        began_at = clock()
        while (link := self._here.find(*machine)) is None:
            try:
                reply = await self._elsewhere.carry_out(command)
            except ForwardLostError as error:
                return await self._lost(command, error.epoch)
            if reply is not None:
                return reply
            is_over = seconds_until(command.answer_by) <= 0
            if is_over or not await self._handover.wait(*machine, clock() - began_at):
                return await self._here.known(command, await self._why_no_link(*machine))
        return await self._here.carry_out(command, link)

    async def _lost(self, command: Command, epoch: int) -> CommandReply:
        """What became of a command that may have reached another node, where that is known.

        Else its outcome is pending, with a key and without.
        """
        if not command.is_keyed:
            await self._ledger.keep_lost(command, epoch)
        return await self._here.known(command, Pending(command_id=command.id))

    async def _look_up(self, asked: LookUp) -> KnownCommand | None:
        """What is known of a command, or None; the machine is asked where it can settle it."""
        record = await self._find_record(asked)
        return None if record is None else known_command(record)

    async def _find_record(self, asked: LookUp) -> CommandRecord | None:
        sought = asked.organization_id, asked.command_id, asked.machine_id
        record = await self._ledger.find(*sought)
        if record is None or record.state.is_final:
            return record
        machine = {"organization_id": asked.organization_id, "machine_id": record.machine_id}
        link = self._here.find(asked.organization_id, record.machine_id)
        if link is not None:
            return await self._here.look_up(record, link)
        question = ResolveCommand(**machine, command_id=asked.command_id)
        return await self._ledger.find(*sought) if await self._elsewhere.tell(question) else record

    async def _settle(self, asked: Settle) -> KnownCommand:
        """What is known of a command once it has ended, or is known to have been sent."""
        await self._ledger.give_up(asked)
        about = LookUp(asked.sender.organization_id, asked.command_id, asked.machine_id)
        known = await self._look_up(about)
        if known is None:
            raise StoreUnavailable("The command is just being claimed.")
        return known

    async def _watch(self, asked: Watch) -> LiveScreen | Refusal:
        machine = asked.organization_id, asked.machine_id
        find = FindScreen(organization_id=machine[0], machine_id=machine[1], looker=asked.looker)
        found = await self._ask_link(find)
        if isinstance(found, Refusal):
            return found
        if self._here.viewers + self._elsewhere.viewers >= self._most_viewers:
            return too_many_viewers(self._most_viewers)
        if (link := self._here.find(*machine)) is None:
            return self._elsewhere.watch(*machine, asked.options, asked.name, asked.looker)
        try:
            async with looking(link, asked.looker):
                return live_screen(link, asked.options, [asked.name], asked.looker)
        except RefusedError as error:
            return error.refusal

    async def _why_no_link(self, organization_id: UUID, machine_id: str) -> Refusal:
        """Why a machine has no link: it is not known, or not connected."""
        machine = await self._machines.get(organization_id, machine_id)
        if machine is None:
            return unknown_machine(machine_id)
        # Where the database has a link of it, it is since now that nobody reaches it.
        since = None if machine.is_linked else milliseconds(machine.state_since)
        if machine.is_linked and machine.link and self._is_alive(machine.link.node_id):
            return unreachable(machine.link.node_name, since)
        return unavailable("offline", f"the machine is not connected: {machine.why_offline}", since)
