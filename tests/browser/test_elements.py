"""What is under the pointer on a machine's page, and the selector that finds it again."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.rig import Site, Visit, stop_the_clock
from tests.links import NO_ELEMENTS, hello
from tests.machine_client.desktop.accessibility.rig import (
    AccessibleDesktop,
    Program,
    accessible_desktop,
)
from tests.processes import joined


@pytest.fixture(scope="module")
def accessible() -> Iterator[AccessibleDesktop]:
    with accessible_desktop() as desktop:
        yield desktop


@pytest.fixture(scope="module")
def shown(accessible: AccessibleDesktop) -> Iterator[Program]:
    with accessible.gtk3() as program:
        yield program


@pytest.fixture(scope="module")
def machine(site: Site, accessible: AccessibleDesktop, shown: Program) -> Iterator[str]:
    """A machine that shows an invoice, whose programs tell what they show."""
    machine, token = site.add_machine("Accounts")
    directory = site.server.directory / machine
    with joined(site.server.url, token, directory, accessible.display):
        yield machine


@pytest.fixture
def looking(browser: Browser, site: Site, machine: str) -> Iterator[Visit]:
    with Visit.begun(browser, site, permissions=["clipboard-read", "clipboard-write"]) as visit:
        visit.page.clock.install()
        visit.sign_in(f"/machines/{machine}")
        expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
        yield visit


def point_at(visit: Visit, machine: str, name: str) -> None:
    """Rest with the pointer on the middle of a button."""
    path = f"/v1/computer/{machine}/elements?role=push%20button&name={name}"
    (found,) = visit.site.api.call("GET", path).json["items"]
    bounds = found["bounds"]
    box = visit.page.locator(".stage canvas").bounding_box()
    assert box is not None
    scale = box["width"] / 1280
    x = box["x"] + (bounds["x"] + bounds["width"] / 2) * scale
    y = box["y"] + (bounds["y"] + bounds["height"] / 2) * scale
    visit.page.mouse.move(x - 3, y)
    visit.page.mouse.move(x, y)


def test_what_is_under_the_pointer_is_marked_and_its_selector_copied(
    looking: Visit, machine: str, shown: Program
) -> None:
    page = looking.page
    page.get_by_role("button", name="Elements").click()
    expect(page.get_by_text("Point at something in the picture.")).to_be_visible()
    point_at(looking, machine, "Save")
    expect(page.locator(".told")).to_have_text("push button Save")
    marked, canvas = (page.locator(each).bounding_box() for each in (".found", ".stage canvas"))
    assert marked is not None
    assert canvas is not None
    assert canvas["y"] < marked["y"] < canvas["y"] + canvas["height"]
    stop_the_clock(page)  # It is said for two seconds.
    page.get_by_role("button", name="Copy selector").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    page.clock.resume()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied == {"role": "push button", "name": "Save"}
    # It stays while the pointer is elsewhere, and does what it says.
    expect(page.locator(".told")).to_have_text("push button Save")
    answer = looking.site.api.send(machine, "mouse/click", {"element": copied})
    assert answer.status == 200
    assert shown.said == ["clicked Save"]
    page.get_by_role("button", name="Elements").click()
    expect(page.locator(".found")).to_have_count(0)
    expect(page.get_by_text("Live. The picture changes")).to_be_visible()


def test_whoever_takes_control_has_the_picture_to_themselves(looking: Visit, machine: str) -> None:
    page = looking.page
    page.get_by_role("button", name="Elements").click()
    point_at(looking, machine, "Cancel")
    expect(page.locator(".told")).to_have_text("push button Cancel")
    page.get_by_role("button", name="Take control").click()
    expect(page.get_by_role("button", name="Elements")).to_have_count(0)
    expect(page.locator(".found")).to_have_count(0)
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_role("button", name="Elements")).to_be_visible()


def test_machine_without_says_why_and_offers_nothing(browser: Browser, site: Site) -> None:
    with site.scripted("Without", hello()) as machine, Visit.begun(browser, site) as visit:
        visit.sign_in(f"/machines/{machine}")
        expect(visit.page.locator("dl")).to_contain_text(f"Elements{NO_ELEMENTS.reason}")
        expect(visit.page.get_by_role("button", name="Elements")).to_have_count(0)
