"""Long texts go piece by piece, and to nobody who does not take them."""

from typing import Any

import pytest
from Xlib import Xatom

from machine_client.desktop.x11.clipboard.selections import AT_ONCE_BYTES
from machine_client.desktop.x11.clipboard.transfers import (
    MOST_TRANSFERS,
    PATIENCE_SECONDS,
    Transfers,
)
from tests.clock import Clock

INCR = 99
PLACE = 7


class Window:
    """Notes what is put into its properties."""

    def __init__(self, number: int = 1) -> None:
        self.id = number
        self.put: list[tuple[int, Any]] = []
        self.masks: list[int] = []

    def change_attributes(self, *, event_mask: int) -> None:
        self.masks.append(event_mask)

    def change_property(self, _property: int, type_: int, _format: int, value: Any) -> None:
        self.put.append((type_, value))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def transfers(clock: Clock) -> Transfers:
    return Transfers(INCR, clock)


def test_each_piece_follows_when_the_one_before_is_taken(transfers: Transfers) -> None:
    window, content = Window(), b"a" * AT_ONCE_BYTES + b"b"
    assert transfers.begin(window, PLACE, Xatom.STRING, content)
    assert window.put == [(INCR, [len(content)])]
    for _ in range(3):
        transfers.taken(window.id, PLACE)
    pieces = [(Xatom.STRING, piece) for piece in (content[:-1], b"b", b"")]
    assert window.put[1:] == pieces
    assert len(transfers) == 1
    transfers.taken(window.id, PLACE)
    assert len(transfers) == 0
    assert window.put[1:] == pieces
    assert window.masks[-1] == 0


def test_what_nobody_waits_for_is_nothing(transfers: Transfers) -> None:
    transfers.taken(1, PLACE)
    window = Window()
    transfers.begin(window, PLACE, Xatom.STRING, b"a")
    transfers.taken(window.id, PLACE + 1)
    assert len(window.put) == 1


def test_who_takes_nothing_is_given_up(transfers: Transfers, clock: Clock) -> None:
    slow, quick = Window(1), Window(2)
    transfers.begin(slow, PLACE, Xatom.STRING, b"a" * 100)
    transfers.begin(quick, PLACE, Xatom.STRING, b"a" * 100)
    clock.now = PATIENCE_SECONDS - 1
    transfers.taken(quick.id, PLACE)
    clock.now = PATIENCE_SECONDS
    transfers.forget_late()
    assert len(transfers) == 1
    transfers.taken(slow.id, PLACE)
    assert len(slow.put) == 1


def test_only_so_many_at_once(transfers: Transfers, clock: Clock) -> None:
    for number in range(MOST_TRANSFERS):
        assert transfers.begin(Window(number), PLACE, Xatom.STRING, b"a")
    assert not transfers.begin(Window(-1), PLACE, Xatom.STRING, b"a")
    assert transfers.begin(Window(0), PLACE, Xatom.STRING, b"b")
    clock.now = PATIENCE_SECONDS
    assert transfers.begin(Window(-1), PLACE, Xatom.STRING, b"a")
