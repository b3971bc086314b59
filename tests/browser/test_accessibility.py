"""What axe finds on every page of the console, in both themes, wide and as narrow as a phone.

It sees a part of what is wrong only: that everything can be done by keyboard is tried where each
thing is tested.
"""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.__main__ import DESKTOP, PAGES, PHONE, Scene, furnished, show_machine
from tests.browser.rig import Visit, chromium, served


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with furnished(tmp_path_factory.mktemp("furnished")) as scene:
        yield scene


@pytest.fixture(scope="module")
def browser(scene: Scene) -> Iterator[Browser]:
    """Begun last: from then on no other event loop can run in this thread."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser, scene: Scene) -> Iterator[Visit]:
    with Visit.begun(browser, scene.site, viewport=DESKTOP, has_touch=True) as visit:
        yield visit


def violations(page: Page) -> list[str]:
    """What axe finds on a page as it is on a wide screen in the light, and on a phone at night."""
    found = of_axe(page)
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    page.emulate_media(color_scheme="dark")
    return found + of_axe(page)


def of_axe(page: Page) -> list[str]:
    """What it finds, and where."""
    found = Axe().run(page).response["violations"]
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


def test_page_that_is_not_there(visit: Visit) -> None:
    visit.sign_in("/machines/nobody")
    expect(visit.page.get_by_role("heading", name="Not found")).to_be_visible()
    assert violations(visit.page) == []


def test_page_about_the_api(visit: Visit) -> None:
    visit.page.goto(f"{visit.site.server.url}/docs#click_mouse_button")
    expect(visit.page.locator("#click_mouse_button[open]")).to_be_visible()
    assert violations(visit.page) == []


def test_console_of_nothing(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(tmp_path_factory.mktemp("empty")) as site, Visit.begun(browser, site) as visit:
        visit.sign_in()
        expect(visit.page.get_by_role("heading", name="No machine yet")).to_be_visible()
        assert violations(visit.page) == []


def test_violation_is_found(visit: Visit, scene: Scene) -> None:
    PAGES["sign-in"](visit, scene)
    visit.page.evaluate("document.querySelector('button').replaceChildren()")
    assert any("Buttons must have" in each for each in violations(visit.page))
