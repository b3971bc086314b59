"""Which unused key is lent next, and when it may be taken back."""

from typing import Any

import pytest

from machine_client.desktop.x11 import borrowed
from machine_client.desktop.x11.borrowed import BorrowedKeys
from machine_client.desktop.x11.xkb import KeyDescription, KeyGroup, KeyType


class Keyboard:
    """Notes what is mapped, and when."""

    def __init__(self, clock: "Clock") -> None:
        self.lent: dict[int, tuple[int, int]] = {}
        self.mapped: list[tuple[float, int, int, int]] = []
        self._clock = clock

    def change_key(self, keycode: int, without_shift: int, with_shift: int) -> None:
        self.mapped.append((self._clock.now, keycode, without_shift, with_shift))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(borrowed, "time", clock)
    monkeypatch.setattr(borrowed, "_SETTLING_SECONDS", 1.0)
    return clock


@pytest.fixture
def keyboard(clock: Clock) -> Any:
    return Keyboard(clock)


def test_a_free_key_is_lent_before_one_is_lent_anew(clock: Clock, keyboard: Any) -> None:
    keys = BorrowedKeys(keyboard)
    assert keys.lend((1, 2), unused=(248, 230), busy=())
    assert keys.lend((3, 3), unused=(230,), busy=())
    assert keyboard.mapped == [(0, 248, 1, 2), (0, 230, 3, 3)]
    assert 248 in keys
    assert 9 not in keys


def test_the_key_unused_for_longest_is_lent_anew_once_it_has_settled(
    clock: Clock, keyboard: Any
) -> None:
    keys = BorrowedKeys(keyboard)
    keys.lend((1, 1), unused=(248,), busy=())
    keys.lend((2, 2), unused=(230,), busy=())
    clock.now = 0.5
    keys.note_use(248)
    clock.now = 0.75
    assert keys.lend((3, 3), unused=(), busy=())
    assert keys.lend((4, 4), unused=(), busy=())
    assert keyboard.mapped[2:] == [(1.0, 230, 3, 3), (1.5, 248, 4, 4)]


def test_a_key_that_is_down_is_never_lent_anew(clock: Clock, keyboard: Any) -> None:
    keys = BorrowedKeys(keyboard)
    assert not keys.lend((1, 1), unused=(), busy=())
    keys.lend((1, 1), unused=(248,), busy=())
    assert not keys.lend((2, 2), unused=(), busy=(248,))
    assert keys.available(unused=(230, 229), busy=(248,)) == 2
    assert keys.available(unused=(230, 229), busy=()) == 3


def test_giving_back_waits_until_the_last_use_has_settled(clock: Clock, keyboard: Any) -> None:
    keys = BorrowedKeys(keyboard)
    keys.lend((1, 2), unused=(248,), busy=())
    keys.give_back()
    assert keyboard.mapped[1:] == [(1.0, 248, 0, 0)]
    keys.give_back()
    assert len(keyboard.mapped) == 2


def test_what_a_client_that_died_has_lent_is_given_back_as_ones_own(
    clock: Clock, keyboard: Any
) -> None:
    keyboard.lent[248] = (1, 2)
    keys = BorrowedKeys(keyboard)
    assert 248 in keys
    keys.give_back()
    assert keyboard.mapped == [(1.0, 248, 0, 0)]
    assert keyboard.lent == {}


def test_a_key_is_on_record_before_it_is_mapped(clock: Clock, keyboard: Any) -> None:
    on_record: list[dict[int, tuple[int, int]]] = []
    keyboard.change_key = lambda *_: on_record.append(dict(keyboard.lent))
    keys = BorrowedKeys(keyboard)
    keys.lend((1, 2), unused=(248,), busy=())
    keys.give_back()
    assert on_record == [{248: (1, 2)}, {248: (1, 2)}]


def test_a_key_that_somebody_else_mapped_is_theirs(clock: Clock, keyboard: Any) -> None:
    keys = BorrowedKeys(keyboard)
    for keycode in (248, 230, 229):
        keys.lend((keycode, keycode), unused=(keycode,), busy=())
    kind = KeyType(0, ())
    keys.forget_overwritten(
        {
            248: KeyDescription(248, (KeyGroup(kind, (248,)),)),
            230: KeyDescription(230, (KeyGroup(kind, (99,)),)),
            229: KeyDescription(229, ()),
        }
    )
    keys.give_back()
    assert [keycode for _, keycode, symbol, _ in keyboard.mapped if not symbol] == [248]
