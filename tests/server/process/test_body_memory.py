import time
from dataclasses import dataclass

from server.process.body_memory import BodyMemory


@dataclass(eq=False)
class Pending:
    is_closed: bool = False

    def close(self) -> None:
        self.is_closed = True


def test_room_is_for_all_together() -> None:
    memory = BodyMemory(limit=10)
    assert memory.fits(10)
    memory.used = 4
    assert memory.fits(6)
    assert not memory.fits(7)


def test_only_what_is_overdue_is_closed() -> None:
    now = time.monotonic()
    old, new = Pending(), Pending()
    memory = BodyMemory(limit=0, receiving={old: now - 61, new: now - 1})
    memory.close_slow(60)
    assert (old.is_closed, new.is_closed) == (True, False)
