"""X's numbers for characters."""

from machine_client.desktop.x11.keysyms import CharacterKeysyms

KEYSYMS = CharacterKeysyms(
    {
        "Cyrillic_zhe": (0x6D6, "ж"),
        "Cyrillic_ZHE": (0x6F6, "Ж"),
        "dead_circumflex": (0xFE52, "\u0302"),
        "KP_0": (0xFFB0, None),
        "U2192": (0x1002192, "→"),
    }
)


def test_latin_1_is_its_own_number() -> None:
    assert KEYSYMS.of("a") == (0x61,)
    assert KEYSYMS.of("é") == (0xE9,)


def test_older_numbers_come_before_unicode_ones() -> None:
    assert KEYSYMS.of("ж") == (0x6D6, 0x1000436)
    assert KEYSYMS.of("→") == (0x1002192,)
    assert KEYSYMS.of("😀") == (0x101F600,)


def test_a_dead_key_is_not_the_character_that_it_adds() -> None:
    assert KEYSYMS.of("\u0302") == (0x1000302,)


def test_a_letter_shares_a_key_with_its_other_case_and_nothing_else_does() -> None:
    assert KEYSYMS.pair("ж") == KEYSYMS.pair("Ж") == (0x6D6, 0x6F6)
    assert KEYSYMS.pair("漢") == (0x1006F22, 0x1006F22)
    assert KEYSYMS.pair("ß") == (0xDF, 0xDF)
    assert KEYSYMS.pair("ẞ") == (0x1001E9E, 0x1001E9E)
    assert KEYSYMS.pair("\u0131") == (0x1000131, 0x1000131)
