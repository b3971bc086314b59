"""What is typed on a real X server, as a witness there and a real program see it."""

from typing import Any

import pytest
import Xlib.display

from machine_client.desktop.x11 import borrowed
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.work.injector import DesktopInjector, InjectionFailed, Refusal
from schemas.inputs.bodies import MoveMouse, PressKeys, TypeText
from tests.desktop import (
    Terminal,
    Witness,
    set_layout,
    tap_keycode,
    virtual_display,
)
from tests.held import keyboard_map
from tests.machine_client.desktop.x11.typed import (
    ALTGR,
    MENU_KEYCODE,
    SHIFT,
    modifiers,
    press,
    presses,
    received,
    told,
    type_characters,
)

TEXTS = {
    "letters": "zyZYaqAQwm",
    "digits": "0123456789",
    "signs": "@€{}[]\\|~^`'\"#+-*/<>;:,.!?$%&()=_",
    "accents": "ßéäöüàçñêÄÉ",
    "elsewhere": "жЖ漢字😀→™αω",
}


@pytest.mark.parametrize("layout", ["us", "de", "fr", "ru", "gr"])
def test_every_character_is_typed_as_itself_on_every_layout(
    injector: DesktopInjector, terminal: Terminal, display: str, layout: str
) -> None:
    set_layout(display, layout)
    for text in TEXTS.values():
        type_characters(injector, text)
        assert received(injector, terminal) == text


def test_more_new_characters_than_there_are_unused_keys(
    injector: DesktopInjector, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine, the terminal has read a character before its key is lent anew.
    monkeypatch.setattr(borrowed, "_SETTLING_SECONDS", 1.0)
    text = "".join(chr(code) for code in range(0x4E00, 0x4E00 + 40))
    type_characters(injector, text)
    assert received(injector, terminal) == text


def test_each_character_alone_while_the_layout_changes_under_it(
    injector: DesktopInjector, terminal: Terminal, display: str
) -> None:
    for layout in ("us", "de", "us", "fr", "ru"):
        set_layout(display, layout)
        for character in "z漢@":
            press(injector, character)
            assert received(injector, terminal) == character


@pytest.mark.parametrize(
    ("text", "bytes_received"),
    [
        ("ctrl+c", "\x03"),
        ("ctrl+d ctrl+z", "\x04\x1a"),
        ("enter", "\r"),
        ("tab", "\t"),
        ("shift+tab", "\x1b[Z"),
        ("esc", "\x1b"),
        ("up down right left", "\x1b[A\x1b[B\x1b[C\x1b[D"),
        ("ctrl+right", "\x1b[1;5C"),
        ("delete", "\x1b[3~"),
        ("f5 f12", "\x1b[15~\x1b[24~"),
        ("kp_7 kp_add", "7+"),
        ("shift+a", "A"),
        ("shift+ж", "Ж"),
        ("ctrl++", "+"),
    ],
)
def test_a_real_program_understands_named_keys_and_chords(
    injector: DesktopInjector, terminal: Terminal, text: str, bytes_received: str
) -> None:
    press(injector, text)
    assert received(injector, terminal) == bytes_received


@pytest.mark.parametrize(
    ("layout", "character", "keys"),
    [
        ("us", "@", [(50, 0), (11, SHIFT)]),
        ("us", "(", [(50, 0), (18, SHIFT)]),
        ("us", "y", [(29, 0)]),
        ("de", "z", [(29, 0)]),
        ("de", "@", [(92, 0), (24, ALTGR)]),
        ("de", "€", [(92, 0), (26, ALTGR)]),
        ("fr", "1", [(50, 0), (10, SHIFT)]),
        ("fr", "&", [(10, 0)]),
    ],
)
def test_a_character_of_the_layout_is_typed_by_its_own_key(
    injector: DesktopInjector,
    witness: Witness,
    display: str,
    layout: str,
    character: str,
    keys: Any,
) -> None:
    set_layout(display, layout)
    witness.take()
    press(injector, character)
    assert presses(witness) == keys


def test_a_level_that_a_held_key_reaches_already_needs_no_other_key(
    injector: DesktopInjector, witness: Witness
) -> None:
    press(injector, "right_shift", down=True)
    press(injector, "A")
    assert presses(witness) == [(62, 0), (38, SHIFT)]


@pytest.mark.parametrize(
    ("held", "typed", "events"),
    [
        ("a", "A", ["Press 50", "Release 38", "Press 38", "Release 50"]),
        ("A", "a", ["Release 50", "Release 38", "Press 38"]),
        ("a", "ctrl+a", ["Press 37", "Release 38", "Press 38", "Release 37"]),
        ("ctrl", "ctrl", ["Release 37", "Press 37"]),
        ("ctrl", "ctrl+a", ["Press 38", "Release 38"]),
    ],
)
def test_nothing_is_typed_without_a_press_whatever_we_hold(
    injector: DesktopInjector, witness: Witness, held: str, typed: str, events: list[str]
) -> None:
    press(injector, held, down=True)
    before = witness.take()
    press(injector, typed)
    assert told(witness) == [f"Key{event}" for event in events]
    assert injector.injected == len(events)
    press(injector, held, down=False)
    # What reached the level of a held character is gone where another one must not have it.
    lifted = events.count("Release 50") - events.count("Press 50")
    assert len(told(witness)) == len(before) - lifted


def test_key_that_goes_down_before_the_last_one_is_up_is_itself(
    injector: DesktopInjector, witness: Witness
) -> None:
    for name, down in [("A", True), ("b", True), ("A", False), ("!", True), ("b", False)]:
        press(injector, name, down=down)
    assert presses(witness) == [(50, 0), (38, SHIFT), (56, 0), (50, 0), (10, SHIFT)]
    for name, down in [("left", True), ("!", False), ("left", False)]:
        press(injector, name, down=down)
    assert presses(witness) == [(113, 0)]
    # What somebody presses on purpose stays, however many characters need it.
    for name, down in [("shift", True), ("A", True), ("A", False), ("b", True), ("b", False)]:
        press(injector, name, down=down)
    assert presses(witness) == [(50, 0), (38, SHIFT), (56, SHIFT)]
    press(injector, "shift", down=False)


def test_a_key_that_we_hold_under_another_name_is_released(
    injector: DesktopInjector, witness: Witness
) -> None:
    press(injector, "A", down=True)
    witness.take()
    press(injector, "a", down=False)
    assert told(witness) == ["KeyRelease 38", "KeyRelease 50"]


def test_a_held_key_is_released_where_it_was_pressed_though_the_layout_changed(
    injector: DesktopInjector, witness: Witness, display: str
) -> None:
    press(injector, "y", down=True)
    set_layout(display, "de")
    press(injector, "y", down=False)
    assert told(witness) == ["KeyPress 29", "KeyRelease 29"]


def test_the_active_group_of_two_layouts_is_the_one_that_counts(
    injector: DesktopInjector, terminal: Terminal, witness: Witness, display: str
) -> None:
    set_layout(display, "us,ru", option="grp:menu_toggle")
    tap_keycode(display, MENU_KEYCODE)
    try:
        assert modifiers(display) >> 13 & 3 == 1
        press(injector, "ж a Ж A")
        assert received(injector, terminal) == "жaЖA"
        witness.take()
        press(injector, "ж")
        assert presses(witness) == [(47, 1 << 13)]
    finally:
        tap_keycode(display, MENU_KEYCODE)


def test_what_was_lent_on_the_keyboard_is_put_back(injector: DesktopInjector, display: str) -> None:
    before = keyboard_map(display)
    press(injector, "漢 Ж")
    assert keyboard_map(display) != before
    injector.release_all()
    assert keyboard_map(display) == before


def test_a_lent_key_that_another_layout_took_is_not_put_back(
    injector: DesktopInjector, display: str
) -> None:
    press(injector, "漢")
    set_layout(display, "de")
    before = keyboard_map(display)
    press(injector, "x")
    injector.release_all()
    assert keyboard_map(display) == before


def test_a_character_without_any_key_left_is_refused_before_any_event() -> None:
    with virtual_display() as display:
        connection: Any = Xlib.display.Display(display)
        for keycode, keysyms in enumerate(connection.get_keyboard_mapping(8, 248), 8):
            if not any(keysyms):
                connection.change_keyboard_mapping(keycode, [[0x6F2, 0x6F2]])
        connection.sync()
        witness = Witness(display)
        injector = DesktopInjector(X11Desktop(display))
        with pytest.raises(Refusal) as caught:
            injector.prepare(PressKeys(text="a 漢"))
        assert caught.value.outcome.code == "character_not_typeable"
        assert caught.value.outcome.loc == ("body", "text")
        assert caught.value.outcome.ctx == {"key": "漢"}
        with pytest.raises(Refusal) as caught:
            injector.prepare(TypeText(text="secret 漢"))
        assert caught.value.outcome.code == "character_not_typeable"
        assert caught.value.outcome.ctx == {"position": 8}
        assert "漢" not in caught.value.outcome.message
        press(injector, "a")
        assert told(witness) == ["KeyPress 38", "KeyRelease 38"]
        injector.close()
        witness.close()
        connection.close()


def test_a_modifier_that_the_keyboard_lacks_is_refused(
    injector: DesktopInjector, display: str
) -> None:
    set_layout(display, "de")
    with pytest.raises(Refusal) as caught:
        injector.prepare(PressKeys(text="alt_r+x"))
    assert caught.value.outcome.code == "key_not_typeable"
    assert caught.value.outcome.ctx == {"key": "alt_r"}


def test_a_text_that_fails_on_its_way_is_not_told(
    injector: DesktopInjector, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = injector.prepare(TypeText(text="a漢"))
    desktop: Any = injector._input
    monkeypatch.setattr(desktop._keyboard._borrowed, "lend", lambda *_: False)
    with pytest.raises(InjectionFailed) as caught:
        begin()
    assert caught.value.code == "character_not_typeable"
    assert "漢" not in caught.value.message


def test_what_a_failed_command_pressed_is_released(
    injector: DesktopInjector, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check and the press, somebody takes the key that the second half needs."""
    press(injector, "shift", down=True)
    witness.take()
    for down in (None, True):
        begin = injector.prepare(PressKeys(text="ctrl+a alt+漢", down=down))
        desktop: Any = injector._input
        monkeypatch.setattr(desktop._keyboard._borrowed, "lend", lambda *_: False)
        with pytest.raises(InjectionFailed) as caught:
            begin()
        assert caught.value.code == "character_not_typeable"
        events = told(witness)
        assert events.count("KeyPress 37") == events.count("KeyRelease 37") == 1
        assert events.count("KeyPress 64") == events.count("KeyRelease 64")
        monkeypatch.undo()
        injector.prepare(MoveMouse(x=30, y=30))
    injector.release_all()
    assert told(witness) == ["KeyRelease 50"]
