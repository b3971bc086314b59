"""What axe finds on every page of the console, in both themes, wide and as narrow as a phone.

It sees a part of what is wrong only: that everything can be done by keyboard is tried where each
thing is tested.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.__main__ import DESKTOP, PAGES, PHONE, Scene, furnished, show_machine
from tests.browser.rig import Visit, served

OF_EACH_KIND = ("Accounting 1", "Till 1", "Till 2", "Warehouse north")
"""Machines that are well, with tags and pools and without: axe takes long for each row."""


@pytest.fixture(scope="module")
def scene(
    files_database: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    directory = tmp_path_factory.mktemp("furnished")
    with furnished(directory, OF_EACH_KIND, **files_database) as scene:
        yield scene


@pytest.fixture
def visit(browser: Browser, scene: Scene) -> Iterator[Visit]:
    with Visit.begun(browser, scene.site, viewport=DESKTOP, has_touch=True) as visit:
        yield visit


TWICE_AS_LARGE = {"width": DESKTOP["width"] // 2, "height": DESKTOP["height"] // 2}
"""What a browser gives a page at 200 %: half as many of its pixels."""

Look = tuple[dict[str, int], Literal["light", "dark"]]

AXE = Axe()

LOOKS: list[Look] = [
    (size, scheme)
    for size in (DESKTOP, {"width": 1920, "height": 1080}, TWICE_AS_LARGE, PHONE)
    for scheme in ("light", "dark")
]


def violations(page: Page, looks: Sequence[Look] = LOOKS) -> list[str]:
    """What axe finds on a page, at three widths and at 200 %, in the light and at night."""
    found = []
    for size, scheme in looks:
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        page.emulate_media(color_scheme=scheme)
        found += [f"{size} {scheme}: {each}" for each in of_axe(page)]
    return found


def of_axe(page: Page) -> list[str]:
    """What it finds, and where.  It is a long script, and brought to a page once."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    found = page.evaluate(
        "axe.run({resultTypes: ['violations']}).then(results => results.violations)"
    )
    return [f"{each['help']}: {[node['target'] for node in each['nodes']]}" for each in found]


@pytest.mark.parametrize("name", PAGES)
def test_page_of_the_console(visit: Visit, scene: Scene, name: str) -> None:
    PAGES[name](visit, scene)
    assert violations(visit.page) == []
    visit.page.close()


def test_machine_that_somebody_else_has_control_of(visit: Visit, scene: Scene) -> None:
    control = f"/v1/machines/{scene.desk.machine}/control"
    taken = scene.site.api.call("POST", control, {"take_over": True})
    assert taken.status == 201, taken.body
    show_machine(visit, scene)
    visit.page.get_by_role("button", name="Take control").click()
    expect(visit.page.get_by_role("button", name="Take over")).to_be_visible()
    assert violations(visit.page) == []
    assert scene.site.api.call("DELETE", f"{control}/{taken.json['id']}").status == 204


def test_what_was_wrong_with_a_field(visit: Visit, scene: Scene) -> None:
    show_machine(visit, scene)
    visit.page.get_by_role("button", name="Pools and tags").click()
    dialog = visit.page.get_by_role("dialog")
    dialog.get_by_label("Berlin").check()
    dialog.get_by_label("Tags").fill("x" * 65)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("must be a word of 1 to 64 characters")).to_be_visible()
    assert violations(visit.page) == []


def test_page_that_is_not_there(visit: Visit) -> None:
    visit.sign_in("/machines/nobody")
    expect(visit.page.get_by_role("heading", name="Not found")).to_be_visible()
    assert violations(visit.page) == []


def test_page_about_the_api(visit: Visit) -> None:
    visit.page.goto(f"{visit.site.server.url}/docs#click_mouse_button")
    expect(visit.page.locator("#click_mouse_button[open]")).to_be_visible()
    # It is long: each look takes seconds.
    assert violations(visit.page, [(DESKTOP, "light"), (PHONE, "dark")]) == []


def test_all_parts(visit: Visit, scene: Scene) -> None:
    PAGES["parts"](visit, scene)
    page = visit.page
    page.get_by_role("button", name="Fail").click()
    expect(page.get_by_text("It went wrong.")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Ask something").click()
    page.get_by_role("button", name="Choose").click()
    expect(page.get_by_text("There is none.")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_console_of_nothing(browser: Browser, own_database: dict[str, str], tmp_path: Path) -> None:
    with served(tmp_path, **own_database) as site, Visit.begun(browser, site) as visit:
        visit.sign_in()
        expect(visit.page.get_by_role("heading", name="No machine yet")).to_be_visible()
        assert violations(visit.page) == []


def test_violation_is_found(visit: Visit, scene: Scene) -> None:
    PAGES["sign-in"](visit, scene)
    visit.page.evaluate("document.querySelector('button').replaceChildren()")
    assert any("Buttons must have" in each for each in violations(visit.page))
