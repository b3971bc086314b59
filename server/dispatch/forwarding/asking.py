"""Requests to the node that holds a machine's link, and what it replies."""

from schemas.bus.messages import (
    Done,
    MachineRequest,
    Message,
    MessageRefusedError,
    Reply,
    decode_reply,
)
from schemas.http.problems import ProblemError
from server.bus.bus import Bus, BusAwayError, BusError, NoResponderError, ReplyLostError
from server.bus.subjects import Subjects
from server.dispatch.forwarding.addresses import LinkAddresses, MachineKey
from server.dispatch.forwarding.translation import raise_problem
from server.dispatch.refusals import not_understood
from server.store.errors import StoreUnavailable


class Asking:
    """Finds the subject of a machine's link, and asks it."""

    def __init__(self, bus: Bus, subjects: Subjects, addresses: LinkAddresses) -> None:
        self._bus = bus
        self._subjects = subjects
        self._addresses = addresses

    async def replied(
        self, request: MachineRequest, seconds: float, lost: ProblemError
    ) -> tuple[Reply | None, bytes]:
        """What the other node says, or a problem: ``lost`` without a word; None: no link."""
        try:
            return await self.reply(request, seconds)
        except (NoResponderError, BusAwayError):
            return None, b""
        except ReplyLostError:
            raise lost from None
        except MessageRefusedError as error:
            raise not_understood(str(error)) from None

    async def done(self, request: MachineRequest, seconds: float) -> bool:
        """Whether the other node has done what was asked of it."""
        try:
            reply, _ = await self.reply(request, seconds)
        except (BusError, MessageRefusedError, StoreUnavailable):
            return False
        return isinstance(reply, Done)

    async def reply(self, request: MachineRequest, seconds: float) -> tuple[Reply, bytes]:
        """What the node with the machine's link says.

        One whose link is not there any more has done nothing, so the newer one may be asked.
        """
        key = key_of(request)
        epoch = await self._addresses.find(key)
        try:
            return await self.ask(self._subjects.link(*key, epoch), request, seconds)
        except NoResponderError:
            epoch = await self._addresses.find(key, but=epoch)
            return await self.ask(self._subjects.link(*key, epoch), request, seconds)

    async def ask(self, subject: str, request: Message, seconds: float) -> tuple[Reply, bytes]:
        """What another node replies.  Raises BusError, MessageRefusedError, and its problem."""
        reply, content = decode_reply(
            await self._bus.request(subject, request.encode(), max(seconds, 0.001))
        )
        raise_problem(reply)
        return reply, content


def key_of(request: MachineRequest) -> MachineKey:
    """Which machine a request is about."""
    return request.organization_id, request.machine_id
