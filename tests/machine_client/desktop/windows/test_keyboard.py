"""Which events a chord becomes; the stream of inputs is played, and the layout too."""

import threading
from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopError, Refusal
from machine_client.desktop.windows.holding import Holding, Record
from machine_client.desktop.windows.keyboard import Keyboard
from machine_client.desktop.windows.keys import NAMED_KEYS
from schemas.inputs.key_combinations import Key, parse_combination
from schemas.inputs.texts import chords_of
from tests.machine_client.desktop.windows.fakes import (
    BUTTON_CODES,
    FakeSession,
    FakeStream,
    told,
    us_stroke,
)

pytestmark = pytest.mark.usefixtures("windows")


class Typist:
    """A keyboard on a stream of its own; ``capitals`` is Caps Lock."""

    def __init__(self, directory: Path) -> None:
        self.stream = FakeStream()
        self.capitals = False
        record = Record(directory, "boot/1")
        holding = Holding(self.stream, record, self.stream.is_down, BUTTON_CODES.__getitem__)
        self.keyboard = Keyboard(self.stream, holding, us_stroke, lambda: self.capitals)

    def type(self, combination: str) -> list[str]:
        self.keyboard.type(parse_combination(combination), threading.Event())
        return told(self.stream.take())

    def hold(self, combination: str) -> list[str]:
        self.keyboard.hold(parse_combination(combination))
        return told(self.stream.take())

    def release(self, combination: str) -> list[str]:
        self.keyboard.release(parse_combination(combination))
        return told(self.stream.take())


@pytest.fixture
def typist(tmp_path: Path) -> Typist:
    return Typist(tmp_path)


@pytest.mark.parametrize(
    ("combination", "events"),
    [
        ("x", "+x -x"),
        ("X", "+shift +x -x -shift"),
        ("ctrl+alt+x", "+ctrl +alt +x -x -alt -ctrl"),
        ("shift+X", "+shift +x -x -shift"),
        ("enter", "+enter -enter"),
        ("ctrl", "+ctrl -ctrl"),
        ("+", "++ -+"),
        ("ctrl++", "+ctrl +shift +» -» -shift -ctrl"),
        ("é", "+é -é"),
        ("ctrl+é", "+ctrl +é -é -ctrl"),
        ("😀", "+\ud83d -\ud83d +\ude00 -\ude00"),
    ],
)
def test_chord_is_one_call_down_in_order_and_up_in_reverse(
    typist: Typist, combination: str, events: str
) -> None:
    assert typist.type(combination) == events.split(" ")


def test_text_is_letters_by_their_keys_and_all_else_by_itself(typist: Typist) -> None:
    typist.keyboard.type(chords_of("a1=\n"), threading.Event())
    assert told(typist.stream.take()) == ["+a", "-a", "+1", "-1", "+=", "-=", "+enter", "-enter"]


def test_letters_under_caps_lock_are_sent_as_themselves(typist: Typist) -> None:
    typist.capitals = True
    typist.keyboard.type(chords_of("aB1"), threading.Event())
    units = [getattr(event, "unit", None) for event in typist.stream.take()]
    assert units == [ord("a"), ord("a"), ord("B"), ord("B"), None, None]
    assert typist.type("ctrl+a") == ["+ctrl", "+a", "-a", "-ctrl"]


def test_modifiers_that_others_hold_are_set_aside_in_the_same_call(typist: Typist) -> None:
    typist.stream.down.add(NAMED_KEYS["alt"].code)
    assert typist.type("ctrl+x") == ["-alt", "+ctrl", "+x", "-x", "-ctrl", "+alt"]
    assert typist.stream.down == {NAMED_KEYS["alt"].code}


def test_modifier_that_others_hold_and_we_need_stays_theirs(typist: Typist) -> None:
    typist.stream.down.add(NAMED_KEYS["ctrl"].code)
    assert typist.type("ctrl+x") == ["+x", "-x"]
    assert typist.stream.down == {NAMED_KEYS["ctrl"].code}


def test_modifiers_of_a_gesture_are_those_that_we_do_not_hold_and_never_others(
    typist: Typist,
) -> None:
    ctrl, alt = (Key(name, is_modifier=True) for name in ("ctrl", "alt"))
    typist.hold("ctrl")
    assert typist.keyboard.press_modifiers((ctrl, alt)) == (alt,)
    assert told(typist.stream.take()) == ["+alt"]
    assert typist.release("alt ctrl") == ["-ctrl", "-alt"]
    typist.stream.down.add(NAMED_KEYS["alt"].code)
    with pytest.raises(DesktopError, match="Somebody else holds down the key alt") as caught:
        typist.keyboard.press_modifiers((ctrl, alt))
    assert (caught.value.code, typist.stream.take()) == ("already_down", [])


def test_what_we_hold_counts_and_goes_up_and_down_again(typist: Typist) -> None:
    assert typist.hold("ctrl+x") == ["+ctrl", "+x"]
    assert typist.type("x y") == ["-x", "+x", "+y", "-y"]
    assert typist.hold("ctrl+x") == ["-x", "+x"]
    assert typist.release("x ctrl") == ["-ctrl", "-x"]
    assert typist.release("ctrl+x") == []


def test_shift_that_only_makes_a_held_character_does_not_change_the_next(typist: Typist) -> None:
    assert typist.hold("A") == ["+shift", "+a"]
    assert typist.type("b") == ["-shift", "+b", "-b", "+shift"]
    assert typist.type("B") == ["+b", "-b"]
    assert typist.release("a") == ["-a", "-shift"]
    assert typist.stream.down == set()


def test_hold_that_fails_in_the_middle_leaves_nothing_pressed(
    typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typist.keyboard, "_stroke_of", lambda _: None)
    with pytest.raises(DesktopError) as caught:
        typist.hold("ctrl+x")
    assert caught.value.code == "character_not_typeable"
    assert typist.stream.down == set()


def test_key_that_others_hold_is_refused_before_any_event(typist: Typist) -> None:
    typist.stream.down.add(ord("X"))
    for act in (typist.type, typist.hold, typist.release):
        with pytest.raises(DesktopError, match="Somebody else holds down the key x") as caught:
            act("y ctrl+x")
        assert (caught.value.code, typist.stream.take()) == ("already_down", [])


def test_key_that_windows_lacks_is_refused_and_so_is_holding_what_is_on_no_key(
    typist: Typist,
) -> None:
    typist.keyboard.check(parse_combination("ctrl+漢 é"), hold=False)
    for combination, hold, code in (
        ("x undo", False, "key_not_typeable"),
        ("漢", True, "character_not_typeable"),
    ):
        with pytest.raises(Refusal) as caught:
            typist.keyboard.check(parse_combination(combination), hold=hold)
        assert caught.value.outcome.code == code


def test_typing_stops_between_two_chords(typist: Typist) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(DesktopError) as caught:
        typist.keyboard.type(parse_combination("x"), stop)
    assert (caught.value.code, typist.stream.take()) == ("interrupted", [])


def test_nothing_is_typed_into_a_window_with_higher_rights_nor_behind_a_lock(
    typist: Typist, windows: FakeSession
) -> None:
    windows.levels[10], windows.window = 0x3000, 10
    with pytest.raises(DesktopError, match="higher rights"):
        typist.type("x")
    with pytest.raises(DesktopError, match="higher rights"):
        typist.hold("x")
    windows.shown = False
    with pytest.raises(DesktopError, match="locked"):
        typist.type("x")
    assert typist.stream.take() == []
