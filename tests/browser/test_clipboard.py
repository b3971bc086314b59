"""Copy and paste between a person's computer and a machine, and the field for texts."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from tests.browser.hands import Hands
from tests.browser.rig import Desk, Site, Visit
from tests.machine_client.desktop.x11.clipboard.programs import copied, pasting

OWN = "von hier \N{LATIN SMALL LETTER SHARP S}\n\t漢\N{GRINNING FACE}"
THERE = "from there\nЖмл"
PASTED = ("key ctrl", "key ctrl+v")
PERMISSIONS = ["clipboard-read", "clipboard-write"]


@pytest.fixture
def looking(browser: Browser, site: Site, desk: Desk) -> Iterator[Visit]:
    with Visit.begun(browser, site, permissions=PERMISSIONS) as visit:
        look(visit, desk)
        yield visit


@pytest.fixture
def hands(looking: Visit, desk: Desk) -> Iterator[Hands]:
    """Hands on the picture of somebody who has copied something before."""
    looking.page.evaluate("text => navigator.clipboard.writeText(text)", OWN)
    hands = Hands(looking.page, desk)
    hands.take()
    # Their websocket is there: what they do is on its way at once.
    looking.page.keyboard.press("y")
    hands.arrive("key y")
    yield Hands(looking.page, desk)
    leave(looking.page)


def look(visit: Visit, desk: Desk, token: str = "") -> None:
    visit.sign_in(f"/machines/{desk.machine}", token)
    expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()


def leave(page: Page) -> None:
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        page.get_by_role("button", name="Give back").click()


def on_the_machine(desk: Desk) -> str:
    """What a program pastes there."""
    with pasting(desk.display) as program:
        return (program.paste() or b"").decode()


def own(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def noted(page: Page, words: str) -> None:
    expect(page.locator(".noted")).to_contain_text(words)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def written(page: Page) -> list[Request]:
    """The writes of a machine's clipboard from now on."""
    requests: list[Request] = []
    page.on(
        "request",
        lambda request: (
            requests.append(request)
            if request.method == "PUT" and request.url.endswith("/clipboard")
            else None
        ),
    )
    return requests


def test_ctrl_v_pastes_what_was_copied_last(hands: Hands, desk: Desk) -> None:
    page, writes = hands.page, written(hands.page)
    waiting: list[Route] = []
    page.route("**/clipboard", lambda route: waiting.append(route))  # noqa: PLW0108  # playwright marks it
    page.keyboard.press("Control+V")
    page.keyboard.type("ab")
    hands.until(lambda: waiting, "the text is on its way")
    hands.arrive("key ctrl")
    waiting[0].continue_()
    page.unroute("**/clipboard")
    hands.arrive(*PASTED, "key a", "key b")
    assert on_the_machine(desk) == OWN
    # Nobody has left the page since: what was copied on the machine is newer.
    with copied(desk.display, {"UTF8_STRING": THERE.encode()}):
        page.keyboard.press("Control+V")
        hands.arrive(*PASTED, "key a", "key b", "key ctrl+v")
        assert on_the_machine(desk) == THERE
        # The person was elsewhere, and comes back with the same text, and then with another.
        page.evaluate("dispatchEvent(new Event('blur'))")
        page.keyboard.press("Control+V")
        hands.until(lambda: len(hands.new()) == 7, "it is pasted")
        assert len(writes) == 1
        page.evaluate("text => navigator.clipboard.writeText(text)", "newer")
        page.evaluate("dispatchEvent(new Event('blur'))")
        page.keyboard.press("Control+Shift+V")
        hands.until(lambda: hands.new()[-1] == "key ctrl+shift+v", "it is pasted")
    assert on_the_machine(desk) == "newer"
    assert [write.headers.get("farhand-control") is None for write in writes] == [False, False]


def test_copying_on_the_machine_makes_that_the_newer(hands: Hands, desk: Desk) -> None:
    writes = written(hands.page)
    with copied(desk.display, {"UTF8_STRING": THERE.encode()}):
        hands.page.keyboard.press("Control+C")
        hands.page.keyboard.press("Shift+Insert")
        hands.arrive("key ctrl+c", "key shift+insert")
        assert on_the_machine(desk) == THERE
    assert writes == []


def test_text_that_the_machine_does_not_get_is_not_pasted(hands: Hands) -> None:
    page = hands.page
    page.evaluate("navigator.clipboard.writeText('a'.repeat(1024 * 1024 + 1))")
    page.keyboard.press("Control+V")
    hands.until(lambda: "1 MiB at most." in hands.said(), "it is refused")
    assert hands.said().startswith("Not sent: 2 keys.")
    page.keyboard.press("x")
    hands.arrive("key ctrl", "key x")


def test_clipboard_of_the_machine_is_copied_here(hands: Hands, desk: Desk) -> None:
    page = hands.page
    hands.open("Clipboard")
    with copied(desk.display, {"UTF8_STRING": THERE.encode()}):
        press(page, "Copy from machine")
        noted(page, "Copied 14 characters from the machine.")
        assert own(page) == THERE
        # As on a page that came over plain HTTP.
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        press(page, "Copy from machine")
        noted(page, "copy the 14 characters from the field")
        field = page.get_by_label("Text", exact=True)
        expect(field).to_have_value(THERE)
        expect(field).to_be_focused()
    with copied(desk.display, {"image/png": b"\x89PNG"}):
        press(page, "Copy from machine")
        noted(page, "no text")


def test_text_of_the_field_is_typed_or_copied_to_the_machine(hands: Hands, desk: Desk) -> None:
    page = hands.page
    hands.open("Clipboard")
    field = page.get_by_label("Text", exact=True)
    field.fill(OWN)
    press(page, "Copy to machine")
    noted(page, "Copied 14 characters to the machine.")
    assert on_the_machine(desk) == OWN
    field.fill("a\nb")
    field.press("Control+Enter")
    hands.arrive("key a", "key enter", "key b")
    expect(field).to_have_value("")
    field.fill("c\x07d\x1b\x07")
    press(page, "Type it")
    noted(page, "No key types 3 characters of it: U+0007, U+001B. Nothing was typed.")
    field.fill("x" * 10_001)
    press(page, "Type it")
    noted(page, "The text has 10,001 characters, and 10,000 characters are typed at most.")
    assert len(hands.new()) == 3


def test_long_text_is_typed_without_a_character_torn(hands: Hands) -> None:
    page = hands.page
    hands.open("Clipboard")
    page.get_by_label("Text", exact=True).fill("a" * 999 + "\N{GRINNING FACE}" + "z")
    press(page, "Type it")
    hands.until(lambda: len(hands.new()) == 1001, "all of it arrives")
    # Of what takes long it is said that it is on its way, until the page hears of the last key.
    hands.until(lambda: hands.said() == "", "nothing is said of it")


def test_who_leaves_as_a_panel_opens_goes_on_at_the_button(hands: Hands) -> None:
    page = hands.page
    # Between the two the page is drawn, but the browser has not painted it.
    page.evaluate("""async () => {
      for (const code of ["KeyK", "KeyQ"]) {
        const held = {ctrlKey: true, altKey: true, shiftKey: true};
        const keys = {code, ...held, bubbles: true, cancelable: true};
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", keys));
        for (let turn = 0; turn < 20; turn++) await null;
      }
    }""")
    expect(page.get_by_role("button", name="Take control")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Give back")).to_be_visible()


def test_all_of_it_by_keyboard(hands: Hands, desk: Desk) -> None:
    page = hands.page
    page.keyboard.press("Control+Alt+Shift+K")
    expect(page.locator(".keypad button").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Keyboard of the machine")).to_be_focused()
    with copied(desk.display, {"UTF8_STRING": THERE.encode()}):
        page.keyboard.press("Control+Alt+Shift+C")
        noted(page, "Copied 14 characters from the machine.")
    page.keyboard.press("Control+Alt+Shift+K")
    page.keyboard.press("Control+Alt+Shift+Q")
    expect(page.get_by_role("button", name="Take control")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Give back")).to_be_visible()


def test_without_the_scope_the_clipboards_stay_apart(
    browser: Browser, site: Site, desk: Desk
) -> None:
    scopes = ("machines:read", "machines:control", "input:send", "screen:read")
    token = site.new_token(*scopes)["token"]
    with Visit.begun(browser, site, permissions=PERMISSIONS) as visit:
        page, writes = visit.page, written(visit.page)
        look(visit, desk, token)
        page.evaluate("text => navigator.clipboard.writeText(text)", OWN)
        hands = Hands(page, desk)
        hands.take()
        page.keyboard.press("Control+V")
        hands.arrive("key ctrl+v")
        hands.open("Clipboard")
        expect(page.get_by_text("Your token lacks the scope clipboard")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("Copy (to|from)"))).to_have_count(0)
        assert writes == []
        leave(page)
