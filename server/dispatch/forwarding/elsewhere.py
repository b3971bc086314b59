"""The machines whose links are on other nodes, or on none."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar
from uuid import UUID

from schemas.link.screen_options import LiveOptions
from server.bus.bus import Bus, BusAwayError, BusError, NoResponderError, ReplyLostError
from server.bus.subjects import Subjects
from server.clock import seconds_until
from server.dispatch.command import Command, CommandReply, Ended, Pending
from server.dispatch.forwarding.addresses import LinkAddresses, MachineKey
from server.dispatch.forwarding.asking import Asking, key_of
from server.dispatch.forwarding.long_texts import LongTexts
from server.dispatch.forwarding.remote_screens import RemoteScreens
from server.dispatch.forwarding.watch import LinkWatch
from server.dispatch.here.screens import LiveScreen
from server.dispatch.questions.control import FindLink, GiveWay
from server.dispatch.questions.inputs import CarryOut
from server.dispatch.questions.nodes import (
    MOST_DESCRIBED,
    DescribeMachines,
    DescribeTroubled,
    LiveMachine,
    ReadMetrics,
)
from server.dispatch.questions.question import (
    LinkQuestion,
    MessageRefusedError,
    NotUnderstood,
    Refusal,
    Reply,
)
from server.dispatch.refusals import not_understood
from server.errors import StoreUnavailable
from server.tasks import Tasks

R = TypeVar("R")

ASK_AGAIN_SECONDS: Final = 2.0
"""Without a reply, a command with a key is asked for again: its node may be gone."""

GRACE_SECONDS: Final = 1.0
"""For the other node's word that an answer did not come in time."""

SHORT_SECONDS: Final = 1.0
"""For a question that a node answers from memory."""

PAUSE_BETWEEN_SECONDS: Final = 0.05


class ForwardLostError(Exception):
    """A command has left for another node, and nobody knows whether it arrived.

    ``epoch`` is that of the link that it was meant for, last.
    """

    def __init__(self, epoch: int) -> None:
        super().__init__(f"lost on its way to link {epoch}")
        self.epoch = epoch


class MachinesElsewhere:
    """Asks the node that holds a machine's link.

    ``has_ended`` is whether the end of a command is stored; it may raise StoreUnavailable.
    ``forwarded`` counts commands by how that went.
    """

    def __init__(
        self,
        bus: Bus,
        subjects: Subjects,
        addresses: LinkAddresses,
        background: Tasks,
        has_ended: Callable[[Command], Awaitable[bool]],
    ) -> None:
        self._asking = Asking(bus, subjects, addresses)
        self._subjects = subjects
        self._addresses = addresses
        self._background = background
        self._has_ended = has_ended
        self._screens = RemoteScreens(self._ask_or_none, background)
        self.texts = LongTexts(self._asking, addresses.node_id)
        self.forwarded: Counter[str] = Counter()

    @property
    def viewers(self) -> int:
        """How many on this node look at live screens of machines elsewhere."""
        return self._screens.viewers

    async def ask(self, question: LinkQuestion[R]) -> R | Refusal | None:
        """What a machine answers; None where no link of it is.  Raises StoreUnavailable."""
        return await self._asking.ask(question)

    async def tell(self, question: LinkQuestion[Any]) -> bool:
        """Ask for what nobody waits for; whether it is done, as far as can be found out."""
        return await self._asking.tell(question)

    async def carry_out(self, command: Command) -> CommandReply | None:
        """What becomes of a command; None where no link is.  Raises ForwardLostError."""
        try:
            reply = await self._carry_out(command)
        except ForwardLostError:
            self.forwarded["lost"] += 1
            raise
        except MessageRefusedError as error:
            self.forwarded["refused"] += 1
            return not_understood(str(error))
        if isinstance(reply, Ended):
            self.forwarded["answered"] += 1
        return reply

    def watch(
        self, organization_id: UUID, machine_id: str, options: LiveOptions, name: str, looker: str
    ) -> LiveScreen:
        """A machine's live screen, which the caller closes.

        ``name`` is who watches, and ``looker`` stands for them.
        """
        screen = self._screens.of(organization_id, machine_id, looker)
        return LiveScreen(screen, options, [name], lambda: None, looker=looker)

    async def describe(
        self, node_id: UUID, organization_id: UUID, machine_ids: Sequence[str]
    ) -> dict[str, LiveMachine] | None:
        """What the machines of another node are like now, those of them that are there.

        None where it cannot be asked.
        """
        found: dict[str, LiveMachine] = {}
        for begin in range(0, len(machine_ids), MOST_DESCRIBED):
            asked = list(machine_ids[begin : begin + MOST_DESCRIBED])
            question = DescribeMachines(organization_id=organization_id, machine_ids=asked)
            described = await self._asking.ask_node(node_id, question, SHORT_SECONDS)
            if described is None:
                return None
            found |= described.machines
        return found

    async def describe_troubled(
        self, node_id: UUID, organization_id: UUID
    ) -> dict[str, LiveMachine] | None:
        """The machines of another node that are not simply connected.

        None where it cannot be asked.
        """
        found: dict[str, LiveMachine] = {}
        while True:
            question = DescribeTroubled(
                organization_id=organization_id, after=max(found, default="")
            )
            described = await self._asking.ask_node(node_id, question, SHORT_SECONDS)
            if described is None:
                return None
            found |= described.machines
            if len(described.machines) < MOST_DESCRIBED:
                return found

    async def metrics(self, node_id: UUID) -> bytes | None:
        """Another node's metrics; None where it cannot be asked."""
        read = await self._asking.ask_node(node_id, ReadMetrics(), SHORT_SECONDS)
        return None if read is None else read.content

    async def give_way(
        self, node_id: UUID, organization_id: UUID, machine_id: str, epoch: int
    ) -> bool:
        """Have a node close the links of a machine before ``epoch``; whether one was up."""
        question = GiveWay(organization_id=organization_id, machine_id=machine_id, epoch=epoch)
        gave_way = await self._asking.ask_node(node_id, question, SHORT_SECONDS)
        return gave_way is not None and gave_way.was_up

    async def _ask_or_none(self, question: LinkQuestion[Any]) -> Reply | None:
        """What a machine answers; None also where the database does not say where its link is."""
        try:
            answer: Reply | None = await self._asking.ask(question)
        except StoreUnavailable:
            return None
        return answer

    async def _carry_out(self, command: Command) -> CommandReply | None:
        ask = self._ask_until_answered if command.is_keyed else self._ask_once
        try:
            with self.texts.offered(command) as message:
                reply = await ask(message)
        except (NoResponderError, BusAwayError):
            return None
        match reply:
            case Ended() | Pending() | Refusal():
                return reply
            case NotUnderstood(reason=why):
                raise MessageRefusedError(why)
            case _:
                return None

    async def _ask_until_answered(self, message: CarryOut) -> Reply:
        """What the other node says of a command with a key, however often it has to be asked.

        Raises NoResponderError and BusAwayError where none has it, and ForwardLostError.
        """
        lost_at: int | None = None
        key, command = key_of(message), message.command
        epoch = await self._addresses.find(key)
        while (left := _left(command)) > 0:
            subject = self._subjects.link(*key, epoch)
            try:
                reply = await self._asking.reply(subject, message, min(left, ASK_AGAIN_SECONDS))
            except ReplyLostError:
                lost_at = epoch
                if await self._is_settled(command):
                    break
                await asyncio.sleep(PAUSE_BETWEEN_SECONDS)
            except MessageRefusedError:
                # It was answered, and nobody here understands how.
                raise ForwardLostError(epoch) from None
            except NoResponderError:
                epoch = await self._newer(key, epoch, lost_at)
            except BusAwayError:
                if lost_at is not None:
                    break
                raise
            else:
                if _is_about_all(reply, lost_at):
                    return reply
                break
        raise ForwardLostError(epoch if lost_at is None else lost_at)

    async def _is_settled(self, command: Command) -> bool:
        """Whether nobody need be asked, as far as can be found out."""
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(ASK_AGAIN_SECONDS):
                return await self._has_ended(command)
        return False

    async def _newer(self, key: MachineKey, epoch: int, lost_at: int | None) -> int:
        """The epoch of a newer link.  Raises NoResponderError, or ForwardLostError after a loss."""
        try:
            return await self._addresses.find(key, but=epoch)
        except NoResponderError:
            if lost_at is not None:
                raise ForwardLostError(lost_at) from None
            raise

    async def _ask_once(self, message: CarryOut) -> Reply:
        """What the other node says of a command without a key, which reaches one link alone.

        Raises as `_ask_until_answered` does; ForwardLostError also soon after the node has died.
        """
        key = key_of(message)
        epoch = await self._addresses.find(key)
        try:
            return await self._while_linked(key, epoch, message)
        except NoResponderError:
            epoch = await self._addresses.find(key, but=epoch)
            return await self._while_linked(key, epoch, message)

    async def _while_linked(self, key: MachineKey, epoch: int, message: CarryOut) -> Reply:
        """What another node replies, as long as the link is there.  Raises ForwardLostError."""
        subject = self._subjects.link(*key, epoch)
        try:
            with LinkWatch(partial(self._is_there, key, subject), self._background):
                reply = await self._asking.reply(subject, message, _left(message.command))
        except (ReplyLostError, MessageRefusedError):
            raise ForwardLostError(epoch) from None
        if isinstance(reply, Pending):
            # The other node may be unable to record it, so that nobody could find it.
            raise ForwardLostError(epoch)
        return reply

    async def _is_there(self, key: MachineKey, subject: str) -> bool:
        """Whether the node still has the link that a subject is of."""
        question = FindLink(organization_id=key[0], machine_id=key[1])
        try:
            reply = await self._asking.reply(subject, question, SHORT_SECONDS)
        except (BusError, MessageRefusedError):
            return False
        return question.is_answered_by(reply)


def _left(command: Command) -> float:
    """How many seconds another node has for a command."""
    return seconds_until(command.answer_by) + GRACE_SECONDS


def _is_about_all(reply: Reply, lost_at: int | None) -> bool:
    """Whether a reply is about every message that carried a command.

    A refusal is about the last one alone: what was lost at link ``lost_at`` may have arrived.
    """
    return lost_at is None or isinstance(reply, Ended)
