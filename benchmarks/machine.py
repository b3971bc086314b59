"""A machine client as it is, but for the injection: that takes no time at all."""

import sys
from collections.abc import Callable
from pathlib import Path

from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.journal.file import JournalFile
from machine_client.journal.journal import Journal
from machine_client.link.connection import MachineClient
from machine_client.settings import MachineSettings
from machine_client.system import event_loop
from machine_client.work.clipboard import MachineClipboard
from schemas.inputs.bodies import AnyInput
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import Display


class NoInjector:
    """Claims to have injected everything."""

    injected = 0
    effect: Effect = "happened"
    is_lost = False

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        return lambda: Point(x=0, y=0)

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
        return [Display(x=0, y=0, width=1280, height=800)]

    def close(self) -> None: ...


async def join(server: str, token_file: Path, directory: Path) -> None:
    """Stay joined until the process is ended."""
    settings = MachineSettings(server=server, token_file=token_file, state_dir=directory)
    journal = Journal(JournalFile(settings.journal_file))
    clipboard = MachineClipboard(UnavailableDesktop("there is none"), None, read=False, write=False)
    await MachineClient(settings, settings.read_credentials(), journal, NoInjector, clipboard).run()


if __name__ == "__main__":
    event_loop.run(join(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
