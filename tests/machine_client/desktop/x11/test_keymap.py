"""Which key makes a symbol, on keyboards made up for it."""

from machine_client.desktop.x11.keymap import Keymap, Stroke
from machine_client.desktop.x11.xkb import KeyDescription, KeyGroup, KeyType, LevelEntry

SHIFT, LOCK, NUM, LEVEL3 = 1, 2, 16, 128
ONE = KeyType(0, ())
TWO = KeyType(SHIFT, (LevelEntry(SHIFT, 1),))
FOUR = KeyType(
    SHIFT | LEVEL3,
    (LevelEntry(SHIFT, 1), LevelEntry(LEVEL3, 2), LevelEntry(SHIFT | LEVEL3, 3)),
)
KEYPAD = KeyType(SHIFT | NUM, (LevelEntry(SHIFT, 1), LevelEntry(NUM, 1)))
A, B, KP_1, KP_END = 0x61, 0x62, 0xFFB1, 0xFF9C

SHIFT_KEY = KeyDescription(50, (KeyGroup(ONE, (0xFFE1,), SHIFT),))
LEVEL3_KEY = KeyDescription(92, (KeyGroup(ONE, (0xFE03,), LEVEL3),))


def key(keycode: int, kind: KeyType, *symbols: int) -> KeyDescription:
    return KeyDescription(keycode, (KeyGroup(kind, symbols),))


def test_the_lowest_level_wins_then_the_lowest_keycode() -> None:
    keys = [SHIFT_KEY, key(20, TWO, B, A), key(31, ONE, A), key(30, ONE, A)]
    assert Keymap(keys, 0).find(A) == Stroke(30)


def test_a_common_key_wins_over_a_rare_one() -> None:
    keys = [SHIFT_KEY, key(187, ONE, A), key(20, TWO, B, A)]
    assert Keymap(keys, 0).find(A) == Stroke(20, held=SHIFT, watched=SHIFT)


def test_the_first_of_several_keysyms_that_exists_is_found() -> None:
    assert Keymap([key(20, ONE, A)], 0).find(B, A) == Stroke(20)
    assert Keymap([key(20, ONE, A)], 0).find(B) is None


def test_a_level_that_no_key_reaches_does_not_exist() -> None:
    keys = [SHIFT_KEY, key(20, FOUR, 1, 2, A, B)]
    assert Keymap(keys, 0).find(A) is None
    keymap = Keymap([*keys, LEVEL3_KEY], 0)
    assert keymap.find(B) == Stroke(20, held=SHIFT | LEVEL3, watched=SHIFT | LEVEL3)
    assert keymap.level_keys(SHIFT | LEVEL3) == (50, 92)
    assert keymap.level_keys(LEVEL3) == (92,)


def test_digits_of_the_keypad_lock_num_lock_and_hold_nothing() -> None:
    keymap = Keymap([SHIFT_KEY, key(87, KEYPAD, KP_END, KP_1)], 0)
    assert keymap.find(KP_1) == Stroke(87, locked=NUM, watched=SHIFT | NUM)
    assert keymap.find(KP_END) == Stroke(87, watched=SHIFT | NUM)


def test_a_group_that_a_key_lacks_wraps_clamps_or_is_named() -> None:
    groups = (KeyGroup(ONE, (A,)), KeyGroup(ONE, (B,)))
    wraps, clamps, names = (
        KeyDescription(20, groups, info) for info in (0x02, 0x42, 0x02 | 0x80 | 0x10)
    )
    assert [Keymap([wraps], group).symbol(20) for group in range(4)] == [A, B, A, B]
    assert [Keymap([clamps], group).symbol(20) for group in range(4)] == [A, B, B, B]
    assert [Keymap([names], group).symbol(20) for group in range(4)] == [A, B, B, B]
    assert Keymap([KeyDescription(20, ())], 1).symbol(20) == 0


def test_only_keys_without_any_meaning_are_lendable_from_the_top() -> None:
    keys = [
        KeyDescription(8, ()),
        KeyDescription(90, ()),
        key(93, ONE, 0),
        key(94, TWO, 0, A),
        KeyDescription(95, (KeyGroup(ONE, (0,), holds=SHIFT),)),
        KeyDescription(248, ()),
    ]
    assert Keymap(keys, 0).lendable == (248, 93, 90)
