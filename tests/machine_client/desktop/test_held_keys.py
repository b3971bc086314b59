"""What goes down and up for keys that share codes, and for those that are held already."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from machine_client.desktop.held_keys import HeldKeys
from schemas.inputs.key_combinations import Chord, Key, parse_combination

SHIFT, A, B = 1, 10, 11
SMALL, LARGE, OTHER, SHIFT_KEY = (
    parse_combination(name)[0].keys[0] for name in ("a", "A", "b", "shift")
)
SHIFT_B = Chord((SHIFT_KEY,), OTHER)
CODES = {SMALL: (A,), LARGE: (SHIFT, A), OTHER: (B,), SHIFT_KEY: (SHIFT,)}


class Board:
    """Tells what happens on it, and breaks at a press of ``broken``."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.broken = 0
        self.held = HeldKeys(self, lambda code: int(code == SHIFT))

    def press_key(self, code: int) -> None:
        self.seen.append(f"+{code}")
        if code == self.broken:
            raise BrokenPipeError

    def press_key_again(self, code: int) -> None:
        self.seen.append(f"~{code}")

    def release_key(self, code: int) -> None:
        self.seen.append(f"-{code}")

    def press(self, *keys: Key) -> None:
        for key in keys:
            self.held.press(key, CODES[key])

    def take(self) -> str:
        seen, self.seen = " ".join(self.seen), []
        return seen


@pytest.fixture
def board() -> Board:
    return Board()


def test_code_of_several_keys_goes_down_once_and_up_with_the_last(board: Board) -> None:
    board.press(SHIFT_KEY, LARGE)
    assert board.take() == "+1 +10"
    assert board.held.modifiers == 1
    board.press(SMALL)
    assert board.take() == "~10"
    board.held.let_go([SHIFT_KEY, LARGE])
    assert board.take() == "-1"
    assert (board.held.modifiers, LARGE in board.held, SMALL in board.held) == (0, False, True)
    board.held.let_go_all()
    assert board.take() == "-10"
    assert not board.held.down


def test_key_is_released_under_another_name_of_its_code(board: Board) -> None:
    board.press(LARGE, OTHER)
    board.held.release(SMALL, None)
    board.held.release(SMALL, 99)
    assert board.take() == "+1 +10 +11"
    board.held.release(SMALL, A)
    assert board.take() == "-10 -1"
    # And the key itself before any other that is on its code.
    board.press(SMALL, LARGE)
    board.held.release(LARGE, A)
    assert SMALL in board.held


def test_level_of_a_held_character_is_lifted_for_the_next_and_a_held_modifier_is_not(
    board: Board,
) -> None:
    board.press(LARGE)
    board.take()
    board.held.lift_levels(1)
    assert board.take() == ""
    board.held.lift_levels(0)
    assert board.take() == "-1"
    board.press(SHIFT_KEY)
    board.held.lift_levels(0)
    assert board.take() == "+1"


def test_chord_leaves_down_what_was_held_and_strikes_its_last_key(board: Board) -> None:
    board.press(SHIFT_KEY)
    board.held.strike(SHIFT_B, board.press)
    assert board.take() == "+1 +11 -11"
    board.press(OTHER)
    assert board.held.fresh([*SHIFT_B.keys, SMALL, SMALL]) == [SMALL]
    board.held.strike(SHIFT_B, board.press)
    assert board.take() == "+11 ~11"
    assert (SHIFT_KEY in board.held, OTHER in board.held) == (True, True)


def test_what_was_pressed_before_something_broke_is_let_go(board: Board) -> None:
    board.broken = B
    with pytest.raises(BrokenPipeError):
        board.held.strike(SHIFT_B, board.press)
    assert board.take() == "+1 +11 -11 -1"
    assert not board.held.down


def test_keys_stay_held_or_none_of_them_is(board: Board) -> None:
    lifted: list[str] = []

    @contextmanager
    def without_locks_for(key: Key) -> Iterator[None]:
        lifted.append(key.name)
        yield

    def hold(*keys: Key) -> None:
        chords = tuple(Chord((), key) for key in keys)
        board.held.hold(chords, board.press, without_locks_for, lambda: board.seen.append("ok"))

    hold(SHIFT_KEY, SMALL, SMALL)
    assert board.take() == "+1 +10 ok"
    hold(SHIFT_KEY, SMALL)
    assert board.take() == "~10 ok"
    assert lifted == ["shift", "a", "shift", "a"]
    board.broken = B
    with pytest.raises(BrokenPipeError):
        hold(SMALL, OTHER)
    assert board.take() == "~10 +11 -11"
    assert SMALL in board.held
    assert OTHER not in board.held
