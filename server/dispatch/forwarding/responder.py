"""Answers other nodes: here is the link of the machine, or what this node alone knows.

What is malformed, of another version, too late, or for a machine that is not here is refused and
counted, and nothing of it is carried out.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from server.clock import seconds_until
from server.dispatch.command import CommandReply, Pending
from server.dispatch.forwarding.forwards import Forwards
from server.dispatch.forwarding.long_texts import LongTexts
from server.dispatch.here.links import LinksHere
from server.dispatch.here.machines import MachinesHere
from server.dispatch.questions.control import GaveWay, GiveWay
from server.dispatch.questions.inputs import CarryOut, ReadText
from server.dispatch.questions.nodes import (
    Described,
    DescribeMachines,
    DescribeTroubled,
    MetricsRead,
    ReadMetrics,
)
from server.dispatch.questions.question import (
    LinkQuestion,
    MessageRefusedError,
    NodeQuestion,
    NotHere,
    NotUnderstood,
    Reply,
    decode_question,
    encode,
)
from server.dispatch.refusals import RefusedError, storage_unavailable
from server.errors import StoreUnavailable
from server.machines.socket import LinkSocket

REPEAT_SECONDS: Final = 5.0
"""For the reply to a message that comes again; longer than its asker waits for it."""

Asked = LinkQuestion[Any] | NodeQuestion[Any]


class Responder:
    """Answers other nodes.  ``refused`` counts by reason what was not understood or came late.

    Where it ``takes_commands`` no more, those that it has are answered all the same.
    """

    takes_commands = True

    def __init__(
        self,
        here: MachinesHere,
        links: LinksHere,
        texts: LongTexts,
        read_metrics: Callable[[], bytes],
    ) -> None:
        self._here = here
        self._links = links
        self._texts = texts
        self._read_metrics = read_metrics
        self._forwards = Forwards()
        self.refused: Counter[str] = Counter()

    @property
    def under_way(self) -> int:
        """How many commands of other nodes are not answered yet."""
        return self._forwards.under_way

    async def respond_for_node(self, message: bytes) -> bytes:
        """The reply to a message that another node has sent to this one."""
        return encode(await self._understood(message, self._reply_of_node))

    async def respond_for_link(self, link: LinkSocket, message: bytes) -> bytes:
        """The reply to a message that another node has sent to a link of this one."""
        return encode(await self._understood(message, partial(self._reply_of_link, link)))

    async def _understood(
        self, message: bytes, reply_to: Callable[[Asked], Awaitable[Reply]]
    ) -> Reply:
        try:
            return await reply_to(decode_question(message))
        except MessageRefusedError as error:
            self.refused[str(error)] += 1
            return NotUnderstood(reason=str(error))
        except StoreUnavailable as error:
            return storage_unavailable(str(error))

    async def _reply_of_node(self, question: Asked) -> Reply:
        match question:
            case DescribeMachines():
                found = self._links.of(question.organization_id, question.machine_ids)
                return Described(machines=found)
            case DescribeTroubled():
                found = self._links.troubled(question.organization_id, question.after)
                return Described(machines=found)
            case ReadMetrics():
                return MetricsRead(content=self._read_metrics())
            case ReadText():
                return self._texts.give(question)
            case GiveWay():
                about = question.organization_id, question.machine_id, question.epoch
                return GaveWay(was_up=self._here.give_way(*about))
            case _:
                raise MessageRefusedError("malformed")

    async def _reply_of_link(self, link: LinkSocket, question: Asked) -> Reply:
        if not isinstance(question, LinkQuestion) or not _is_about(link, question):
            raise MessageRefusedError("malformed")
        if not self._has(question) and not self._takes(question, link):
            self.refused["not here"] += 1
            return NotHere()
        if isinstance(question, CarryOut):
            return await self._once(question, link)
        reply: Reply = await self._here.answer(link, question)
        return reply

    def _takes(self, question: LinkQuestion[Any], link: LinkSocket) -> bool:
        """Whether the machine may be asked, as if nobody had before."""
        return link.is_up and (self.takes_commands or not isinstance(question, CarryOut))

    def _has(self, question: LinkQuestion[Any]) -> bool:
        """Whether an earlier message has brought the same, whose reply is still the right one."""
        return isinstance(question, CarryOut) and question.forward_id in self._forwards

    async def _once(self, message: CarryOut, link: LinkSocket) -> CommandReply:
        """What becomes of a command: the same for every message that brings it, however many do.

        A refusal as well: what nothing was done of is never done later.
        """
        known = self._forwards.find(message.forward_id)
        if known is not None:
            # By then its asker has asked again: else each message would wait here for minutes.
            await asyncio.wait((known,), timeout=REPEAT_SECONDS)
            return known.result() if known.done() else Pending(command_id=message.command.id)
        self._forwards.forget_late()
        if seconds_until(message.command.expires_at) <= 0:
            raise MessageRefusedError("late")
        if self._forwards.is_full:
            self.refused["too many"] += 1
            # Nobody may say that nothing happened: the message may come again, and be taken.
            return Pending(command_id=message.command.id)
        reply = self._forwards.add(message.forward_id, message.command.answer_by)
        try:
            reply.set_result(await self._carry_out(message, link))
        except Exception as error:  # noqa: BLE001  whoever brings it again is told the same
            reply.set_exception(error)
        finally:
            # It is cancelled where the server stops.
            reply.cancel()
        return await reply

    async def _carry_out(self, message: CarryOut, link: LinkSocket) -> CommandReply:
        try:
            self._here.check_room()
            command = await self._texts.whole(message)
            return await self._here.carry_out(command, link)
        except RefusedError as error:
            return error.refusal
        except StoreUnavailable as error:
            return storage_unavailable(str(error))


def _is_about(link: LinkSocket, question: LinkQuestion[Any]) -> bool:
    about = question.organization_id, question.machine_id
    return about == (link.organization_id, link.machine_id)
