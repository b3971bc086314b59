"""The keymap of our own, as libxkbcommon understands it."""

import os

from machine_client.desktop.wayland.keymap import (
    HELD_BY,
    LENDABLE,
    LOCKED_BY,
    SHIFT,
    SHIFT_CODE,
    fixed_stroke,
    keymap_text,
)
from schemas.inputs.key_combinations import KEY_TABLE, Key
from tests.machine_client.desktop.key_names import KEY_NAMES
from tests.machine_client.desktop.wayland.xkb import KeyboardState, keysym_from_name


def understood(text: bytes) -> KeyboardState:
    file = os.memfd_create("keymap")
    try:
        os.write(file, text)
        return KeyboardState(file, len(text))
    finally:
        os.close(file)


def test_every_named_key_has_its_symbol() -> None:
    keyboard = understood(keymap_text({}))
    for named in KEY_TABLE:
        if named.character is None:
            stroke = fixed_stroke(Key(named.name))
            assert stroke is not None
            symbol = keysym_from_name(KEY_NAMES[named.name].replace("XF86_", "XF86"))
            assert keyboard.symbols(stroke.code)[0] == symbol, named.name
    keyboard.close()


def test_every_character_of_an_ordinary_keyboard_is_on_it() -> None:
    keyboard = understood(keymap_text({}))
    for character in map(chr, range(0x20, 0x7F)):
        stroke = fixed_stroke(Key(character, is_character=True))
        assert stroke is not None
        keyboard.set_modifiers(SHIFT if stroke.shifted else 0, 0, 0, 0)
        assert keyboard.text(stroke.code) == character
    assert fixed_stroke(Key("é", is_character=True)) is None
    keyboard.close()


def test_all_that_can_be_lent_makes_what_it_is_lent_to() -> None:
    assert len(LENDABLE) > 100
    lent = {code: (chr(0x4E00 + code),) * 2 for code in LENDABLE[:-1]}
    lent[LENDABLE[-1]] = ("ж", "Ж")
    pairs = {code: (first, second) for code, (first, second) in lent.items()}
    keyboard = understood(keymap_text(pairs))
    for modifiers, place in ((0, 0), (SHIFT, 1)):
        keyboard.set_modifiers(modifiers, 0, 0, 0)
        assert {code: keyboard.text(code) for code in pairs} == {
            code: pair[place] for code, pair in pairs.items()
        }
    keyboard.close()


def test_modifiers_are_those_that_programs_know() -> None:
    assert HELD_BY[SHIFT_CODE] == SHIFT
    assert sorted(HELD_BY.values()) == [1, 1, 4, 4, 8, 8, 64, 64, 128]
    assert sorted(LOCKED_BY.values()) == [2, 16]
