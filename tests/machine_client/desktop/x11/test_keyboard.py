"""What is typed on a real X server, as a witness there and a real program see it."""

import string
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import Xlib.display

from machine_client.desktop.x11 import borrowed
from machine_client.desktop.x11.connection import X11Connection
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.injector import DesktopInjector, InjectionFailed, Refusal
from schemas.inputs.bodies import MoveMouse, PressKeys, TypeText
from schemas.inputs.key_combinations import KEY_TABLE
from tests.desktop import (
    Terminal,
    Witness,
    eventually,
    set_layout,
    somebody_else,
    tap_keycode,
    virtual_display,
)
from tests.machine_client.desktop.x11.somebody import Person, held_by_xdotool, pressed

MENU_KEYCODE = 135
SHIFT, CAPS, CTRL, NUM, ALTGR = 1, 2, 4, 16, 128


@pytest.fixture
def terminal(display: str, tmp_path: Path) -> Iterator[Terminal]:
    with Terminal.open(display, tmp_path) as terminal:
        yield terminal


@pytest.fixture
def injector(display: str) -> Iterator[DesktopInjector]:
    set_layout(display, "us")
    injector = DesktopInjector(X11Desktop(display))
    yield injector
    injector.close()
    assert pressed(display) == (set(), set())
    set_layout(display, "us")


def press(injector: DesktopInjector, text: str, *, down: bool | None = None) -> None:
    injector.prepare(PressKeys(text=text, down=down))()


def type_characters(injector: DesktopInjector, characters: str) -> None:
    press(injector, " ".join("space" if each == " " else each for each in characters))


def received(injector: DesktopInjector, terminal: Terminal) -> str:
    """Everything that the terminal's program got since this was last asked.

    F9 is typed to know where it ends.
    """
    press(injector, "f9")
    return terminal.typed_before("\x1b[20~")


def told(witness: Witness) -> list[str]:
    return [str(event) for event in witness.take()]


def presses(witness: Witness) -> list[tuple[int, int]]:
    """The keycode of each key pressed, with the modifiers in force just before."""
    return [(event.detail, event.state) for event in witness.take() if event.kind == "KeyPress"]


def modifiers(display: str) -> int:
    connection: Any = Xlib.display.Display(display)
    try:
        return int(connection.screen().root.query_pointer().mask)
    finally:
        connection.close()


def keyboard_map(display: str) -> list[tuple[int, ...]]:
    """The core keyboard map, without the empty columns that it keeps once they were needed."""
    connection: Any = Xlib.display.Display(display)
    try:
        rows = connection.get_keyboard_mapping(8, 248)
        return [tuple(keysym for keysym in row if keysym) for row in rows]
    finally:
        connection.close()


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


def test_all_of_ascii_is_typed_as_itself(injector: DesktopInjector, terminal: Terminal) -> None:
    text = "".join(each for each in string.printable if each.isprintable())
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


@pytest.mark.parametrize("layout", ["us", "de", "ru"])
def test_a_text_is_typed_as_it_is_with_its_lines_and_tabs(
    injector: DesktopInjector, terminal: Terminal, display: str, layout: str
) -> None:
    set_layout(display, layout)
    injector.prepare(TypeText(text="ctrl+a  Grüße,\r\n\tan 漢字 & Жанну!\n"))()
    assert received(injector, terminal) == "ctrl+a  Grüße,\r\tan 漢字 & Жанну!\r"


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


def test_a_chord_goes_down_in_order_and_up_in_reverse(
    injector: DesktopInjector, witness: Witness
) -> None:
    press(injector, "ctrl+alt+A")
    assert told(witness) == [
        *("KeyPress 37", "KeyPress 64", "KeyPress 50", "KeyPress 38"),
        *("KeyRelease 38", "KeyRelease 50", "KeyRelease 64", "KeyRelease 37"),
    ]


def test_keys_that_we_hold_count_and_stay_until_released(
    injector: DesktopInjector, witness: Witness
) -> None:
    press(injector, "shift", down=True)
    press(injector, "a shift+b")
    assert [event.state & SHIFT for event in witness.take()][1:] == [SHIFT] * 4
    press(injector, "shift", down=False)
    assert told(witness) == ["KeyRelease 50"]
    injector.release_all()
    assert told(witness) == []


def test_a_level_that_a_held_key_reaches_already_needs_no_other_key(
    injector: DesktopInjector, witness: Witness
) -> None:
    press(injector, "right_shift", down=True)
    press(injector, "A")
    assert presses(witness) == [(62, 0), (38, SHIFT)]


def test_holding_twice_presses_once(injector: DesktopInjector, witness: Witness) -> None:
    press(injector, "ctrl", down=True)
    press(injector, "ctrl", down=True)
    press(injector, "ctrl", down=False)
    assert told(witness) == ["KeyPress 37", "KeyRelease 37"]


def test_a_key_that_we_hold_can_be_typed_again(injector: DesktopInjector, witness: Witness) -> None:
    press(injector, "a", down=True)
    witness.take()
    press(injector, "a")
    assert told(witness) == ["KeyRelease 38", "KeyPress 38"]


@pytest.mark.parametrize(
    ("held", "typed", "events"),
    [
        ("a", "A", ["Press 50", "Release 38", "Press 38", "Release 50"]),
        ("A", "a", ["Release 38", "Press 38"]),
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
    assert len(told(witness)) == len(before)


def test_a_key_that_we_hold_under_another_name_is_released(
    injector: DesktopInjector, witness: Witness
) -> None:
    press(injector, "A", down=True)
    witness.take()
    press(injector, "a", down=False)
    assert told(witness) == ["KeyRelease 38", "KeyRelease 50"]


def test_holding_a_key_again_is_up_and_down(injector: DesktopInjector, witness: Witness) -> None:
    press(injector, "a", down=True)
    press(injector, "a", down=True)
    assert told(witness) == ["KeyPress 38", "KeyRelease 38", "KeyPress 38"]


def test_releasing_what_nobody_holds_succeeds_without_an_event(
    injector: DesktopInjector, witness: Witness
) -> None:
    press(injector, "ctrl+a", down=False)
    assert injector.injected == 0
    assert told(witness) == []


@pytest.fixture(params=["xdotool", "person"])
def holds_a(request: Any, display: str) -> Iterator[Callable[[], Any]]:
    """Somebody who holds the key a."""
    person = Person(display)
    if request.param == "person":
        yield lambda: person.holding("key", 38)
    else:
        yield lambda: held_by_xdotool(display, "key", "a")
    person.close()


@pytest.mark.parametrize("down", [None, True, False])
def test_a_key_that_somebody_else_holds_is_refused_before_any_event(
    injector: DesktopInjector, witness: Witness, holds_a: Any, down: bool | None
) -> None:
    with holds_a():
        witness.take()
        with pytest.raises(InjectionFailed) as caught:
            press(injector, "x ctrl+a", down=down)
        assert "KeyRelease 38" not in told(witness)
        assert (caught.value.code, caught.value.injected_at_least) == ("already_down", 0)
        assert caught.value.message == "Somebody else holds down the key a"
        press(injector, "x")
    witness.take()
    press(injector, "x ctrl+a")
    assert injector.injected == len(witness.take()) == 6


def test_a_text_that_needs_a_key_that_somebody_else_holds_is_refused_without_naming_it(
    injector: DesktopInjector, witness: Witness, holds_a: Any
) -> None:
    with holds_a():
        witness.take()
        with pytest.raises(InjectionFailed) as caught:
            injector.prepare(TypeText(text="secret xa"))()
        assert not [each for each in told(witness) if each != "KeyPress 38"]
    assert (caught.value.code, caught.value.injected_at_least) == ("already_down", 0)
    assert caught.value.message == "Somebody else holds down a key that the text needs"


def test_a_modifier_that_only_somebody_else_holds_is_theirs_to_release(
    injector: DesktopInjector, witness: Witness, display: str
) -> None:
    with held_by_xdotool(display, "key", "Shift_L"):
        witness.take()
        with pytest.raises(InjectionFailed, match="Somebody else holds down the key shift"):
            press(injector, "shift", down=False)
        assert told(witness) == []


def test_a_persons_modifier_changes_nothing_and_ours_works_after_it(
    injector: DesktopInjector, terminal: Terminal, display: str
) -> None:
    person = Person(display)
    with person.holding("key", 50):
        press(injector, "a A 1")
        assert modifiers(display) == SHIFT
    assert modifiers(display) == 0
    press(injector, "A shift+b")
    assert received(injector, terminal) == "aA1AB"
    person.close()


def test_a_held_key_is_released_where_it_was_pressed_though_the_layout_changed(
    injector: DesktopInjector, witness: Witness, display: str
) -> None:
    press(injector, "y", down=True)
    set_layout(display, "de")
    press(injector, "y", down=False)
    assert told(witness) == ["KeyPress 29", "KeyRelease 29"]


@pytest.mark.parametrize("lock", ["Caps_Lock", "Num_Lock"])
def test_locks_change_nothing_and_stay_as_they_are(
    injector: DesktopInjector, terminal: Terminal, display: str, lock: str
) -> None:
    somebody_else(display, "key", lock)
    before = modifiers(display)
    assert before in (CAPS, NUM)
    try:
        press(injector, "a A ж Ж ß kp_4 4")
        assert received(injector, terminal) == "aAжЖß44"
        assert modifiers(display) == before
    finally:
        somebody_else(display, "key", lock)
    assert modifiers(display) == 0


def test_a_lock_key_still_locks(
    injector: DesktopInjector, terminal: Terminal, display: str
) -> None:
    press(injector, "caps_lock a")
    try:
        assert modifiers(display) == CAPS
        assert received(injector, terminal) == "a"
    finally:
        press(injector, "caps_lock")
    assert modifiers(display) == 0


def test_a_latched_modifier_changes_nothing_and_stays_latched(
    injector: DesktopInjector, terminal: Terminal, display: str
) -> None:
    somebody = X11Connection(display)
    somebody.set_locks_and_latches(affect_locks=0, locks=0, affect_latches=SHIFT, latches=SHIFT)
    somebody.confirm()
    press(injector, "a")
    assert modifiers(display) == SHIFT
    assert received(injector, terminal) == "a"
    somebody.set_locks_and_latches(affect_locks=0, locks=0, affect_latches=SHIFT, latches=0)
    somebody.confirm()
    somebody.close()


@pytest.mark.parametrize("key", ["Shift_L", "Control_R", "Alt_L", "Super_L"])
def test_a_modifier_that_somebody_holds_changes_nothing_and_is_put_back(
    injector: DesktopInjector, terminal: Terminal, display: str, key: str
) -> None:
    somebody_else(display, "keydown", key)
    before = modifiers(display)
    assert before != 0
    try:
        press(injector, "a 1 漢")
        assert received(injector, terminal) == "a1漢"
        assert modifiers(display) == before
    finally:
        somebody_else(display, "keyup", key)
    assert modifiers(display) == 0


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


def test_every_name_of_the_language_can_be_typed(
    injector: DesktopInjector, witness: Witness
) -> None:
    locks = {"caps_lock", "num_lock", "scroll_lock"}
    for named in KEY_TABLE:
        if named.name in locks:
            injector.prepare(PressKeys(text=named.name))
            continue
        press(injector, named.name)
        kinds = [event.kind for event in witness.take()]
        assert kinds.count("KeyPress") == kinds.count("KeyRelease") > 0, named.name


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


def test_typing_can_be_interrupted_and_leaves_nothing_pressed(
    injector: DesktopInjector, witness: Witness
) -> None:
    begin = injector.prepare(PressKeys(text=" ".join(["ctrl+A"] * 500)))
    witness.take()
    failures: list[InjectionFailed] = []

    def run() -> None:
        with pytest.raises(InjectionFailed) as caught:
            begin()
        failures.append(caught.value)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: witness.seen() or None, "the typing begins")
    injector.interrupt()
    thread.join(10)
    assert not thread.is_alive()
    events = told(witness)
    assert sorted(each.split()[1] for each in events if "KeyPress" in each) == sorted(
        each.split()[1] for each in events if "KeyRelease" in each
    )
    assert failures[0].code == "interrupted"
    assert 0 < failures[0].injected_at_least <= len(events)


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
