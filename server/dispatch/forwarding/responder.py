"""Does for other nodes what they cannot do themselves: here is the link of the machine.

What is malformed, of another version, too late, or for a machine that is not here is refused and
counted, and nothing of it is carried out.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from schemas.bus.messages import (
    ControlChanged,
    Described,
    DescribeMachines,
    DesktopLookedAt,
    Done,
    FindLink,
    ForwardedCommand,
    GiveWay,
    LookAtDesktop,
    MachineRemoved,
    MachineRequest,
    MessageRefusedError,
    MetricsRead,
    NextPicture,
    NotHere,
    PauseChanged,
    ReadClipboard,
    ReadMetrics,
    ReadText,
    Refused,
    Request,
    ResolveCommand,
    StopWatching,
    TakeScreenshot,
    TextRead,
    decode_request,
)
from schemas.http.problems import InvalidRequestError, ProblemError
from server.clock import seconds_until
from server.dispatch.clipboard.reading import read_clipboard
from server.dispatch.forwarding.forwards import Forwards
from server.dispatch.forwarding.long_texts import LongTexts
from server.dispatch.forwarding.remote_viewers import RemoteViewers
from server.dispatch.forwarding.translation import (
    answered,
    command_of,
    described,
    picture_taken,
    problem,
    screenshot_options,
)
from server.dispatch.here import MachinesHere
from server.dispatch.links_here import LinksHere
from server.dispatch.refusals import just_disconnected, pending
from server.dispatch.screens import look, screenshot
from server.machines.socket import LinkSocket
from server.process.error_frames import forget_frames
from server.store.errors import StoreUnavailable


class Responder:
    """Answers other nodes.  ``refused`` counts by reason what was not understood or came late."""

    def __init__(
        self,
        here: MachinesHere,
        links: LinksHere,
        viewers: RemoteViewers,
        texts: LongTexts,
        read_metrics: Callable[[], bytes],
    ) -> None:
        self._here = here
        self._links = links
        self._viewers = viewers
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
        return await self._understood(message, self._reply_of_node)

    async def respond_for_link(self, link: LinkSocket, message: bytes) -> bytes:
        """The reply to a message that another node has sent to a link of this one."""
        return await self._understood(message, partial(self._reply_of_link, link))

    async def _understood(
        self, message: bytes, reply_to: Callable[[Request], Awaitable[bytes]]
    ) -> bytes:
        try:
            return await reply_to(decode_request(message))
        except MessageRefusedError as error:
            return self._refuse(str(error))
        except (ProblemError, InvalidRequestError, StoreUnavailable) as error:
            return _told(error)

    async def _reply_of_node(self, request: Request) -> bytes:
        match request:
            case DescribeMachines():
                return self._describe(request).encode()
            case ReadMetrics():
                return MetricsRead().encode(self._read_metrics())
            case ReadText():
                return self._texts.give(request)
            case GiveWay():
                was_up = self._here.give_way(
                    request.organization_id, request.machine_id, request.epoch
                )
                return Done(was_connected=was_up).encode()
            case _:
                raise MessageRefusedError("malformed")

    async def _reply_of_link(self, link: LinkSocket, request: Request) -> bytes:
        if not isinstance(request, MachineRequest) or not _is_about(link, request):
            raise MessageRefusedError("malformed")
        if not link.is_up and not self._has(request):
            self.refused["not here"] += 1
            return NotHere().encode()
        return await self._reply_of(link, request)

    def _has(self, request: MachineRequest) -> bool:
        """Whether an earlier message has brought the same, whose reply is still the right one."""
        return isinstance(request, ForwardedCommand) and request.forward_id in self._forwards

    async def _reply_of(self, link: LinkSocket, request: MachineRequest) -> bytes:
        """The reply to what a machine of this node is asked for."""
        match request:
            case ForwardedCommand():
                return await self._once(request, link)
            case ResolveCommand():
                return await self._resolve(request, link)
            case TakeScreenshot():
                return picture_taken(await screenshot(link, screenshot_options(request)))
            case LookAtDesktop():
                seen = await look(link)
                return DesktopLookedAt(displays=seen.displays, pointer=seen.pointer).encode()
            case ReadClipboard():
                text = await read_clipboard(link, request.selection)
                return TextRead().encode(text.encode())
            case NextPicture():
                return await self._viewers.next_picture(link, request)
            case MachineRemoved():
                self._here.disconnect(request.organization_id, request.machine_id)
                return Done().encode()
            case StopWatching():
                self._viewers.stop(request)
                return Done().encode()
            case PauseChanged():
                await self._here.restrictions_changed(request.organization_id, request.machine_id)
                return Done().encode()
            case ControlChanged():
                await self._here.control_changed(link, request.epoch, request.proof)
                return Done().encode()
            case FindLink():
                return Done(was_connected=True).encode()
            case _:
                raise MessageRefusedError("malformed")

    async def _once(self, request: ForwardedCommand, link: LinkSocket) -> bytes:
        """The reply to a command: the same to every message that brings it, however many do.

        A refusal as well: what nothing was done of is never done later.
        """
        known = self._forwards.find(request.forward_id)
        if known is not None:
            return await asyncio.shield(known)
        self._forwards.forget_late()
        if seconds_until(request.expires_at) <= 0:
            return self._refuse("late")
        if self._forwards.is_full:
            self.refused["too many"] += 1
            # Nobody may say that nothing happened: the message may come again, and be taken.
            raise pending(request.command_id)
        command_of(request)  # What is malformed is refused, and not remembered.
        reply = self._forwards.add(request.forward_id, request.answer_by)
        try:
            reply.set_result(await self._carry_out(request, link))
        except Exception as error:  # noqa: BLE001  whoever brings it again is told the same
            reply.set_exception(error)
        finally:
            # It is cancelled where the server stops.
            reply.cancel()
        return await reply

    async def _carry_out(self, request: ForwardedCommand, link: LinkSocket) -> bytes:
        try:
            self._here.check_room()
            command = await self._texts.whole(request)
            answer, is_replayed = await self._here.carry_out(command, link, _gone)
        except (ProblemError, InvalidRequestError, StoreUnavailable) as error:
            return _told(error)
        return answered(answer, is_replayed=is_replayed)

    async def _resolve(self, request: ResolveCommand, link: LinkSocket) -> bytes:
        record = await self._here.find_record(
            request.organization_id, request.command_id, request.machine_id
        )
        if record is not None:
            await self._here.look_up(record, link)
        return Done().encode()

    def _describe(self, request: DescribeMachines) -> Described:
        found = self._links.of(request.organization_id, request.machine_ids)
        return Described(machines=[described(each, live) for each, live in found.items()])

    def _refuse(self, reason: str) -> bytes:
        self.refused[reason] += 1
        return Refused(reason=reason).encode()


def _is_about(link: LinkSocket, request: MachineRequest) -> bool:
    return (request.organization_id, request.machine_id) == (link.organization_id, link.machine_id)


def _told(error: ProblemError | InvalidRequestError | StoreUnavailable) -> bytes:
    """The reply that tells of an error, of which nothing else is kept here."""
    forget_frames(error)
    return problem(error).encode()


async def _gone() -> ProblemError:
    return just_disconnected()
