import time
from dataclasses import dataclass

from server.web.bodies.body_room import BodyRoom


@dataclass(eq=False)
class Pending:
    is_closed: bool = False

    def close(self) -> None:
        self.is_closed = True


def test_room_is_for_all_together() -> None:
    room = BodyRoom(most=10)
    assert room.fits(10)
    room.taken = 4
    assert room.fits(6)
    assert not room.fits(7)


def test_only_what_is_overdue_is_closed() -> None:
    now = time.monotonic()
    old, new = Pending(), Pending()
    room = BodyRoom(most=0, arriving={old: now - 61, new: now - 1})
    room.close_overdue(60)
    assert (old.is_closed, new.is_closed) == (True, False)
