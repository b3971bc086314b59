"""Finds the machine's link for a command, and why there is none."""

import asyncio
from uuid import UUID

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.inputs.outcomes import Outcome
from server.clock import iso_time, milliseconds, server_time
from server.dispatch.command import Command
from server.machines.errors import LinkBusyError, LinkDownError
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.store.machines import MachineStore

RETRY_UNAVAILABLE = "5"
RETRY_BUSY = "1"
RETRY_PENDING = "1"


class Dispatcher:
    """Sends commands to the machines that are connected to this node."""

    def __init__(self, registry: LinkRegistry, machines: MachineStore) -> None:
        self._registry = registry
        self._machines = machines

    async def link_for(self, command: Command) -> LinkSocket:
        """The link that can carry this command, or a problem that says why none can.

        It may still have to settle what earlier links left open, before it sends anything.
        """
        link = self._registry.find(command.organization_id, command.machine_id)
        if link is None:
            raise await not_connected(self._machines, command.organization_id, command.machine_id)
        if link.paused:
            raise await self._paused(command)
        if not link.desktop.input.available:
            why = link.desktop.input.reason or "it did not say why"
            raise unavailable(
                "no_input", f"the machine has no way to inject: {why}", link.desktop.input_since
            )
        return link

    def connected(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The machine's link, or None; it may be paused, or have no way to inject."""
        return self._registry.find(organization_id, machine_id)

    async def until_settled(self, link: LinkSocket, command: Command) -> None:
        """Wait until the link may send the command.

        Raises TimeoutError where its time to begin passes before, and LinkDownError.
        """
        if not link.is_settled:
            async with asyncio.timeout_at(command.begin_by):
                await link.until_settled()

    async def answer_in_time(self, answered: asyncio.Future[Outcome], command: Command) -> Outcome:
        """Wait for the outcome of a command that was sent.

        Raises TimeoutError where none comes in time, and LinkLostError.
        """
        # Cheaper than asyncio.timeout, which may have to cancel a task: here a future is enough.
        too_late = asyncio.get_running_loop().call_at(command.answer_by, _give_up, answered)
        try:
            return await answered
        finally:
            too_late.cancel()

    async def _paused(self, command: Command) -> ProblemError:
        machine = await self._machines.get(command.organization_id, command.machine_id)
        if machine is None:
            return unknown_machine(command.machine_id)
        since = machine.paused_since or machine.state_since
        return unavailable("paused", "an operator paused the machine", milliseconds(since))


async def not_connected(
    machines: MachineStore, organization_id: UUID, machine_id: str
) -> ProblemError:
    """Why a machine has no link: it is not known, or not connected."""
    machine = await machines.get(organization_id, machine_id)
    if machine is None:
        return unknown_machine(machine_id)
    return unavailable(
        "offline",
        f"the machine is not connected: {machine.why_offline}",
        milliseconds(machine.state_since),
    )


def _give_up(answered: asyncio.Future[Outcome]) -> None:
    if not answered.done():
        answered.set_exception(TimeoutError())


def refusal(error: LinkDownError | LinkBusyError, command: Command) -> ProblemError:
    """The problem of a link that took nothing."""
    if isinstance(error, LinkBusyError):
        return ProblemError(
            problems.MACHINE_BUSY,
            "the machine has as many unanswered inputs as it may; nothing was sent",
            headers={"Retry-After": RETRY_BUSY},
        )
    return just_disconnected(command.accepted_at)


def just_disconnected(since: int | None = None) -> ProblemError:
    """A machine whose link ended in this moment, or at ``since`` (milliseconds since 1970)."""
    return unavailable("offline", "the machine has just disconnected", since)


def settling(link: LinkSocket) -> ProblemError:
    """A machine that has not said in time what became of what earlier links had sent it."""
    return unavailable(
        "settling",
        "the machine has not said yet what became of earlier inputs; nothing was sent",
        link.up_since,
    )


def unavailable(reason: str, detail: str, since: int | None) -> ProblemError:
    """A machine that cannot do it, since now or ``since`` (ms since 1970); nothing was sent."""
    since = server_time() if since is None else since
    return ProblemError(
        problems.MACHINE_UNAVAILABLE,
        detail,
        members={"reason": reason, "since": iso_time(since)},
        headers={"Retry-After": RETRY_UNAVAILABLE},
    )


def unknown_machine(machine_id: str) -> ProblemError:
    """No such machine, or one of another organization: the same answer for both."""
    return ProblemError(problems.NOT_FOUND, f"there is no machine {machine_id!r}")


def pending(command_id: UUID) -> ProblemError:
    """A command that was sent and of which nothing is known yet."""
    return ProblemError(
        problems.OUTCOME_PENDING,
        "the input was sent and its outcome is not known yet",
        members={"command_id": str(command_id)},
        headers={"Retry-After": RETRY_PENDING},
    )
