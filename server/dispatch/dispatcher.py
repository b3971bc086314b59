"""The door: the only way from the API to a machine, wherever its link is.

What enters is plain data.  Today every link is on this node; what is meant for one on another node
would leave from here.
"""

from functools import partial
from uuid import UUID

from schemas.http.problems import ProblemError
from schemas.inputs.bodies import AnyInput
from schemas.link.messages import CloseCode, DesktopSeen
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions, ScreenshotOptions
from server.clock import milliseconds
from server.dispatch.command import Command
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.ledger.ledger import Ledger
from server.dispatch.ledger.timings import Timings
from server.dispatch.recorder import InputRecorder
from server.dispatch.refusals import too_many_viewers, unavailable, unknown_machine
from server.dispatch.screens import LiveScreen, check_screen, look, screenshot
from server.machines.admission import Admission
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.store.commands import Answer, CommandRecord
from server.store.machines import MachineStore


class Dispatcher:
    """Finds the link of a machine, has it do what is asked, or says why it cannot.

    ``input_timeout`` is how many seconds an input has, ``most_viewers`` how many may watch live
    screens of this node at once.
    """

    def __init__(
        self,
        *,
        registry: LinkRegistry,
        admission: Admission,
        machines: MachineStore,
        ledger: Ledger,
        fingerprints: Fingerprints,
        recorder: InputRecorder,
        input_timeout: float,
        most_viewers: int,
    ) -> None:
        self._registry = registry
        self._admission = admission
        self._machines = machines
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
    ) -> Command:
        """The command that an input becomes; ``key`` is its Idempotency-Key.

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
        )

    async def carry_out(self, command: Command) -> tuple[Answer, bool]:
        """The final answer to a command, and whether it was given before.

        Raises a problem where there is none: nothing was sent, or the outcome is not known yet.
        """
        try:
            answer, is_replayed = await self._ledger.answer(
                command,
                self._registry.find(command.organization_id, command.machine_id),
                partial(self._not_connected, command.organization_id, command.machine_id),
                Timings(),
            )
        except ProblemError as problem:
            self._recorder.answered_without_end(command, problem.problem_type.name)
            raise
        if is_replayed:
            self._recorder.answered_without_end(command, "replayed")
        return answer, is_replayed

    async def look_up(
        self, organization_id: UUID, command_id: UUID, machine_id: str | None = None
    ) -> CommandRecord | None:
        """The record of a command, or None; the machine is asked where it can settle it.

        With ``machine_id``, None for a command of any other machine.
        """
        record = await self._ledger.find(organization_id, command_id, machine_id)
        if record is None:
            return None
        link = self._registry.find(organization_id, record.machine_id)
        return record if link is None else await self._ledger.look_up(record, link)

    async def screenshot(
        self, organization_id: UUID, machine_id: str, options: ScreenshotOptions
    ) -> Picture:
        """A picture of a machine's screen as it is now, or a problem."""
        return await screenshot(await self._link(organization_id, machine_id), options)

    async def look(self, organization_id: UUID, machine_id: str) -> DesktopSeen:
        """A machine's displays and its pointer as they are now, or a problem."""
        return await look(await self._link(organization_id, machine_id))

    async def watch(
        self, organization_id: UUID, machine_id: str, options: LiveOptions
    ) -> LiveScreen:
        """A machine's live screen, which the caller closes, or a problem."""
        link = await self._link(organization_id, machine_id)
        check_screen(link)
        if sum(each.screen.viewers for each in self._registry) >= self._most_viewers:
            raise too_many_viewers(self._most_viewers)
        return LiveScreen(link, options)

    async def pause_changed(self, organization_id: UUID, machine_id: str) -> None:
        """A machine was paused or resumed: when this returns, its link keeps to it or is closed."""
        link = self._registry.find(organization_id, machine_id)
        if link is not None:
            await self._admission.pause_changed(link)

    def disconnect(self, organization_id: UUID, machine_id: str) -> None:
        """Close all links of a machine that was removed."""
        for link in self._registry.links_of(organization_id, machine_id):
            link.close(CloseCode.MACHINE_REMOVED, "this machine was removed")

    async def _link(self, organization_id: UUID, machine_id: str) -> LinkSocket:
        """The machine's link, paused or not, or a problem that says why there is none."""
        link = self._registry.find(organization_id, machine_id)
        if link is None:
            raise await self._not_connected(organization_id, machine_id)
        return link

    async def _not_connected(self, organization_id: UUID, machine_id: str) -> ProblemError:
        """Why a machine has no link: it is not known, or not connected."""
        machine = await self._machines.get(organization_id, machine_id)
        if machine is None:
            return unknown_machine(machine_id)
        return unavailable(
            "offline",
            f"the machine is not connected: {machine.why_offline}",
            milliseconds(machine.state_since),
        )
