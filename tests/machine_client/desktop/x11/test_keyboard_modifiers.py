"""Locks, latches and modifiers that others hold change nothing of what is typed."""

import pytest

from machine_client.desktop.x11.connection import X11Connection
from machine_client.work.injector import DesktopInjector, InjectionFailed
from tests.desktop import (
    Terminal,
    Witness,
    somebody_else,
)
from tests.machine_client.desktop.x11.somebody import Person, held_by_xdotool
from tests.machine_client.desktop.x11.typed import (
    CAPS,
    NUM,
    SHIFT,
    modifiers,
    press,
    received,
    told,
)


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
