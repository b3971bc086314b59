"""Many machines in one process: real clients with real journals, on desks that only take notes.

``python -m tests.faults.light_machines DIRECTORY`` stays until it is ended.  ``tokens`` in the
directory has a machine's id, its token and its server's URL in each line.  ``injected`` there gets
a line for each input that is injected: the machine's id and the place.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

from machine_client.credentials import Credentials
from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.journal.file import JournalFile
from machine_client.journal.journal import Journal
from machine_client.link.connection import MachineClient
from machine_client.settings import MachineSettings
from machine_client.system import event_loop
from machine_client.work.clipboard import MachineClipboard
from schemas.inputs.bodies import AnyInput, MoveMouse
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import Display
from tests.faults.inputs import HEIGHT, WIDTH

TOKENS, INJECTED = "tokens", "injected"


class NotingInjector:
    """Notes every motion of a machine's pointer, at once and for good."""

    injected = 0
    effect: Effect = "happened"
    is_lost = False

    def __init__(self, machine_id: str, notes: int) -> None:
        self._machine_id = machine_id
        self._notes = notes

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        assert isinstance(body, MoveMouse)
        place = Point(x=body.x, y=body.y)

        def inject() -> Point:
            os.write(self._notes, f"{self._machine_id} {place.x} {place.y}\n".encode())
            return place

        return inject

    is_interrupted = False

    def pause(self, seconds: float) -> None: ...

    def release(self, body: AnyInput) -> None: ...

    def pointer(self) -> Point:
        return Point(x=0, y=0)

    def interrupt(self) -> None: ...

    def release_all(self) -> None: ...

    def take_released(self) -> None:
        """Nothing was."""

    def displays(self) -> list[Display]:
        return [Display(x=0, y=0, width=WIDTH, height=HEIGHT)]

    def close(self) -> None: ...


async def join(directory: Path) -> None:
    """Stay connected with all of them."""
    notes = os.open(directory / INJECTED, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    lines = (directory / TOKENS).read_text().splitlines()
    await asyncio.gather(*(_client(directory, notes, *line.split()).run() for line in lines))


def _client(directory: Path, notes: int, machine_id: str, token: str, url: str) -> MachineClient:
    state = directory / machine_id
    state.mkdir(exist_ok=True)
    settings = MachineSettings(server=url, token=token, state_dir=state, screen=False)
    journal = Journal(JournalFile(settings.journal_file))
    clipboard = MachineClipboard(UnavailableDesktop("there is none"), None, read=False, write=False)
    return MachineClient(
        settings, Credentials(token), journal, lambda: NotingInjector(machine_id, notes), clipboard
    )


if __name__ == "__main__":
    event_loop.run(join(Path(sys.argv[1])))
