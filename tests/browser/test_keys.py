"""From a browser's keyboard to the keys of a hand, on the keyboards that people have."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.rig import Site, Visit

FEED = """async ([events, isMac]) => {
    const { href } = document.querySelector('[href$="/keys.js"]');
    const { Keys, isComposed, ownKeyOf } = await import(href);
    const keys = new Keys(isMac);
    const done = events.flatMap(([way, said]) => {
        if (way === 'release') return keys.release();
        const event = {
            repeat: false, isComposing: false, code: '',
            ctrlKey: false, altKey: false, shiftKey: false, metaKey: false,
            getModifierState: (name) => (said.states || []).includes(name), ...said,
        };
        if (ownKeyOf(event) === 'leave') return [{ key: 'leave', down: true }];
        if (way === 'down' && isComposed(event)) return [{ key: 'compose', down: true }];
        return keys[way](event);
    });
    return done.map(({ key, down }) => (down ? '+' : '-') + key).join(' ');
}"""

Event = tuple[str, dict[str, Any]]


def down(key: str, code: str = "", *held: str, **more: Any) -> Event:
    """A key goes down while these modifiers are."""
    return "down", {"key": key, "code": code, **dict.fromkeys(held, True), **more}


def up(key: str, code: str = "") -> Event:
    return "up", {"key": key, "code": code}


def click(*held: str) -> Event:
    """A button goes down while these modifiers are."""
    return "hold", dict.fromkeys(held, True)


CTRL, ALT, SHIFT, META = "ctrlKey", "altKey", "shiftKey", "metaKey"
HOLD_CTRL = down("Control", "ControlLeft", CTRL)
HOLD_SHIFT = down("Shift", "ShiftLeft", SHIFT)
HOLD_ALT = down("Alt", "AltLeft", ALT)
HOLD_META = down("Meta", "MetaLeft", META)
ALTGR = down("AltGraph", "AltRight", CTRL, ALT, states=["AltGraph"])

CASES: dict[str, tuple[list[Event], str]] = {
    "a character goes down and up": ([down("a", "KeyA"), up("a", "KeyA")], "+a -a"),
    "by character, wherever its key is": ([down("z", "KeyY"), up("z", "KeyY")], "+z -z"),
    "any script": ([down("ж", "Semicolon"), up("ж", "Semicolon")], "+ж -ж"),
    "names": (
        [down(" ", "Space"), down("+", "Equal"), down("Enter", "Enter"), down("F5", "F5")],
        "+space +plus +enter +f5",
    ),
    "two at once": (
        [down("a", "KeyA"), down("b", "KeyB"), up("a", "KeyA"), up("b", "KeyB")],
        "+a +b -a -b",
    ),
    "escape": ([down("Escape", "Escape"), up("Escape", "Escape")], "+esc -esc"),
    "a repeat is the machine's own": ([down("a", "KeyA"), down("a", "KeyA", repeat=True)], "+a"),
    "shift is a part of its character": (
        [HOLD_SHIFT, down("A", "KeyA", SHIFT), up("A", "KeyA"), up("Shift", "ShiftLeft")],
        "+A -A",
    ),
    "shift that another layout needs and the machine's does not": (
        [HOLD_SHIFT, down("/", "Digit7", SHIFT), up("/", "Digit7"), up("Shift", "ShiftLeft")],
        "+/ -/",
    ),
    "shift goes up first": (
        [HOLD_SHIFT, down("A", "KeyA", SHIFT), up("Shift", "ShiftLeft"), up("a", "KeyA")],
        "+A -A",
    ),
    "shift with a key that has no character": (
        [HOLD_SHIFT, down("Tab", "Tab", SHIFT), up("Tab", "Tab"), up("Shift", "ShiftLeft")],
        "+shift +tab -tab -shift",
    ),
    "shift with a click, and then typed": (
        [HOLD_SHIFT, click(SHIFT), down("A", "KeyA", SHIFT), click(SHIFT), ("release", {})],
        "+shift -shift +A +shift -shift -A",
    ),
    "shift alone": ([HOLD_SHIFT, up("Shift", "ShiftLeft")], "+shift -shift"),
    "caps lock": (
        [down("CapsLock", "CapsLock"), down("A", "KeyA", states=["CapsLock"]), up("A", "KeyA")],
        "+A -A",
    ),
    "caps lock with shift": ([HOLD_SHIFT, down("a", "KeyA", SHIFT, states=["CapsLock"])], "+a"),
    "a shortcut": (
        [HOLD_CTRL, down("c", "KeyC", CTRL), up("c", "KeyC"), up("Control", "ControlLeft")],
        "+ctrl +c -c -ctrl",
    ),
    "a shortcut with shift": (
        [HOLD_CTRL, HOLD_SHIFT, down("T", "KeyT", CTRL, SHIFT)],
        "+ctrl +shift +t",
    ),
    "a shortcut under caps lock": ([HOLD_CTRL, down("A", "KeyA", CTRL)], "+ctrl +a"),
    "a shortcut in Cyrillic": (
        [HOLD_CTRL, down("\N{CYRILLIC SMALL LETTER ES}", "KeyC", CTRL)],
        "+ctrl +c",
    ),
    "a shortcut with a digit of another script": (
        [HOLD_CTRL, down("\N{ARABIC-INDIC DIGIT ONE}", "Digit1", CTRL)],
        "+ctrl +1",
    ),
    "a shortcut by its letter, not its place": ([HOLD_CTRL, down("z", "KeyY", CTRL)], "+ctrl +z"),
    "a menu": ([HOLD_ALT, down("f", "KeyF", ALT), up("Alt", "AltLeft")], "+alt +f -alt"),
    "AltGr of Windows": (
        [HOLD_CTRL, ALTGR, down("@", "KeyQ", CTRL, ALT, states=["AltGraph"]), up("@", "KeyQ")],
        "+ctrl -ctrl +@ -@",
    ),
    "AltGr of Linux": (
        [
            down("AltGraph", "AltRight", states=["AltGraph"]),
            down("€", "KeyE", states=["AltGraph"]),
            *(up("€", "KeyE"), up("AltGraph", "AltRight")),
        ],
        "+€ -€",
    ),
    "both controls are one": (
        [HOLD_CTRL, down("Control", "ControlRight", CTRL), up("Control", "ControlLeft")],
        "+ctrl -ctrl",
    ),
    "what was let go meanwhile is held again for a shortcut": (
        [HOLD_CTRL, HOLD_SHIFT, ("release", {}), down("T", "KeyT", CTRL, SHIFT)],
        "+ctrl -ctrl +ctrl +shift +t",
    ),
    "and for a click": (
        [HOLD_CTRL, ("release", {}), click(CTRL), up("Control", "ControlRight")],
        "+ctrl -ctrl +ctrl -ctrl",
    ),
    "an input method": (
        [down("Process", "KeyA"), down("a", "KeyA", isComposing=True), up("a", "KeyA")],
        "+compose +compose",
    ),
    "a dead key": ([down("Dead", "Quote"), up("Dead", "Quote")], "+compose"),
    "a keyboard on a screen": ([down("Unidentified"), up("Unidentified")], "+compose"),
    "keys without a place": ([down("a"), up("a")], "+a -a"),
    "what has no name": ([down("AudioVolumeUp", "AudioVolumeUp")], ""),
    "to leave": (
        [HOLD_CTRL, HOLD_ALT, HOLD_SHIFT, down("Q", "KeyQ", CTRL, ALT, SHIFT), ("release", {})],
        "+ctrl +alt +leave -alt -ctrl",
    ),
    "the last one down is the first one up": (
        [HOLD_CTRL, down("x", "KeyX", CTRL), ("release", {}), up("x", "KeyX")],
        "+ctrl +x -x -ctrl",
    ),
}

OF_A_MAC: dict[str, tuple[list[Event], str]] = {
    "option makes characters": (
        [HOLD_ALT, down("@", "KeyL", ALT), up("@", "KeyL"), up("Alt", "AltLeft")],
        "+alt -alt +@ -@",
    ),
    "under command no key goes up": (
        [HOLD_META, down("c", "KeyC", META), up("Meta", "MetaLeft")],
        "+super +c -c -super",
    ),
}


@pytest.fixture(scope="module")
def page(browser: Browser, site: Site) -> Any:
    with Visit.begun(browser, site) as visit:
        visit.go()
        yield visit.page


@pytest.mark.parametrize("name", CASES)
def test_keys_become_those_of_the_machine(page: Page, name: str) -> None:
    events, expected = CASES[name]
    assert page.evaluate(FEED, [events, False]) == expected


@pytest.mark.parametrize("name", OF_A_MAC)
def test_keys_of_a_mac_become_those_of_the_machine(page: Page, name: str) -> None:
    events, expected = OF_A_MAC[name]
    assert page.evaluate(FEED, [events, True]) == expected
