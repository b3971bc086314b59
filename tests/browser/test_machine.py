"""One machine's page: its live screen, and hands on it that reach the right place once."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.hands import HEIGHT, LEAVING, WIDTH, Hands, Wire
from tests.browser.rig import Desk, Site, Visit
from tests.desktop import Witness
from tests.held import NOTHING, held_on
from tests.processes import ServedApi, until


@pytest.fixture
def looking(visit: Visit, desk: Desk) -> Visit:
    """Somebody who sees the machine's live screen."""
    visit.sign_in(f"/machines/{desk.machine}")
    expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
    return visit


@pytest.fixture
def hands(looking: Visit, desk: Desk) -> Iterator[Hands]:
    """Somebody who has taken control, and gives it back at the end."""
    hands = Hands(looking.page, desk)
    hands.take()
    yield hands
    looking.page.close()
    until(lambda: looking.site.api.machine(desk.machine)["control"] is None, "control is free")


PICTURE = """(canvas) => {
    const { width, height } = canvas;
    const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
    let sum = 0;
    for (let at = 0; at < pixels.length; at += 4) sum = (sum * 31 + pixels[at]) % 1000000007;
    return [width, height, sum];
}"""


KEEP_MARKS = """() => {
    window.kept = [];
    const keep = (mark) => {
        const { x, y, width, height } = mark.getBoundingClientRect();
        kept.push([x + width / 2, y + height / 2]);
    };
    new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach(keep)))
        .observe(document.querySelector('.marks'), { childList: true });
}"""
"""Keep where each mark was, however short it is there."""


def test_screen_is_live_and_shows_what_changes(looking: Visit, desk: Desk) -> None:
    canvas = looking.page.locator(".stage canvas")
    width, height, before = canvas.evaluate(PICTURE)
    assert abs(width / height - WIDTH / HEIGHT) < 0.01
    body = {"start_x": 200, "start_y": 300, "to_x": 900, "to_y": 700}
    assert looking.site.api.send(desk.machine, "mouse/drag", body).status == 200
    until(lambda: canvas.evaluate(PICTURE)[2] != before, "the picture changes")


def test_who_looks_at_the_screen_is_shown_there_and_in_the_list(looking: Visit, desk: Desk) -> None:
    (viewer,) = looking.site.api.machine(desk.machine)["viewers"]
    facts = looking.page.locator("dl")
    expect(facts).to_contain_text(f"Watched by{viewer}")
    looking.page.get_by_role("link", name="Machines", exact=True).click()
    row = looking.page.get_by_role("row").filter(has_text="Reception")
    expect(row).to_be_visible()
    expect(row).not_to_contain_text("Watched by")
    watching = looking.page.context.new_page()
    watching.goto(f"{looking.site.console}#/machines/{desk.machine}")
    expect(row).to_contain_text(f"Watched by {viewer}.")


def test_programs_clicks_are_marked_for_a_moment_where_they_happen(
    looking: Visit, desk: Desk
) -> None:
    marks = looking.page.locator(".mark")
    looking.page.evaluate(KEEP_MARKS)
    for x, y in ((200, 150), (1000, 700)):
        body = {"x": x, "y": y}
        assert looking.site.api.send(desk.machine, "mouse/click", body).status == 200
    assert looking.site.api.send(desk.machine, "mouse/move", {"x": 5, "y": 5}).status == 200
    until(lambda: len(looking.page.evaluate("kept")) == 2, "both are marked")
    over = Hands(looking.page, desk).over
    places = [over(200, 150), over(1000, 700)]
    assert [pytest.approx(place, abs=1) for place in places] == looking.page.evaluate("kept")
    expect(marks).to_have_count(0)


COMBINATIONS = {
    "Control+a": "ctrl+a",
    "Control+Shift+T": "ctrl+shift+t",
    "Alt+F4": "alt+f4",
    "Shift+Tab": "shift+tab",
    "Enter": "enter",
    "ArrowDown": "down",
    "PageUp": "page up",
    "Control+Backspace": "ctrl+backspace",
    "Escape": "esc",
}


class TestInControl:
    """What arrives of somebody who stays in control from one test to the next."""

    @pytest.fixture(scope="class")
    def page(self, browser: Browser, site: Site, desk: Desk) -> Iterator[Page]:
        with Visit.begun(browser, site) as visit:
            visit.sign_in(f"/machines/{desk.machine}")
            expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
            Hands(visit.page, desk).take()
            yield visit.page
            visit.page.close()
        until(lambda: site.api.machine(desk.machine)["control"] is None, "control is free")

    @pytest.fixture
    def hands(self, page: Page, desk: Desk) -> Hands:
        return Hands(page, desk)

    def test_click_lands_where_the_picture_shows_it(self, hands: Hands) -> None:
        hands.page.mouse.click(*hands.over(200, 150))
        hands.arrive("click left 200,150")
        hands.page.mouse.click(*hands.over(1270, 790))
        hands.arrive("click left 200,150", "click left 1270,790")

    def test_double_click_is_the_persons_own(self, hands: Hands) -> None:
        hands.page.mouse.dblclick(*hands.over(300, 300))
        hands.arrive("click left 300,300", "click left 300,300")

    def test_right_and_middle_clicks_are_those(self, hands: Hands) -> None:
        hands.page.mouse.click(*hands.over(300, 200), button="right")
        hands.arrive("click right 300,200")
        hands.page.mouse.click(*hands.over(300, 220), button="middle")
        # Some browsers paste then, which is the machine's own to do.
        hands.page.keyboard.press("z")
        hands.arrive("click right 300,200", "click middle 300,220", "key z")

    def test_drag_goes_from_where_it_began_to_where_it_ended(self, hands: Hands) -> None:
        hands.page.mouse.move(*hands.over(100, 600))
        hands.page.mouse.down()
        hands.page.mouse.move(*hands.over(500, 650), steps=5)
        hands.page.mouse.move(*hands.over(700, 700), steps=5)
        hands.page.mouse.up()
        hands.arrive("drag left 100,600 to 700,700")

    def test_wheel_turns_as_many_notches(self, hands: Hands) -> None:
        hands.page.mouse.move(*hands.over(640, 400))
        hands.page.mouse.wheel(0, 300)
        hands.arrive(*["scroll down"] * 3)
        hands.page.mouse.wheel(0, -100)
        hands.arrive(*["scroll down"] * 3, "scroll up")

    def test_typing_arrives_as_the_same_characters_in_order(self, hands: Hands) -> None:
        hands.page.keyboard.type("Hallo +-!")
        hands.arrive(*(f"key {key}" for key in ("H", "a", "l", "l", "o", "space", "+", "-", "!")))

    def test_key_combinations_arrive_as_they_were_pressed(self, hands: Hands) -> None:
        for pressed, arrived in COMBINATIONS.items():
            (line,) = what_arrives_of(hands, pressed)
            assert line.lower().replace("iso left tab", "tab") == f"key {arrived}"


def what_arrives_of(hands: Hands, pressed: str) -> list[str]:
    before = len(hands.new())
    hands.page.keyboard.press(pressed)
    hands.until(lambda: len(hands.new()) > before, f"{pressed} arrives")
    return hands.new()[before:]


def test_keys_that_a_browser_keeps_are_buttons(hands: Hands) -> None:
    hands.open("Keys")
    hands.page.get_by_role("button", name="Ctrl+Alt+Del").click()
    hands.arrive("key ctrl+alt+delete")
    hands.open("Clipboard")
    hands.page.get_by_label("Text").fill("ab\N{LATIN SMALL LETTER SHARP S}")
    hands.page.get_by_role("button", name="Type it").click()
    hands.arrive("key ctrl+alt+delete", "key a", "key b", "key \N{LATIN SMALL LETTER SHARP S}")


def test_shown_keys_give_control_back_and_then_nothing_is_sent(looking: Visit, desk: Desk) -> None:
    page, wire = looking.page, Wire(looking.page)
    # The route is there for pages from now on.
    page.reload()
    hands = Hands(page, desk)
    hands.take()
    expect(page.locator(".sign")).to_contain_text("Ctrl+Alt+Shift+Q gives it back")
    page.keyboard.press(LEAVING)
    expect(page.get_by_role("button", name="Take control")).to_be_visible()
    expect(page.get_by_text("You are in control")).to_have_count(0)
    # What was held to leave is let go, and Q went nowhere.
    hands.until(lambda: len(wire.events) >= 4, "it is let go")
    assert [(event["key"], event["down"]) for event in wire.events] == [
        ("ctrl", True),
        ("alt", True),
        ("alt", False),
        ("ctrl", False),
    ]
    page.mouse.click(*hands.over(200, 150))
    page.keyboard.type("abc")
    done = len(wire.events)
    hands.take()
    page.mouse.click(*hands.over(250, 150))
    hands.until(lambda: "click left" in str(hands.new()), "the click arrives")
    assert len(wire.events) == done + 2
    page.get_by_role("button", name="Give back").click()
    hands.until(lambda: looking.site.api.machine(desk.machine)["control"] is None, "it is free")


def test_pointer_is_followed_and_what_is_drawn_keeps_its_corners(hands: Hands, desk: Desk) -> None:
    witness = Witness(desk.display)
    corners = [(100, 500), (400, 500), (400, 700), (100, 700), (100, 500)]
    page = hands.page
    page.mouse.move(*hands.over(50, 50))
    page.mouse.move(*hands.over(*corners[0]))
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*hands.over(*corner), steps=20)
    page.mouse.up()
    hands.until(lambda: "drag" in str(hands.new()), "it arrives")
    events = witness.take()
    witness.close()
    assert [str(each) for each in events if each.kind != "MotionNotify"] == [
        "ButtonPress 1",
        "ButtonRelease 1",
    ]
    # It was seen before anything was pressed.
    assert events[0].kind == "MotionNotify"
    places = [(each.x, each.y) for each in events]
    for x, y in corners:
        assert min(max(abs(x - a), abs(y - b)) for a, b in places) <= 2
    for a, b in places[1:]:
        near_x, near_y = (min(abs(a - x) for x in (100, 400)), min(abs(b - y) for y in (500, 700)))
        assert min(near_x, near_y) <= 3


def test_long_press_lasts_and_all_is_let_go_where_the_page_loses_the_keyboard(
    hands: Hands, desk: Desk
) -> None:
    page = hands.page
    page.mouse.move(*hands.over(300, 300))
    page.mouse.down()
    page.keyboard.down("Control")
    page.keyboard.down("x")
    hands.until(lambda: len(held_on(desk.display).keycodes) == 2, "keys are held")
    assert held_on(desk.display).buttons == {1}
    page.wait_for_timeout(300)
    assert held_on(desk.display).buttons == {1}
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    hands.until(lambda: held_on(desk.display) == NOTHING, "everything is let go")
    page.keyboard.up("x")
    page.keyboard.up("Control")
    page.mouse.up()
    assert held_on(desk.display) == NOTHING


def test_click_is_held_with_shift_and_ctrl(hands: Hands, desk: Desk) -> None:
    witness, page = Witness(desk.display), hands.page
    page.keyboard.down("Shift")
    page.mouse.click(*hands.over(300, 300))
    page.keyboard.up("Shift")
    hands.until(lambda: "KeyRelease" in str([*map(str, witness.seen())]), "it arrives")
    kinds = [each.kind for each in witness.take() if each.kind != "MotionNotify"]
    witness.close()
    assert kinds[:3] == ["KeyPress", "ButtonPress", "ButtonRelease"]


def test_finger_clicks_presses_long_for_the_right_button_and_drags(
    browser: Browser, site: Site, desk: Desk
) -> None:
    with Visit.begun(browser, site, has_touch=True) as visit:
        visit.sign_in(f"/machines/{desk.machine}")
        expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
        hands = Hands(visit.page, desk)
        hands.take()
        touch = visit.page.context.new_cdp_session(visit.page)

        def finger(kind: str, *place: int, **at: float) -> None:
            points = [dict(zip("xy", hands.over(*place), strict=True))] if place else []
            said = {"type": f"touch{kind}", "touchPoints": points, **at}
            touch.send("Input.dispatchTouchEvent", said)

        # A short one by its own time, however busy the browser is.
        began = time.time()
        finger("Start", 200, 150, timestamp=began)
        finger("End", timestamp=began + 0.02)
        hands.arrive("click left 200,150")
        finger("Start", 300, 150)
        visit.page.wait_for_timeout(700)
        finger("End")
        hands.arrive("click left 200,150", "click right 300,150")
        finger("Start", 100, 300)
        finger("Move", 200, 400)
        finger("Move", 400, 500)
        finger("End")
        done = ["click left 200,150", "click right 300,150", "drag left 100,300 to 400,500"]
        hands.arrive(*done)
        # As on leaving the page; a browser that is ended tells it nothing.
        visit.page.close()
    until(lambda: site.api.machine(desk.machine)["control"] is None, "control is free")


def test_composed_text_arrives(hands: Hands) -> None:
    page = hands.page
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    session.send("Input.insertText", {"text": "日本"})
    hands.arrive("key 日", "key 本")


@pytest.fixture
def wired(looking: Visit, desk: Desk) -> Iterator[tuple[Hands, Wire]]:
    """As ``hands``, with a hold on the connection."""
    page, wire = looking.page, Wire(looking.page)
    page.reload()
    expect(page.get_by_text("Live. The picture changes")).to_be_visible()
    hands = Hands(page, desk)
    hands.take()
    hands.until(lambda: wire.urls, "they are connected")
    yield hands, wire
    page.close()
    until(lambda: looking.site.api.machine(desk.machine)["control"] is None, "control is free")


def test_what_takes_long_is_said_and_then_forgotten(wired: tuple[Hands, Wire]) -> None:
    hands, wire = wired
    said = hands.page.locator(".said")
    wire.is_held = True
    hands.page.mouse.click(*hands.over(400, 300))
    expect(said).to_have_text("Sending…")
    wire.release()
    hands.arrive("click left 400,300")
    expect(said).to_have_text("")


def test_what_was_not_sent_is_named(wired: tuple[Hands, Wire]) -> None:
    hands, wire = wired
    page, lost = hands.page, hands.page.locator(".lost")
    wire.is_held = True
    page.mouse.click(*hands.over(400, 300), button="right")
    page.keyboard.type("abc")
    hands.until(lambda: len(wire.events) == 8, "it is on its way")
    wire.cut()
    expect(page.locator(".said")).to_have_text("The connection was lost.")
    unknown = "It is not known whether this was carried out: right click at (400, 300), 3 keys."
    expect(lost).to_contain_text(unknown)
    tries = len(wire.tries)
    hands.until(lambda: len(wire.tries) > tries, "it has tried to come back")
    page.keyboard.type("de")
    expect(lost).to_have_text(f"{unknown} Look at the screen before you go on. Not sent: 2 keys.")
    tries = len(wire.tries)
    hands.until(lambda: len(wire.tries) > tries + 1, "it has tried again")
    page.keyboard.type("f")
    expect(lost).to_have_text(f"{unknown} Look at the screen before you go on. Not sent: 3 keys.")
    # The next try succeeds: what was done before it is not sent then.
    page.keyboard.type("g")
    hands.come_back(wire)
    expect(lost).to_have_text(f"{unknown} Look at the screen before you go on. Not sent: 4 keys.")
    page.keyboard.type("z")
    hands.arrive("key z")
    expect(page.locator(".said")).to_have_text("")
    expect(lost).to_contain_text(unknown)
    page.get_by_role("button", name="Dismiss").click()
    expect(lost).to_have_text("")
    page.keyboard.type("y")
    hands.arrive("key z", "key y")


def test_refusal_is_told_in_words_and_what_waited_behind_it_is_named(
    wired: tuple[Hands, Wire],
) -> None:
    hands, wire = wired
    said = hands.page.locator(".said")
    left = {"button": "left", "x": 4, "y": 5}
    wire.answer(
        {
            "type": "refused",
            "sequence": 1,
            "problem": "input-failed",
            "detail": "the machine tried and failed: its display is gone",
            "not_sent": {"moves": 7, "presses": [left], "notches": 2, "keys": 1, "characters": 3},
        }
    )
    expect(said).to_have_text("The machine tried and failed: its display is gone.")
    lost = hands.page.locator(".lost")
    not_sent = "Not sent: left click at (4, 5), 1 key, 3 characters, 2 notches."
    expect(lost).to_have_text(not_sent)
    hands.page.mouse.click(*hands.over(410, 300))
    hands.arrive("click left 410,300")
    expect(said).to_have_text("")
    expect(lost).to_have_text(not_sent)


def test_commands_are_told_with_who_and_how_they_ended_and_never_what_was_typed(
    looking: Visit, desk: Desk
) -> None:
    site, page = looking.site, looking.page
    made = site.new_token("input:send", name="the nightly robot")
    robot = ServedApi(site.server.url, made["token"])
    robot.send(desk.machine, "keyboard/type", {"text": "hunter2"})
    robot.send(desk.machine, "mouse/click", {"x": 9000, "y": 5})
    robot.close()
    commands = page.locator(".commands li")
    expect(commands.nth(0)).to_contain_text("Click")
    expect(commands.nth(0)).to_contain_text("Refused")
    expect(commands.nth(0)).to_contain_text("the nightly robot")
    expect(commands.nth(1)).to_contain_text("Text")
    expect(commands.nth(1)).to_contain_text("Completed")
    page.reload()
    expect(commands.nth(1)).to_contain_text("Text")
    expect(page.get_by_text("hunter2")).to_have_count(0)
    expect(page.locator(".facts")).to_contain_text("failed")


def test_work_by_hand_is_told_as_a_stretch_and_counted_and_never_what_was_typed(
    hands: Hands,
) -> None:
    page = hands.page
    page.mouse.click(*hands.over(200, 150))
    page.keyboard.type("hunter2")
    page.keyboard.press("Enter")
    hands.until(lambda: "key enter" in str(hands.new()), "it arrives")
    page.get_by_role("button", name="Give back").click()
    stretch = page.locator(".commands li").first
    for words in ("Worked by hand", "Completed", "1 click, 7 characters, 1 key, in "):
        expect(stretch).to_contain_text(words)
    page.reload()
    expect(stretch).to_contain_text("1 click, 7 characters, 1 key, in ")
    expect(page.get_by_text("hunter2")).to_have_count(0)
    expect(page.locator(".facts")).to_contain_text(re.compile(r"Inputs(9|\d\d+) completed"))


def test_commands_are_read_again_when_the_server_is_back(looking: Visit, desk: Desk) -> None:
    page = looking.page
    page.route("**/commands?*", lambda route: route.abort())
    page.reload()
    aside = page.locator("aside")
    expect(aside).to_contain_text("The server does not answer")
    page.unroute("**/commands?*")
    expect(aside).not_to_contain_text("The server does not answer")
    expect(aside).not_to_contain_text("Reading")


def test_machine_is_renamed_in_its_place(looking: Visit, desk: Desk) -> None:
    page = looking.page
    try:
        page.get_by_role("button", name="Rename").click()
        page.get_by_label("New name").fill("Reception, ground floor")
        page.keyboard.press("Enter")
        heading = page.get_by_role("heading", name="Reception, ground floor")
        expect(heading).to_be_visible()
        expect(page).to_have_title(re.compile("^Reception, ground floor"))
        page.get_by_role("button", name="Rename").click()
        page.keyboard.press("Escape")
        expect(heading).to_be_visible()
        assert looking.site.api.machine(desk.machine)["name"] == "Reception, ground floor"
    finally:
        looking.site.api.call("PATCH", f"/v1/machines/{desk.machine}", {"name": "Reception"})


def test_pause_has_a_reason_and_an_end(looking: Visit, desk: Desk) -> None:
    page, machine = looking.page, f"/v1/machines/{desk.machine}"
    page.get_by_role("button", name="Pause", exact=True).click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Pause", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("a new printer")
    dialog.get_by_label("Until").fill("2020-01-01T08:00")
    dialog.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("must lie in the future")).to_be_visible()
    end = datetime.now(UTC) + timedelta(days=3)
    dialog.get_by_label("Until").fill(end.strftime("%Y-%m-%dT%H:%M"))
    dialog.get_by_role("button", name="Pause").click()
    expect(page.locator(".lead")).to_contain_text(
        re.compile(f"Paused.*By administrator until .*{end.year}.*: a new printer")
    )
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".lead")).to_contain_text("Online")
    assert looking.site.api.call("GET", machine).json["pause"] is None


def test_without_the_scopes_one_looks_or_is_told_what_is_lacking(
    browser: Browser, site: Site, desk: Desk
) -> None:
    seeing = site.new_token("machines:read", "screen:read")
    with Visit.begun(browser, site) as visit:
        visit.sign_in(f"/machines/{desk.machine}", seeing["token"])
        page = visit.page
        expect(page.get_by_text("Live. The picture changes")).to_be_visible()
        expect(page.get_by_role("button", name="Take control")).to_be_disabled()
        expect(
            page.get_by_text("lacks the scopes input:send and machines:control, so you can look")
        ).to_be_visible()
        expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
    knowing = site.new_token("machines:read")
    with Visit.begun(browser, site) as visit:
        visit.sign_in(f"/machines/{desk.machine}", knowing["token"])
        expect(visit.page.get_by_text("Your token lacks the scope screen:read")).to_be_visible()


def test_machine_that_goes_and_comes_back_is_seen_to(operator: Visit) -> None:
    site, page = operator.site, operator.page
    machine, _ = site.add_machine("Not yet")
    operator.go(f"/machines/{machine}")
    expect(page.get_by_text("This machine has never connected")).to_be_visible()
    expect(page.get_by_text(f"farhand-machine join --server {site.server.url}")).to_be_visible()
    with site.desk("Wanderer") as desk:
        operator.go(f"/machines/{desk.machine}")
        expect(page.get_by_text("Live. The picture changes")).to_be_visible()
        hands = Hands(page, desk)
        hands.take()
        desk.client.kill()
        expect(page.locator(".lead")).to_contain_text("Offline")
        sign = page.locator(".sign")
        expect(sign).to_contain_text(
            "You keep control of Wanderer, which takes no input now: The connection broke."
        )
        expect(page.locator(".veil")).to_contain_text("not connected")
        page.keyboard.press("x")
        expect(page.locator(".lost")).to_contain_text("Not sent: 1 key.")
        with desk.join():
            # A link that was lost ends nobody's control (docs/reference/control.md).
            expect(sign).to_contain_text("You are in control of Wanderer")
            expect(page.get_by_text("Live. The picture changes")).to_be_visible()
            page.mouse.click(*hands.over(200, 150))
            hands.arrive("click left 200,150")
        page.get_by_role("button", name="Give back").click()
        expect(sign).to_contain_text("Control needs a machine that is online.")


def test_removed_machine_is_said_to_be_gone(operator: Visit) -> None:
    machine, _ = operator.site.add_machine("Short-lived")
    operator.go(f"/machines/{machine}")
    page = operator.page
    expect(page.get_by_role("heading", name="Short-lived")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    operator.site.api.call("DELETE", f"/v1/machines/{machine}")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()


def test_revoked_token_ends_the_live_screen_and_the_visit(visit: Visit, desk: Desk) -> None:
    made = visit.site.new_token("machines:read", "screen:read")
    visit.sign_in(f"/machines/{desk.machine}", made["token"])
    expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
    visit.site.api.call("DELETE", f"/v1/tokens/{made['id']}")
    expect(visit.page.get_by_text("Your session has ended")).to_be_visible()
    expect(visit.page.locator("canvas")).to_have_count(0)
