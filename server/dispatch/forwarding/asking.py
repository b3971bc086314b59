"""How every question reaches the node that answers it, and its reply comes back."""

from typing import Any, TypeVar, cast
from uuid import UUID

from server.bus.bus import Bus, BusAwayError, BusError, NoResponderError, ReplyLostError
from server.bus.subjects import Subjects
from server.dispatch.forwarding.addresses import LinkAddresses, MachineKey
from server.dispatch.questions.question import (
    LinkQuestion,
    MessageRefusedError,
    NodeQuestion,
    NotHere,
    NotUnderstood,
    Refusal,
    Reply,
    decode_reply,
    encode,
)
from server.dispatch.refusals import not_understood
from server.errors import StoreUnavailable

R = TypeVar("R")


class Asking:
    """Finds the subject of a link or a node, encodes, sends, and decodes."""

    def __init__(self, bus: Bus, subjects: Subjects, addresses: LinkAddresses) -> None:
        self._bus = bus
        self._subjects = subjects
        self._addresses = addresses

    async def ask(self, question: LinkQuestion[R]) -> R | Refusal | None:
        """What the node with the machine's link answers; None where no link is to be found.

        Raises StoreUnavailable.
        """
        try:
            reply = await self._asked_of_link(question)
        except (NoResponderError, BusAwayError):
            return None
        except ReplyLostError:
            return question.lost()
        except MessageRefusedError as error:
            return not_understood(str(error))
        return None if isinstance(reply, NotHere | NotUnderstood) else cast("R | Refusal", reply)

    async def tell(self, question: LinkQuestion[Any]) -> bool:
        """Ask for what nobody waits for; whether it is done, as far as can be found out."""
        try:
            reply = await self._asked_of_link(question)
        except (BusError, MessageRefusedError, StoreUnavailable):
            return False
        return question.is_answered_by(reply)

    async def ask_node(self, node_id: UUID, question: NodeQuestion[R], seconds: float) -> R | None:
        """What a node answers; None where it cannot be asked."""
        try:
            reply = await self.reply(self._subjects.node(node_id), question, seconds)
        except (BusError, MessageRefusedError):
            return None
        return cast("R", reply) if question.is_answered_by(reply) else None

    async def reply(
        self, subject: str, question: LinkQuestion[Any] | NodeQuestion[Any], seconds: float
    ) -> Reply:
        """What is replied at a subject: an answer, a Refusal, NotHere or NotUnderstood.

        Raises BusError and, where the reply is none of these, MessageRefusedError.
        """
        message = await self._bus.request(subject, encode(question), max(seconds, 0.001))
        reply = decode_reply(message)
        is_known = isinstance(reply, Refusal | NotHere | NotUnderstood)
        if not is_known and not question.is_answered_by(reply):
            raise MessageRefusedError("malformed")
        return reply

    async def _asked_of_link(self, question: LinkQuestion[Any]) -> Reply:
        """What the node with the machine's link says.

        One whose link is not there any more has done nothing, so the newer one may be asked.
        """
        key, seconds = key_of(question), question.answer_seconds
        epoch = await self._addresses.find(key)
        try:
            return await self.reply(self._subjects.link(*key, epoch), question, seconds)
        except NoResponderError:
            epoch = await self._addresses.find(key, but=epoch)
            return await self.reply(self._subjects.link(*key, epoch), question, seconds)


def key_of(question: LinkQuestion[Any]) -> MachineKey:
    """Which machine a question is about."""
    return question.organization_id, question.machine_id
