"""What a person holds down goes up at the machine with it, whatever happens in between."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route, expect
from Xlib import X
from Xlib.display import Display
from Xlib.ext import xtest

from tests.browser.hands import Hands, Wire
from tests.browser.rig import Desk, Site, Visit
from tests.processes import until

BREAKABLE = """(() => {
    const real = window.fetch;
    window.streams = [];
    window.fetch = (address, options = {}) => {
        if (!String(address).includes('/display/stream')) return real(address, options);
        const end = new AbortController();
        window.streams.push(end);
        return real(address, { ...options, signal: AbortSignal.any([options.signal, end.signal]) });
    };
})()"""
"""Keeps what ends each stream of pictures."""


@pytest.fixture
def display(desk: Desk) -> Iterator[Display]:
    """The machine's X server, for a look or a hand of somebody who sits there."""
    display = Display(desk.display)
    yield display
    display.close()


@pytest.fixture
def wired(browser: Browser, site: Site, desk: Desk) -> Iterator[tuple[Hands, Wire]]:
    """Somebody in control, whose first key has arrived, and the websocket of their hands."""
    with Visit.begun(browser, site, permissions=["clipboard-read", "clipboard-write"]) as visit:
        page, wire = visit.page, Wire(visit.page)
        page.add_init_script(BREAKABLE)
        visit.sign_in(f"/machines/{desk.machine}")
        expect(page.get_by_text("Live. The picture changes")).to_be_visible()
        page.evaluate("navigator.clipboard.writeText('mine')")
        hands = Hands(page, desk)
        hands.take()
        page.keyboard.press("y")
        hands.arrive("key y")
        yield hands, wire
        page.close()
        until(lambda: site.api.machine(desk.machine)["control"] is None, "control is free")


def is_held(display: Display) -> bool:
    """Whether the left button is down at the machine."""
    return bool(display.screen().root.query_pointer().mask & X.Button1Mask)


def hold_ctrl(hands: Hands, wire: Wire) -> None:
    hands.page.keyboard.down("Control")
    hands.until(lambda: wire.events[-1]["key"] == "ctrl", "ctrl is down")


def press_a(hands: Hands) -> None:
    """Press it while ctrl is held, and let both go."""
    hands.page.keyboard.press("a")
    hands.page.keyboard.up("Control")
    hands.until(lambda: hands.new()[-1].endswith("a"), "the key arrives")


def test_modifier_that_is_held_through_a_new_connection_keeps_its_meaning(
    wired: tuple[Hands, Wire],
) -> None:
    hands, wire = wired
    hold_ctrl(hands, wire)
    wire.cut()
    hands.come_back(wire)
    press_a(hands)
    assert hands.new()[-1] == "key ctrl+a"


def test_modifier_that_is_held_through_a_refusal_keeps_its_meaning(
    wired: tuple[Hands, Wire], display: Display
) -> None:
    hands, wire = wired
    hold_ctrl(hands, wire)
    # Somebody at the machine holds the same button.
    xtest.fake_input(display, X.ButtonPress, 3)
    display.sync()
    try:
        hands.page.mouse.click(*hands.over(400, 300), button="right")
        hands.until(lambda: "Somebody else holds" in hands.said(), "it is refused")
        # What comes before that has its end is not sent, as it may be meant for another screen.
        hands.until(lambda: wire.is_answered, "all of it has its end")
    finally:
        xtest.fake_input(display, X.ButtonRelease, 3)
        display.sync()
    press_a(hands)
    assert hands.new()[-1] == "key ctrl+a"


def test_button_goes_up_though_the_picture_has_gone(
    wired: tuple[Hands, Wire], display: Display
) -> None:
    hands, _ = wired
    page = hands.page
    page.mouse.move(*hands.over(400, 300))
    page.mouse.down()
    hands.until(lambda: is_held(display), "it is down")
    page.route("**/display/stream*", lambda route: route.abort())
    page.evaluate("streams.forEach((each) => each.abort())")
    expect(page.get_by_text("The picture has stopped")).to_be_visible()
    page.mouse.up()
    hands.until(lambda: not is_held(display), "it is up")
    expect(page.get_by_text("You are in control of")).to_be_visible()


def test_button_goes_up_though_the_text_that_it_waits_for_is_refused(
    wired: tuple[Hands, Wire], display: Display
) -> None:
    hands, _ = wired
    page = hands.page
    waiting: list[Route] = []
    page.route("**/clipboard", lambda route: waiting.append(route))  # noqa: PLW0108  # playwright marks it
    page.mouse.move(*hands.over(400, 300))
    page.mouse.down()
    hands.until(lambda: is_held(display), "it is down")
    page.keyboard.press("Control+V")
    hands.until(lambda: waiting, "the text is on its way")
    page.mouse.up()
    waiting[0].fulfill(status=503, json={"detail": "the machine is busy"})
    hands.until(lambda: "did not reach" in hands.said(), "it is said")
    hands.until(lambda: not is_held(display), "it is up")
