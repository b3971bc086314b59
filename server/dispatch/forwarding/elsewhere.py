"""The machines whose links are on other nodes, or on none."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final
from uuid import UUID

from schemas.bus.messages import (
    Answered,
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
    NotHere,
    PauseChanged,
    PictureTaken,
    ReadClipboard,
    ReadMetrics,
    Refused,
    Reply,
    ResolveCommand,
    TakeScreenshot,
    TextRead,
)
from schemas.http.problems import OUTCOME_PENDING, ProblemError
from schemas.inputs.clipboard_texts import Selection
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions, ScreenshotOptions
from server.bus.bus import Bus, BusAwayError, BusError, NoResponderError, ReplyLostError
from server.bus.subjects import Subjects
from server.clock import seconds_until
from server.dispatch.clipboard import reading
from server.dispatch.command import Command
from server.dispatch.forwarding.addresses import LinkAddresses, MachineKey
from server.dispatch.forwarding.asking import Asking, key_of
from server.dispatch.forwarding.long_texts import LongTexts
from server.dispatch.forwarding.remote_screens import RemoteScreens
from server.dispatch.forwarding.translation import (
    answer_of,
    live_machine,
    picture_of,
)
from server.dispatch.forwarding.watch import LinkWatch
from server.dispatch.here import INTERRUPT_SECONDS
from server.dispatch.links_here import LiveMachine
from server.dispatch.refusals import no_clipboard, no_screen, not_interrupted, not_understood
from server.dispatch.screens import ANSWER_SECONDS, LiveScreen, SeenDesktop
from server.store.commands import Answer
from server.store.errors import StoreUnavailable
from server.tasks import Tasks

ASK_AGAIN_SECONDS: Final = 2.0
"""Without a reply, a command with a key is asked for again: its node may be gone."""

RESOLVE_SECONDS: Final = 6.0
"""For a machine to say what became of a command; a little more than the other node gives it."""

MOST_DESCRIBED: Final = 500
"""Machines in one question, so that its reply is short."""

GRACE_SECONDS: Final = 1.0
"""For the other node's word that an answer did not come in time."""

SHORT_SECONDS: Final = 1.0
"""For a question that a node answers from memory."""

PAUSE_SECONDS: Final = 6.0
"""For a pause to reach its link: a little more than the other node gives it."""

CONTROL_SECONDS: Final = INTERRUPT_SECONDS + 1.0
"""For a machine to be interrupted: a little more than the other node gives it."""

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

    ``is_answered`` is whether the final answer to a command is stored; it may raise
    StoreUnavailable.  ``forwarded`` counts commands by how that went.
    """

    def __init__(
        self,
        bus: Bus,
        subjects: Subjects,
        addresses: LinkAddresses,
        background: Tasks,
        is_answered: Callable[[Command], Awaitable[bool]],
    ) -> None:
        self._asking = Asking(bus, subjects, addresses)
        self._subjects = subjects
        self._addresses = addresses
        self._background = background
        self._is_answered = is_answered
        self._screens = RemoteScreens(self._asking.reply, background)
        self.texts = LongTexts(self._asking, subjects, addresses.node_id)
        self.forwarded: Counter[str] = Counter()

    @property
    def viewers(self) -> int:
        """How many on this node look at live screens of machines elsewhere."""
        return self._screens.viewers

    async def carry_out(self, command: Command) -> tuple[Answer, bool] | None:
        """The final answer to a command, and whether it was given before; None where no link is.

        Raises the problem that the other node answers, and ForwardLostError.
        """
        try:
            answered = await self._carry_out(command)
        except ForwardLostError:
            self.forwarded["lost"] += 1
            raise
        except MessageRefusedError as error:
            self.forwarded["refused"] += 1
            raise not_understood(str(error)) from None
        if answered is not None:
            self.forwarded["answered"] += 1
        return answered

    async def resolve(self, organization_id: UUID, machine_id: str, command_id: UUID) -> bool:
        """Have a machine say what became of a command; whether its record may say more now."""
        request = ResolveCommand(
            organization_id=organization_id, machine_id=machine_id, command_id=command_id
        )
        return await self._asking.done(request, RESOLVE_SECONDS)

    async def has_link(self, organization_id: UUID, machine_id: str) -> bool:
        """Whether another node has a link of the machine, as far as can be found out."""
        request = FindLink(organization_id=organization_id, machine_id=machine_id)
        return await self._asking.done(request, SHORT_SECONDS)

    async def pause_changed(self, organization_id: UUID, machine_id: str) -> bool:
        """Tell a machine's link that it was paused or resumed; whether it keeps to it."""
        request = PauseChanged(organization_id=organization_id, machine_id=machine_id)
        return await self._asking.done(request, PAUSE_SECONDS)

    async def control_changed(
        self, organization_id: UUID, machine_id: str, epoch: int, proof: str | None
    ) -> bool:
        """Have a machine interrupted, control of which has changed; False where no link is.

        Raises a problem where nobody confirms it, or where the lease of ``proof`` is not in force.
        """
        request = ControlChanged(
            organization_id=organization_id, machine_id=machine_id, epoch=epoch, proof=proof
        )
        reply, _ = await self._asking.replied(request, CONTROL_SECONDS, not_interrupted())
        return isinstance(reply, Done)

    async def disconnect(self, organization_id: UUID, machine_id: str) -> None:
        """Close the link of a machine that was removed.

        Where its node cannot be told, that finds its token revoked within seconds.
        """
        request = MachineRemoved(organization_id=organization_id, machine_id=machine_id)
        await self._asking.done(request, SHORT_SECONDS)

    async def screenshot(
        self, organization_id: UUID, machine_id: str, options: ScreenshotOptions
    ) -> Picture | None:
        """A picture of a machine's screen as it is now, or a problem; None where no link is."""
        request = TakeScreenshot(
            organization_id=organization_id,
            machine_id=machine_id,
            format=options.format,
            width=options.width,
            height=options.height,
            quality=options.quality,
        )
        reply, content = await self._seen(request)
        return picture_of(reply, content) if isinstance(reply, PictureTaken) else None

    async def look(self, organization_id: UUID, machine_id: str) -> SeenDesktop | None:
        """A machine's displays and pointer as they are now, or a problem; None where no link is."""
        request = LookAtDesktop(organization_id=organization_id, machine_id=machine_id)
        reply, _ = await self._seen(request)
        if not isinstance(reply, DesktopLookedAt):
            return None
        return SeenDesktop(reply.displays, reply.pointer)

    async def read_clipboard(
        self, organization_id: UUID, machine_id: str, selection: Selection
    ) -> str | None:
        """What is in a machine's clipboard, or a problem; None where no link is."""
        request = ReadClipboard(
            organization_id=organization_id, machine_id=machine_id, selection=selection
        )
        lost = no_clipboard("its node did not answer in time", None)
        seconds = reading.ANSWER_SECONDS + GRACE_SECONDS
        reply, content = await self._asking.replied(request, seconds, lost)
        return content.decode() if isinstance(reply, TextRead) else None

    def watch(
        self, organization_id: UUID, machine_id: str, options: LiveOptions, name: str
    ) -> LiveScreen:
        """A machine's live screen, which the caller closes; ``name`` is who watches."""
        screen = self._screens.of(organization_id, machine_id)
        return LiveScreen(screen, options, [name], lambda: None)

    async def describe(
        self, node_id: UUID, organization_id: UUID, machine_ids: Sequence[str]
    ) -> dict[str, LiveMachine] | None:
        """What the machines of another node are like now, those of them that are there.

        None where it cannot be asked.
        """
        found: dict[str, LiveMachine] = {}
        for begin in range(0, len(machine_ids), MOST_DESCRIBED):
            asked = list(machine_ids[begin : begin + MOST_DESCRIBED])
            request = DescribeMachines(organization_id=organization_id, machine_ids=asked)
            try:
                reply, _ = await self._asking.ask(
                    self._subjects.node(node_id), request, SHORT_SECONDS
                )
            except (BusError, MessageRefusedError):
                return None
            if not isinstance(reply, Described):
                return None
            found |= {each.machine_id: live_machine(each) for each in reply.machines}
        return found

    async def metrics(self, node_id: UUID) -> bytes | None:
        """Another node's metrics; None where it cannot be asked."""
        try:
            reply, content = await self._asking.ask(
                self._subjects.node(node_id), ReadMetrics(), SHORT_SECONDS
            )
        except (BusError, MessageRefusedError):
            return None
        return content if isinstance(reply, MetricsRead) else None

    async def give_way(
        self, node_id: UUID, organization_id: UUID, machine_id: str, epoch: int
    ) -> bool:
        """Have a node close the links of a machine before ``epoch``; whether one was up."""
        request = GiveWay(organization_id=organization_id, machine_id=machine_id, epoch=epoch)
        try:
            reply, _ = await self._asking.ask(self._subjects.node(node_id), request, SHORT_SECONDS)
        except (BusError, MessageRefusedError):
            return False
        return isinstance(reply, Done) and reply.was_connected

    async def _carry_out(self, command: Command) -> tuple[Answer, bool] | None:
        ask = self._ask_until_answered if command.is_keyed else self._ask_once
        try:
            with self.texts.offered(command) as message:
                reply, content = await ask(command, message)
        except (NoResponderError, BusAwayError):
            return None
        match reply:
            case Answered():
                return answer_of(reply, content)
            case NotHere():
                return None
            case Refused():
                raise MessageRefusedError(reply.reason)
            case _:
                raise MessageRefusedError("malformed")

    async def _ask_until_answered(
        self, command: Command, message: ForwardedCommand
    ) -> tuple[Reply, bytes]:
        """What the other node says of a command with a key, however often it has to be asked.

        Raises NoResponderError and BusAwayError where none has it, and ForwardLostError.
        """
        lost_at: int | None = None
        key = key_of(message)
        epoch = await self._addresses.find(key)
        while (left := _left(command)) > 0:
            subject = self._subjects.link(*key, epoch)
            try:
                reply, content = await self._asking.ask(
                    subject, message, min(left, ASK_AGAIN_SECONDS)
                )
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
            except (BusAwayError, ProblemError):
                if lost_at is not None:
                    break
                raise
            else:
                if _is_about_all(reply, lost_at):
                    return reply, content
                break
        raise ForwardLostError(epoch if lost_at is None else lost_at)

    async def _is_settled(self, command: Command) -> bool:
        """Whether nobody need be asked, as far as can be found out."""
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(ASK_AGAIN_SECONDS):
                return await self._is_answered(command)
        return False

    async def _newer(self, key: MachineKey, epoch: int, lost_at: int | None) -> int:
        """The epoch of a newer link.  Raises NoResponderError, or ForwardLostError after a loss."""
        try:
            return await self._addresses.find(key, but=epoch)
        except NoResponderError:
            if lost_at is not None:
                raise ForwardLostError(lost_at) from None
            raise

    async def _ask_once(self, command: Command, message: ForwardedCommand) -> tuple[Reply, bytes]:
        """What the other node says of a command without a key, which reaches one link alone.

        Raises as `_ask_until_answered` does; ForwardLostError also soon after the node has died.
        """
        key = key_of(message)
        epoch = await self._addresses.find(key)
        try:
            return await self._while_linked(key, epoch, message, _left(command))
        except NoResponderError:
            epoch = await self._addresses.find(key, but=epoch)
            return await self._while_linked(key, epoch, message, _left(command))

    async def _while_linked(
        self, key: MachineKey, epoch: int, message: ForwardedCommand, seconds: float
    ) -> tuple[Reply, bytes]:
        """What another node replies, as long as the link is there.  Raises ForwardLostError."""
        subject = self._subjects.link(*key, epoch)
        try:
            with LinkWatch(partial(self._is_there, key, subject), self._background):
                return await self._asking.ask(subject, message, seconds)
        except (ReplyLostError, MessageRefusedError):
            raise ForwardLostError(epoch) from None
        except ProblemError as problem:
            if problem.problem_type is OUTCOME_PENDING:
                # The other node may be unable to record it, so that nobody could find it.
                raise ForwardLostError(epoch) from None
            raise

    async def _is_there(self, key: MachineKey, subject: str) -> bool:
        """Whether the node still has the link that a subject is of."""
        try:
            reply, _ = await self._asking.ask(
                subject, FindLink(organization_id=key[0], machine_id=key[1]), SHORT_SECONDS
            )
        except (BusError, MessageRefusedError):
            return False
        return isinstance(reply, Done)

    async def _seen(self, request: MachineRequest) -> tuple[Reply | None, bytes]:
        """What the other node says of a screen, or a problem; None where no link is."""
        lost = no_screen("its node did not answer in time", None)
        return await self._asking.replied(request, ANSWER_SECONDS + GRACE_SECONDS, lost)


def _left(command: Command) -> float:
    """How many seconds another node has for a command."""
    return seconds_until(command.answer_by) + GRACE_SECONDS


def _is_about_all(reply: Reply, lost_at: int | None) -> bool:
    """Whether a reply is about every message that carried a command.

    A refusal is about the last one alone: what was lost at link ``lost_at`` may have arrived.
    """
    return lost_at is None or isinstance(reply, Answered)
