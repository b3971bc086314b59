"""Ways to look at a machine's screen, and what is said where nothing is heard of it any more."""

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.hands import HEIGHT, WIDTH, Hands
from tests.browser.rig import Desk, Visit
from tests.processes import go_on, stop, until

LIVE = "Live. The picture changes"
DOUBT = "Nothing has come from the server for 5 seconds: this picture may be old."

COUNT_WHAT_COMES = """
    window.heard = 0;
    const { read } = ReadableStreamDefaultReader.prototype;
    ReadableStreamDefaultReader.prototype.read = async function (...options) {
        const answer = await read.apply(this, options);
        if (location.hash.startsWith('#/machines/')) window.heard += 1;
        return answer;
    };
"""


def canvas_size(page: Page) -> list[int]:
    size: list[int] = page.locator(".stage canvas").evaluate("({width, height}) => [width, height]")
    return size


def look(visit: Visit, desk: Desk) -> None:
    visit.sign_in(f"/machines/{desk.machine}")
    expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()


def test_every_pixel_is_shown_as_one_and_clicks_land_where_they_are_shown(
    visit: Visit, desk: Desk
) -> None:
    look(visit, desk)
    page = visit.page
    page.get_by_role("button", name="Actual size").click()
    until(lambda: canvas_size(page) == [WIDTH, HEIGHT], "the picture has all pixels")
    canvas, stage = page.locator(".stage canvas"), page.locator(".stage")
    box, frame = canvas.bounding_box(), stage.bounding_box()
    assert box is not None
    assert frame is not None
    assert (box["width"], box["height"]) == (WIDTH, HEIGHT)
    assert frame["width"] < WIDTH
    # What does not fit is drawn into sight.
    page.mouse.move(frame["x"] + 300, frame["y"] + 100)
    page.mouse.down()
    page.mouse.move(frame["x"] + 100, frame["y"] + 60)
    page.mouse.up()
    assert stage.evaluate("({scrollLeft, scrollTop}) => [scrollLeft, scrollTop]") == [200, 40]
    hands = Hands(page, desk)
    hands.take()
    frame = stage.bounding_box()
    assert frame is not None
    page.mouse.click(frame["x"] + 500, frame["y"] + 300)
    hands.arrive("click left 700,340")
    page.get_by_role("button", name="Give back").click()
    page.get_by_role("button", name="Fit").click()
    until(lambda: canvas_size(page)[0] < WIDTH, "the picture fits")


def test_one_of_several_displays_fills_the_stage(visit: Visit, desk: Desk) -> None:
    half = WIDTH // 2
    displays = [{"x": x, "y": 0, "width": half, "height": HEIGHT, "scale": 1} for x in (0, half)]

    def with_two(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=json.dumps({**answer.json(), "displays": displays}))

    # This system's X server has one display, so the server's answer is told otherwise.
    visit.page.route(f"**/v1/machines/{desk.machine}", with_two)
    visit.page.route("**/v1/events*", lambda route: route.fulfill(status=404))
    look(visit, desk)
    page = visit.page
    page.get_by_label("Display").select_option(index=2)
    until(lambda: canvas_size(page)[0] < canvas_size(page)[1], "one display is shown")
    hands = Hands(page, desk)
    hands.take()
    box = page.locator(".stage canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    hands.arrive(f"click left {half + half // 4},{HEIGHT // 2}")
    page.get_by_role("button", name="Give back").click()
    page.get_by_label("Display").select_option("All")
    until(lambda: canvas_size(page)[0] > canvas_size(page)[1], "all displays are shown")


def test_picture_alone_fills_the_screen_and_its_tools_come_to_the_pointer(
    visit: Visit, desk: Desk
) -> None:
    look(visit, desk)
    page = visit.page
    page.get_by_role("button", name="Full screen").click()
    leave = page.get_by_role("button", name="Leave full screen")
    expect(leave).to_be_attached()
    expect(leave).not_to_be_in_viewport()
    assert page.evaluate("document.fullscreenElement.className") == "work"
    window = page.evaluate("[innerWidth, innerHeight]")
    box = page.locator(".stage canvas").bounding_box()
    assert box is not None
    assert box["width"] == window[0] or box["height"] == window[1]
    page.mouse.move(window[0] / 2, 1)
    expect(leave).to_be_in_viewport()
    page.mouse.move(window[0] / 2, window[1] / 2)
    expect(leave).not_to_be_in_viewport()
    # By keyboard too.
    leave.focus()
    expect(leave).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Full screen", exact=True)).to_be_visible()
    assert page.evaluate("document.fullscreenElement") is None


@pytest.mark.parametrize("size", [(1366, 768), (1440, 900), (1920, 1080)], ids=str)
def test_all_that_one_needs_in_control_is_in_sight(
    visit: Visit, desk: Desk, size: tuple[int, int]
) -> None:
    page = visit.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    look(visit, desk)
    hands = Hands(page, desk)
    hands.take()
    for name in ("Give back", "Zoom in", "Actual size", "Full screen", "Details", "Pause"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    expect(page.locator(".stage")).to_be_in_viewport(ratio=1)
    expect(page.locator(".outcomes")).to_be_in_viewport(ratio=1)
    hands.open("Clipboard")
    expect(page.get_by_label("Text", exact=True)).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Copy from machine")).to_be_in_viewport(ratio=1)
    hands.open("Keys")
    expect(page.get_by_role("button", name="Ctrl+Alt+Del")).to_be_in_viewport(ratio=1)
    # Nothing is left to scroll to, and the picture has at least six tenths of the window.
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.get_by_role("button", name="Details").click()
    expect(page.locator(".drawer")).to_have_count(0)
    box = page.locator(".stage canvas").bounding_box()
    assert box is not None
    assert box["width"] * box["height"] > 0.5 * size[0] * size[1]
    page.get_by_role("button", name="Give back").click()


@pytest.fixture
def watching(visit: Visit, desk: Desk) -> Visit:
    """Somebody who sees the machine's live screen, and whose clock can be put forward."""
    visit.page.clock.install()
    visit.page.add_init_script(COUNT_WHAT_COMES)
    # The events, which come over a stream as well, are not what is listened to here.
    visit.page.route("**/v1/events*", lambda route: route.fulfill(status=404))
    visit.sign_in(f"/machines/{desk.machine}")
    expect(visit.page.get_by_text(LIVE)).to_be_visible()
    return visit


def heard(page: Page) -> int:
    page.wait_for_timeout(10)
    count: int = page.evaluate("heard")
    return count


def test_still_picture_is_not_doubted(watching: Visit) -> None:
    page = watching.page
    for count in range(1, 3):
        page.evaluate("window.heard = 0")
        until(lambda: heard(page), f"the stream says that it is alive, {count}")
        page.clock.fast_forward(4_000)
        expect(page.get_by_text(LIVE)).to_be_visible()
        expect(page.get_by_text(DOUBT)).to_have_count(0)


def test_silence_is_said_and_taken_back(watching: Visit) -> None:
    page, node = watching.page, watching.site.process.process
    stop(node.pid)
    try:
        page.clock.fast_forward(6_000)
        expect(page.get_by_role("status").filter(has_text=DOUBT)).to_be_visible()
        expect(page.get_by_text(LIVE)).to_have_count(0)
    finally:
        go_on(node.pid)
    expect(page.get_by_text(LIVE)).to_be_visible()
    expect(page.get_by_text(DOUBT)).to_have_count(0)
    stop(node.pid)
    try:
        page.clock.fast_forward(26_000)
        expect(page.get_by_text("The picture has stopped; asking for it again…")).to_be_visible()
    finally:
        go_on(node.pid)
    expect(page.get_by_text(LIVE)).to_be_visible()
