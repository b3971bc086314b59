"""What a VNC server is told of keys, one after another; what comes of it is in the contract."""

import threading
from typing import Any

import pytest

from machine_client.desktop.base import DesktopError, Refusal
from machine_client.desktop.keysyms import NAMED_KEYSYMS
from machine_client.desktop.vnc.keyboard import POSSIBLY_HELD, Keyboard, LackedKeys
from machine_client.desktop.vnc.keysyms import keysym_of
from schemas.inputs.key_combinations import parse_combination
from schemas.inputs.texts import chords_of

NAMES = {number: name for name, number in NAMED_KEYSYMS.items()}


class Told:
    """What was sent, as ``+ctrl -ctrl``, with ``.`` for each wait."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.keyboard = Keyboard(self.take, lambda: self.words.append("."))

    def take(self, event: bytes) -> None:
        keysym = int.from_bytes(event[4:], "big")
        name = NAMES.get(keysym) or (chr(keysym) if keysym < 0x100 else f"{keysym:x}")
        self.words.append(("+" if event[1] else "-") + name)

    def of(self, operation: str, text: str) -> str:
        self.words.clear()
        arguments: list[Any] = [threading.Event()] if operation == "type" else []
        getattr(self.keyboard, operation)(parse_combination(text), *arguments)
        return " ".join(self.words)


def test_capitals_and_signs_go_with_shift_and_others_without() -> None:
    told = Told()
    assert told.of("type", "a") == "+a -a ."
    assert told.of("type", "A") == "+shift +A -A -shift ."
    assert told.of("type", "ctrl+@") == "+ctrl +shift +@ -@ -ctrl -shift ."
    assert told.of("type", "ctrl+alt+x") == "+ctrl +alt +x -x -alt -ctrl ."
    assert told.of("type", "Ж") == "+shift -shift . +shift +6f6 -6f6 -shift ."


def test_keys_of_a_hold_that_fails_go_up() -> None:
    told = Told()

    def take(event: bytes) -> None:
        told.take(event)
        if told.words[-1] == "+alt":
            raise DesktopError("lost", "the server takes nothing")

    told.keyboard = Keyboard(take, lambda: None)
    with pytest.raises(DesktopError):
        told.of("hold", "ctrl+alt+x")
    assert told.words == ["+ctrl", "+alt", "-alt", "-ctrl"]
    told.keyboard.release_all()
    assert told.words == ["+ctrl", "+alt", "-alt", "-ctrl"]


def test_shift_is_tapped_before_a_first_key_that_the_layout_may_lack() -> None:
    told = Told()
    assert told.of("type", "f13 break") == "+shift -shift . +f13 -f13 . +break -break ."
    assert told.of("type", "f12 f13") == "+f12 -f12 . +f13 -f13 ."
    assert told.of("type", "漢 字") == "+shift -shift . +1006f22 -1006f22 . +1005b57 -1005b57 ."
    assert told.of("type", "a 漢") == "+a -a . +1006f22 -1006f22 ."
    assert told.of("type", "ctrl+漢") == "+ctrl +1006f22 -1006f22 -ctrl ."
    assert told.of("hold", "ctrl") == "+ctrl ."
    assert told.of("type", "漢") == "+1006f22 -1006f22 ."


def test_held_shift_makes_of_a_key_what_it_would_on_a_keyboard() -> None:
    told = Told()
    told.of("hold", "shift")
    assert told.of("type", "a 1 A") == "+A -A . +! -! . +A -A ."
    told.of("release", "shift")
    assert told.of("type", "shift+a") == "+shift +A -A -shift ."


def test_held_keys_stay_held_and_go_up_once() -> None:
    told = Told()
    assert told.of("hold", "ctrl+A") == "+ctrl +shift +A -shift ."
    assert told.of("type", "ctrl+x") == "+x -x ."
    assert told.of("hold", "ctrl+A") == "-A +shift +A -shift ."
    assert told.of("release", "a") == "-A"
    assert told.of("release", "a") == ""
    told.words.clear()
    told.keyboard.release_all()
    assert told.words == ["-ctrl"]


def test_typing_ends_once_it_is_told_to() -> None:
    told, stop = Told(), threading.Event()
    stop.set()
    with pytest.raises(DesktopError) as caught:
        told.keyboard.type(parse_combination("a b"), stop)
    assert caught.value.code == "interrupted"
    assert told.words == []


def test_what_may_be_held_is_every_modifier_and_letter_and_no_lock() -> None:
    assert {NAMED_KEYSYMS["ctrl_r"], NAMED_KEYSYMS["f1"], ord("a"), ord(" ")} < set(POSSIBLY_HELD)
    assert NAMED_KEYSYMS["caps_lock"] not in POSSIBLY_HELD
    assert ord("A") not in POSSIBLY_HELD


def test_too_many_different_characters_are_refused_before_the_first() -> None:
    lacked_keys = LackedKeys(3)
    lacked_keys.check(chords_of("aé漢 abcdef 漢Éе"))
    lacked_keys.check(parse_combination("ctrl+é"))
    lacked_keys.note(chords_of("éж"))
    lacked_keys.check(chords_of("Ж漢"))
    with pytest.raises(Refusal) as caught:
        lacked_keys.check(chords_of("漢字"))
    assert caught.value.outcome.code == "character_not_typeable"
    assert caught.value.outcome.ctx == {"key": "字"}
    assert keysym_of("字") == 0x1005B57


def test_named_keys_that_layouts_lack_count_as_such_characters() -> None:
    lacked_keys = LackedKeys(2)
    lacked_keys.note(parse_combination("ctrl+f13 f1 break f13"))
    lacked_keys.check(parse_combination("shift+break f12"))
    with pytest.raises(Refusal) as caught:
        lacked_keys.check(parse_combination("browser_stop"))
    assert caught.value.outcome.code == "key_not_typeable"
    with pytest.raises(Refusal):
        lacked_keys.check(chords_of("é"))
