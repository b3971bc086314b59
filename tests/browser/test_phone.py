"""A machine worked on with a phone: fingers, a dragged pointer, the keys that a phone lacks."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.hands import WIDTH
from tests.browser.phones import PHONE, Phone, button
from tests.browser.rig import Desk, Site, Visit
from tests.desktop import Witness
from tests.held import NOTHING, held_on
from tests.processes import until


@pytest.fixture
def phone(browser: Browser, site: Site, desk: Desk) -> Iterator[Phone]:
    """Somebody who sees the machine's screen on a phone."""
    with Visit.begun(browser, site, **PHONE) as visit:
        yield Phone(visit, desk)
        visit.page.close()
    until(lambda: site.api.machine(desk.machine)["control"] is None, "control is free")


@pytest.fixture
def working(phone: Phone) -> Phone:
    """The same in control."""
    phone.take()
    return phone


def asked_width(phone: Phone) -> int:
    width: int = phone.page.locator(".stage canvas").evaluate("({width}) => width")
    return width


def ask_in_vain(phone: Phone) -> None:
    """Look at every pixel of an enlarged picture, which does not come."""
    phone.page.route("**/display/stream*", lambda route: None)
    button(phone.page, "Fit").click()
    button(phone.page, "Actual size").click()
    expect(phone.page.get_by_text("Asking for the screen…")).to_be_visible()


def near(events: list[Any], place: tuple[int, int]) -> bool:
    """Whether the pointer's last place was there."""
    return bool(events) and max(abs(events[-1].x - place[0]), abs(events[-1].y - place[1])) <= 2


def test_two_fingers_enlarge_the_picture_and_draw_it_about_and_the_machine_hears_nothing(
    working: Phone, desk: Desk
) -> None:
    witness = Witness(desk.display)
    middle = working.over(960, 200)
    before, width = working.box(), asked_width(working)
    working.pinch(middle, 40, 120)
    # What was between the fingers still is.
    assert working.over(960, 200) == pytest.approx(middle, abs=2)
    after = working.box()
    assert after["width"] == pytest.approx(3 * before["width"], abs=2)
    stage = working.page.locator(".stage").bounding_box()
    assert stage is not None
    assert stage["width"] == pytest.approx(before["width"], abs=1)
    # What is enlarged has more to show.
    working.until(lambda: asked_width(working) > width, "a finer picture comes")
    x, y = middle
    working.put((x - 30, y), (x + 30, y))
    for right in (10, 20, 40):
        working.touch("Move", (x - 30 + right, y + 5), (x + 30 + right, y + 5))
    working.touch("End", (x + 5, y))  # One finger stays a while.
    working.touch("Move", (x + 40, y + 30))
    working.lift()
    assert working.over(960, 200) == pytest.approx((x + 40, y + 5), abs=2)
    # A tap arrives where it is seen.
    working.tap(working.over(900, 220))
    working.arrive("click left 900,220")
    places = {(each.x, each.y) for each in witness.take()}
    witness.close()
    assert len(places) == 1
    working.pinch(working.over(900, 220), 120, 20)
    assert working.box() == pytest.approx(before, abs=1)


def test_drag_that_a_second_finger_joins_ends(working: Phone, desk: Desk) -> None:
    x, y = working.over(300, 300)
    working.put((x, y))
    working.page.wait_for_timeout(120)  # By then it is meant for the machine.
    working.touch("Move", (x + 20, y))
    working.until(lambda: held_on(desk.display).buttons == {1}, "it is pressed")
    working.touch("Start", (x + 20, y), (x + 60, y))
    working.until(lambda: held_on(desk.display) == NOTHING, "it is let go")
    working.touch("Move", (x + 30, y), (x + 90, y))
    working.lift()
    working.arrive("drag left 300,300 to 370,300")


def test_picture_is_enlarged_without_control_and_by_keyboard(phone: Phone) -> None:
    page = phone.page
    before = phone.box()
    phone.pinch(phone.over(640, 400), 50, 100)
    larger = phone.box()
    assert larger["width"] == pytest.approx(2 * before["width"], abs=2)
    assert page.evaluate("visualViewport.scale") == 1
    # One finger draws it about, as far as its edge.
    x, y = phone.over(640, 400)
    phone.slide((x, y), (x + 10, y), (x + 30, y))
    assert phone.box()["x"] == pytest.approx(larger["x"] + 30, abs=1)
    for way in (60, 200, 200):
        phone.slide((x - 100, y), (x - 90, y), (x - 100 + way, y))
    assert phone.box()["x"] == pytest.approx(before["x"], abs=1)
    button(page, "Fit").click()
    assert phone.box() == pytest.approx(before, abs=1)
    button(page, "Zoom in").focus()
    page.keyboard.press("Enter")
    assert phone.box()["width"] == pytest.approx(1.5 * before["width"], abs=2)
    page.locator(".stage canvas").focus()
    place = phone.box()["x"]
    page.keyboard.press("ArrowRight")
    phone.until(lambda: phone.box()["x"] == pytest.approx(place - 40, abs=1), "it scrolls")
    button(page, "Zoom out").click()
    expect(button(page, "Zoom out")).to_be_disabled()
    assert phone.box() == pytest.approx(before, abs=1)
    # From pixel by pixel it goes on as large as it was.
    button(page, "Actual size").click()
    phone.until(lambda: phone.box()["width"] == WIDTH, "every pixel is shown")
    stage = page.locator(".stage").bounding_box()
    assert stage is not None
    phone.pinch((stage["x"] + 180, stage["y"] + 100), 100, 110)
    phone.until(lambda: phone.box()["width"] == pytest.approx(1.1 * WIDTH, abs=5), "it is larger")
    # Also while another picture is asked for.
    ask_in_vain(phone)
    width = phone.box()["width"]
    phone.pinch((stage["x"] + 180, stage["y"] + 100), 100, 150)
    phone.until(lambda: phone.box()["width"] == pytest.approx(1.5 * width, abs=5), "larger still")


def test_finger_drags_the_pointer_as_on_a_touchpad(working: Phone, desk: Desk) -> None:
    page = working.page
    working.tap(working.over(640, 400))
    working.arrive("click left 640,400")
    touchpad = button(page, "Touchpad")
    expect(touchpad).to_have_attribute("aria-pressed", "false")
    touchpad.click()
    expect(touchpad).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("A finger moves the pointer; a tap clicks where")).to_be_visible()
    pixel = WIDTH / working.box()["width"]
    witness = Witness(desk.display)
    # Wherever the finger is, the pointer goes as far as it does.
    x, y = working.over(200, 150)
    working.slide((x, y), (x + 20, y), (x + 40, y + 10))
    place = (640 + round(40 * pixel), 400 + round(10 * pixel))
    where = f"{place[0]},{place[1]}"
    working.until(lambda: near(witness.seen(), place), "the pointer moves")
    assert {each.kind for each in witness.take()} == {"MotionNotify"}
    witness.close()
    done = ["click left 640,400", f"click left {where}"]
    working.tap((x, y))
    working.arrive(*done)
    done += [f"click right {where}"]
    working.page.wait_for_timeout(300)  # Or it would go on with the tap.
    working.tap((x, y), 700)
    working.arrive(*done)
    # Tap and drag, for which a page has a quarter of a second.
    with working.at_once():
        working.slide((x, y))
        working.slide((x, y), (x + 30, y), (x + 60, y))
    working.arrive(*done, f"drag left {where} to {place[0] + round(60 * pixel)},{place[1]}")
    # The pointer is shown where it is.
    dot = page.locator(".pointer").bounding_box()
    assert dot is not None
    seen = working.over(place[0] + round(60 * pixel), place[1])
    assert (dot["x"] + 9, dot["y"] + 9) == pytest.approx(seen, abs=2)
    # Remembered while the page is open.
    button(page, "Give back").click()
    expect(page.locator(".pointer")).to_be_hidden()
    working.take()
    expect(touchpad).to_have_attribute("aria-pressed", "true")
    count = len(working.new())
    with working.at_once():
        working.slide((x, y))
        working.slide((x, y))
    working.until(lambda: len(working.new()) == count + 2, "a double click arrives")
    assert {line.split()[0] for line in working.new()[count:]} == {"click"}


def test_enlarged_picture_follows_the_dragged_pointer(working: Phone) -> None:
    page = working.page
    button(page, "Touchpad").click()
    working.tap(working.over(640, 400))
    working.until(working.new, "it clicks")
    # Where the pointer is was asked: until that is known a finger moves nothing.
    expect(page.locator(".pointer")).to_be_visible()
    working.pinch(working.over(640, 400), 30, 120)
    x, y = working.over(640, 400)
    for _ in range(3):
        working.slide((x - 80, y), (x, y), (x + 100, y))
    stage = page.locator(".stage").bounding_box()
    dot = page.locator(".pointer").bounding_box()
    assert stage is not None
    assert dot is not None
    assert stage["x"] < dot["x"] < stage["x"] + stage["width"]
    left, _ = working.over(640, 400)
    assert left < x - 80
    # Without a picture nothing is clicked.
    ask_in_vain(working)
    count = len(working.new())
    working.tap((x, y), 700)
    button(page, "Esc").click()
    working.until(lambda: len(working.new()) > count, "a key arrives")
    assert [line.lower() for line in working.new()[count:]] == ["key esc"]


def test_keys_that_a_phone_lacks_are_buttons_and_modifiers_wait_for_the_next_key(
    working: Phone,
) -> None:
    page = working.page
    for name in ("Esc", "Left", "Tab"):
        button(page, name).click()
    done = ["key esc", "key left", "key tab"]
    working.until(lambda: [line.lower() for line in working.new()] == done, "they arrive")
    ctrl, shift = button(page, "Ctrl +"), button(page, "Shift +")
    ctrl.click()
    shift.click()
    expect(ctrl).to_have_attribute("aria-pressed", "true")
    button(page, "More keys").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
    boxes = [each.bounding_box() for each in page.locator(".keys button").all()]
    assert all(box and min(box["width"], box["height"]) >= 32 for box in boxes)
    button(page, "F5").click()
    done.append("key ctrl+shift+f5")
    working.until(lambda: [line.lower() for line in working.new()] == done, "with modifiers")
    for each in (ctrl, shift):
        expect(each).to_have_attribute("aria-pressed", "false")
    ctrl.click()
    page.keyboard.press("c")
    ctrl.click()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("c")
    done += ["key ctrl+c", "key ctrl+up", "key c"]
    working.until(lambda: [line.lower() for line in working.new()] == done, "with what is typed")
    # Pressed twice, it is not meant.
    ctrl.click()
    ctrl.click()
    shift.click()
    page.keyboard.press("x")
    working.until(lambda: working.new()[-1] == "key X", "with shift")
    # The focus stays with what is typed, also where a finger points at a button.
    button(page, "Enter").tap()
    expect(page.locator(".typing")).to_be_focused()


def test_what_a_phones_keyboard_makes_arrives_as_it_happens(working: Phone) -> None:
    page = working.page
    typing = page.locator(".typing")
    assert typing.evaluate("(field) => field.inputMode") == "none"
    button(page, "Keyboard").tap()
    expect(button(page, "Keyboard")).to_have_attribute("aria-pressed", "true")
    expect(typing).to_be_focused()
    assert typing.evaluate("(field) => field.inputMode") == "text"
    for word in ("t", "te", "teh"):
        working.compose(word)
    done = ["key t", "key e", "key h"]
    working.arrive(*done)
    # It corrects the word when the next one begins.
    working.commit("the ")
    done += ["key backspace", "key backspace", "key h", "key e", "key space"]
    working.until(lambda: [line.lower() for line in working.new()] == done, "corrected")
    for _ in range(6):
        working.take_back()
    done += ["key backspace"] * 6
    working.until(lambda: [line.lower() for line in working.new()] == done, "taken back")
    button(page, "Ctrl +").tap()
    working.compose("s")
    done += ["key ctrl+s"]
    working.until(lambda: [line.lower() for line in working.new()] == done, "with a modifier")


def test_buttons_of_keys_are_reached_by_keyboard_and_left_again(working: Phone) -> None:
    page = working.page
    page.keyboard.press("Control+Alt+Shift+K")
    expect(button(page, "More keys")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(button(page, "Ctrl +")).to_be_focused()
    page.keyboard.press("Space")
    # Back over the buttons, and over what became of the inputs, which scrolls.
    for _ in range(5):
        page.keyboard.press("Shift+Tab")
    expect(page.locator(".typing")).to_be_focused()
    page.keyboard.press("a")
    working.until(lambda: "key ctrl+a" in working.new(), "the key arrives")
