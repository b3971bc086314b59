"""A server, machines on X servers of their own, and a form on each, started anew for each run."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.desktop import resize_screen
from tests.finding.judging import Line, read
from tests.finding.scenario import LARGEST, SCREEN, Scenario
from tests.held import x_display
from tests.machine_client.desktop.accessibility.rig import (
    AccessibleDesktop,
    Program,
    accessible_desktop,
)
from tests.processes import joined
from tests.service import ScriptedMachine, Service
from tests.waiting import until, waited

HERE: Final = Path(__file__).parent

ASIDE: Final = (1, 1)

SHOWN_SECONDS: Final = 15.0
"""For what the move before has opened; by then it has not."""

_SILENT: Final = {
    "NO_AT_BRIDGE": "1",
    "GTK_MODULES": "",
    # Qt tells of them wherever it is asked to on a bus.
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
}
"""Has a program tell nothing of its elements."""


@dataclass(frozen=True)
class Form:
    """A form that is shown; what it says is the only witness."""

    program: Program
    record: Path

    async def place(self, name: str) -> tuple[int, int]:
        """The middle of something, once it is to be seen."""
        until = time.monotonic() + SHOWN_SECONDS
        while (place := await self._where(name)) is None:
            assert time.monotonic() < until, f"{name} was not shown in time"
        return place

    async def sees(self, name: str) -> bool:
        """Whether something is to be seen."""
        return await self._where(name) is not None

    async def lines(self) -> list[Line]:
        """What it has recorded, once it has heard all that was done to it."""
        await asyncio.to_thread(self.program.tell, "nothing")
        return read(self.record)

    async def _where(self, name: str) -> tuple[int, int] | None:
        for each in await asyncio.to_thread(self.program.tell, "where", name):
            if each.startswith("at "):
                _, x, y = each.split()
                return int(x), int(y)
        return None


@dataclass
class Desk:
    """A machine and its desktop."""

    service: Service
    machine: ScriptedMachine
    desktop: AccessibleDesktop
    directory: Path
    screen: tuple[int, int] = SCREEN
    forms: int = 0

    @property
    def machine_id(self) -> str:
        """The machine's id."""
        return self.machine.machine_id

    @asynccontextmanager
    async def shows(
        self, toolkit: str, scenario: Scenario, *, tells_elements: bool
    ) -> AsyncIterator[Form]:
        """A form on the screen, which is as large as the scenario says, alone.

        The pointer is beside it, as without a window manager a window has the focus under it.
        """
        await self._resize(scenario.screen)
        await asyncio.to_thread(_park, self.desktop.display)
        self.forms += 1
        record = self.directory / f"record-{self.forms}"
        variables = {**self.desktop.environment, "GTK_THEME": ""}
        variables |= {} if tells_elements else _SILENT
        program = await asyncio.to_thread(
            Program,
            str(HERE / f"{toolkit}_orders.py"),
            scenario.argument(record),
            environment=variables,
        )
        try:
            yield Form(program, record)
        finally:
            await asyncio.to_thread(program.__exit__, None, None, None)

    async def _resize(self, screen: tuple[int, int]) -> None:
        if screen != self.screen:
            await asyncio.to_thread(resize_screen, self.desktop.display, *screen)
            self.screen = screen

            async def is_known() -> bool | None:
                view = (await self.service.get(f"/v1/machines/{self.machine_id}")).json
                return (_size_of(view) == screen) or None

            await waited(is_known)


def _park(display: str) -> None:
    with x_display(display) as connection:
        connection.screen().root.warp_pointer(*ASIDE)
        connection.sync()


def _size_of(view: Any) -> tuple[int, int]:
    (display,) = view["displays"]
    return display["width"], display["height"]


@asynccontextmanager
async def desks(service: Service, directory: Path, count: int) -> AsyncIterator[list[Desk]]:
    """So many machines that are connected, and tell of elements."""
    async with AsyncExitStack() as ending:
        stack = ending.enter_context(ExitStack())
        made = []
        for number in range(count):
            machine = await service.new_machine(f"desk-{number + 1}")
            own = directory / machine.machine_id
            desktop = await asyncio.to_thread(stack.enter_context, _joined(machine, own))
            made.append(Desk(service, machine, desktop, own))
        for desk in made:
            await desk.machine.until_live()
            await until(
                lambda desk=desk: (  # type: ignore[misc]
                    (link := service.link_of(desk.machine_id)) and not link.desktop.why_no_elements
                )
            )
            desk.screen = LARGEST
            await desk._resize(SCREEN)
        yield made
        await asyncio.to_thread(stack.close)


@contextmanager
def _joined(machine: ScriptedMachine, directory: Path) -> Iterator[AccessibleDesktop]:
    size = f"{LARGEST[0]}x{LARGEST[1]}x24"
    with (
        accessible_desktop(size) as desktop,
        joined(
            machine.service.url,
            machine.token,
            directory,
            desktop.display,
            heartbeat="1",
            wait=False,
        ),
    ):
        yield desktop
