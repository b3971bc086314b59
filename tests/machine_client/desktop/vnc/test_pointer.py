"""What a VNC server is told of the pointer."""

from machine_client.desktop.vnc.pointer import Place, Pointer


class Told:
    def __init__(self) -> None:
        self.events: list[tuple[int, int, int]] = []
        self.counted = 0
        self.place = Place()
        self.pointer = Pointer(self.take, lambda: None, self.place, (5, 6))

    def take(self, event: bytes, happens: bool) -> None:
        self.events.append((event[1], int.from_bytes(event[2:4], "big"), event[5]))
        self.counted += happens


def test_every_event_says_place_and_buttons() -> None:
    told = Told()
    told.pointer.press("left")
    told.pointer.move(300, 7)
    told.pointer.press("right")
    told.pointer.scroll("down")
    told.pointer.release("left")
    told.pointer.release("middle")
    told.pointer.release_all()
    assert told.events == [
        *((1, 5, 6), (1, 300, 7), (5, 300, 7), (21, 300, 7), (5, 300, 7)),
        *((4, 300, 7), (0, 300, 7)),
    ]
    assert told.counted == 7
    assert told.place.is_at == told.pointer.at == (300, 7)


def test_what_changes_nothing_is_said_and_not_counted() -> None:
    told = Told()
    told.pointer.move(5, 6)
    told.pointer.release_unseen()
    assert (len(told.events), told.counted) == (2, 0)


def test_place_that_the_server_tells_counts() -> None:
    told = Told()
    told.pointer.is_told((9, 8))
    told.pointer.press("left")
    assert told.events == [(1, 9, 8)]
    assert told.place.is_at == (9, 8)
