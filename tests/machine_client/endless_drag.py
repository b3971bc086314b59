"""A process whose desktop never ends a drag: the journal is noted as the connection would.

``python -m tests.machine_client.endless_drag JOURNAL COMMAND`` prints, again and again, how many
events the desktop had surely taken before the journal was last noted.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from uuid import UUID

from machine_client.screen.eyes import ScreenEyes
from machine_client.system.clock import boottime_seconds
from machine_client.work.executor import Executor
from machine_client.work.orders import BeginCommand, ExecutorResult, JournalMarked, MarkJournal
from schemas.inputs.bodies import AnyInput, Operation
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import Display, Input
from tests.links import LINK_ID
from tests.machine_client.journals import journal_in


class EndlessInjector:
    """Injects an event each millisecond, for ever."""

    effect: Effect = "happened"
    is_lost = False

    def __init__(self) -> None:
        self.injected = 0

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        def inject() -> Point:
            while True:
                self.injected += 1
                time.sleep(0.001)

        return inject

    is_interrupted = False

    def pause(self, seconds: float) -> None: ...

    def release(self, body: AnyInput) -> None: ...

    def pointer(self) -> Point:
        return Point(x=0, y=0)

    def interrupt(self) -> None: ...

    def release_all(self) -> None: ...

    def take_released(self) -> None: ...

    def displays(self) -> list[Display]:
        return []

    def close(self) -> None: ...


def main(file: Path, command_id: UUID) -> None:
    """Begin the drag, and note and tell its progress until somebody ends this process."""
    desktop = EndlessInjector()
    counts: SimpleQueue[int] = SimpleQueue()

    def report(ended: ExecutorResult) -> None:
        # Each mark was made after the progress that was asked for before it, by the same thread.
        assert isinstance(ended, JournalMarked)
        print(counts.get(), flush=True)

    executor = Executor(journal_in(file), desktop, ScreenEyes(None, lambda _: None), report)
    drag = Input(
        link_id=LINK_ID,
        command_id=command_id,
        operation=Operation.MOUSE_DRAG,
        body={"start_x": 0, "start_y": 0, "to_x": 9, "to_y": 9},
        fingerprint="f",
        expires_at=0,
        server_time=0,
    )
    executor.submit(BeginCommand(drag, boottime_seconds() + 60))
    while True:
        counts.put(desktop.injected)
        executor.note_progress()
        executor.submit(MarkJournal())
        time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]), UUID(sys.argv[2]))
