"""Numbers of characters, beside a table of somebody else's."""

import importlib.util
from pathlib import Path

import pytest

from machine_client.desktop.vnc.keysyms import (
    _older_keysyms,
    keysym_of,
    needs_shift,
    with_shift,
)


def pynputs_table() -> dict[str, set[int]]:
    """By character; read from its file, as pynput itself cannot be imported without a display."""
    package = importlib.util.find_spec("pynput")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).parent / "_util" / "xorg_keysyms.py"
    spec = importlib.util.spec_from_file_location("xorg_keysyms", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table: dict[str, set[int]] = {}
    for number, character in module.SYMBOLS.values():
        if character is not None:
            table.setdefault(character, set()).add(number)
    return table


def test_older_numbers_are_those_that_everybody_has() -> None:
    table = pynputs_table()
    older = _older_keysyms()
    assert len(older) > 400
    wrong = {each for each, keysym in older.items() if keysym not in table.get(each, set())}
    assert wrong == set()


@pytest.mark.parametrize(
    ("character", "number"),
    [
        *(("a", 0x61), ("é", 0xE9), ("ж", 0x6D6), ("€", 0x20AC), ("ł", 0x1B3), ("Σ", 0x7D2)),
        *(("ア", 0x4B1), ("漢", 0x1006F22), ("😀", 0x101F600), ("\x80", 0x1000080)),
    ],
)
def test_character_has_its_number(character: str, number: int) -> None:
    assert keysym_of(character) == number


def test_shift_is_for_capitals_and_for_what_is_above_a_sign() -> None:
    assert [each for each in "aA1!жЖ漢ß€@" if needs_shift(each)] == ["A", "!", "Ж", "@"]
    assert [with_shift(each) for each in "a1жß漢A"] == ["A", "!", "Ж", "ß", "漢", "A"]
