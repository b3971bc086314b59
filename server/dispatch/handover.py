"""Waits for machines that are between two nodes, as they are when one of them ends."""

import asyncio
from collections.abc import Callable
from typing import Final
from uuid import UUID

from schemas.link.close_codes import MOVED_REASON
from server.clock import milliseconds, server_time
from server.store.machines.documents import Machine
from server.store.machines.machines import MachineStore

MOVING_SECONDS: Final = 2.0
"""For a machine that was moved to be back: mostly it is within a few tenths."""

NOTING_SECONDS: Final = 0.5
"""For the database to hear of a link that has ended, and a new link to be up."""

POLL_SECONDS: Final = 0.05
"""Between two looks."""

JUST_MILLISECONDS: Final = 5000
"""Who was moved longer ago stays away; the clocks of two nodes may differ by some seconds."""


class HandoverWait:
    """Has whoever asks for a machine wait while it moves.  ``is_alive`` tells of another node."""

    def __init__(
        self, machines: MachineStore, node_id: UUID, is_alive: Callable[[UUID], bool]
    ) -> None:
        self._machines = machines
        self._node_id = node_id
        self._is_alive = is_alive

    async def wait(self, organization_id: UUID, machine_id: str, waited: float) -> bool:
        """Wait a moment; whether the machine's link, which nobody has, is worth another look.

        ``waited`` is the seconds since the first look.  Raises StoreUnavailable.
        """
        machine = await self._machines.get(organization_id, machine_id)
        if machine is None or waited >= self._patience(machine):
            return False
        await asyncio.sleep(POLL_SECONDS)
        return True

    def _patience(self, machine: Machine) -> float:
        if machine.is_linked:
            return NOTING_SECONDS if machine.link and self._has(machine.link.node_id) else 0.0
        away = server_time() - milliseconds(machine.state_since)
        is_moving = machine.reason == MOVED_REASON and away < JUST_MILLISECONDS
        return MOVING_SECONDS if is_moving else 0.0

    def _has(self, node_id: UUID) -> bool:
        return node_id == self._node_id or self._is_alive(node_id)
