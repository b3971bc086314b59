"""Where a character is on a layout; Windows is played."""

import pytest

from machine_client.desktop.windows import api
from machine_client.desktop.windows.keys import ALTGR, SHIFT, WindowsKey
from machine_client.desktop.windows.layout import Stroke, locks_capitals, stroke_of

GERMAN = {"a": 0x41, "A": 0x141, "ß": 0xDB, "€": 0x645, "\x01": 0x241, "½": 0x8BD}


@pytest.fixture(autouse=True)
def _german(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "get_foreground_window", lambda: 9)
    monkeypatch.setattr(api, "get_window_thread_process_id", lambda *_: 70)
    monkeypatch.setattr(api, "get_keyboard_layout", {70: 407}.__getitem__)
    monkeypatch.setattr(
        api, "vk_key_scan", lambda each, layout: GERMAN.get(each, -1) if layout == 407 else -1
    )
    scans = {0x41: 0x1E, 0xDB: 0x0C, 0x45: 0xE012}
    monkeypatch.setattr(api, "map_virtual_key", lambda code, *_: scans[code])


def test_key_and_what_must_be_held_are_found_in_the_layout_of_the_window_in_front() -> None:
    assert stroke_of("a") == Stroke(WindowsKey(0x41, 0x1E))
    assert stroke_of("A") == Stroke(WindowsKey(0x41, 0x1E), (SHIFT,))
    assert stroke_of("ß") == Stroke(WindowsKey(0xDB, 0x0C))
    assert stroke_of("€") == Stroke(WindowsKey(0x45, 0x12, True), (ALTGR,))


@pytest.mark.parametrize("character", ["漢", "😀", "\x01", "½"])
def test_character_on_no_key_or_behind_another_state_has_no_stroke(character: str) -> None:
    assert stroke_of(character) is None


def test_without_a_window_in_front_the_layout_is_that_of_this_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api, "get_foreground_window", lambda: None)
    monkeypatch.setattr(api, "get_keyboard_layout", {0: 407}.__getitem__)
    assert stroke_of("a") is not None


@pytest.mark.parametrize(("state", "locked"), [(0, False), (1, True), (-127, True), (-128, False)])
def test_caps_lock_is_the_lowest_bit(
    monkeypatch: pytest.MonkeyPatch, state: int, locked: bool
) -> None:
    monkeypatch.setattr(api, "get_key_state", lambda _: state)
    assert locks_capitals() is locked
