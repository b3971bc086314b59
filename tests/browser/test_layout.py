"""What holds for every page: phone width, names for everything, colours, motion, a path before."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.rig import Desk, Site, Visit

PHONE = {"width": 360, "height": 740}
LONG = "A name that is long, andhasawordthatisfartoolongforanyphoneyoucouldthinkofincludingthisone"


@pytest.fixture(scope="module")
def desk(site: Site) -> Iterator[Desk]:
    with site.desk(LONG) as desk:
        yield desk


@pytest.fixture(scope="module")
def trajectory(site: Site) -> str:
    workflow = site.api.call("POST", "/v1/workflows", {"name": LONG}).json["id"]
    body = {
        "workflow_id": workflow,
        "name": LONG,
        "description": LONG,
        "dimensions": {"width": 1280, "height": 800},
        "trajectory_data": [{"operation": "mouse.click", "body": {"x": 1, "y": 1}, "note": LONG}],
    }
    return str(site.api.call("POST", "/v1/trajectories", body).json["id"])


@pytest.fixture(scope="module")
def webhook(site: Site) -> str:
    """What the settings list, with names that are too long."""
    name = LONG[:64].replace(",", "")
    pool = site.api.call("POST", "/v1/pools", {"name": name, "description": LONG}).json["id"]
    site.invite(name=LONG, tags=["x" * 64], pool_ids=[pool])
    site.api.call("POST", "/v1/organizations", {"name": LONG})
    site.api.call("POST", "/v1/tokens", {"name": LONG, "role": "viewer", "pool_ids": [pool]})
    body = {"url": f"https://{'x' * 60}.invalid/", "events": ["machine_offline"]}
    made = site.api.call("POST", "/v1/webhooks", {**body, "description": LONG, "pool_ids": [pool]})
    site.api.call("POST", f"/v1/webhooks/{made.json['id']}/test")
    return str(made.json["id"])


PLACES = [
    *("machines", "pictures", "machine", "trajectories", "trajectory", "runs", "activity"),
    "workflows",
    *(
        "none",
        "add machines",
        "pools",
        "tokens",
        "sessions",
        "webhooks",
        "webhook",
        "organizations",
    ),
]


@pytest.fixture(params=PLACES)
def place(
    request: pytest.FixtureRequest, desk: Desk, trajectory: str, webhook: str
) -> tuple[str, str]:
    """An address, and a text that is there when the page is."""
    return {
        "machines": ("/machines", LONG),
        "pictures": ("/machines?view=pictures", LONG),
        "machine": (f"/machines/{desk.machine}", "Live. The picture changes"),
        "trajectories": ("/trajectories", "1 trajectory"),
        "workflows": ("/trajectories/workflows", LONG),
        "trajectory": (f"/trajectories/{trajectory}", "Step 1 of 1"),
        "runs": ("/runs", "No run yet"),
        "activity": ("/activity", "Added a machine"),
        "none": ("/nothing/either", "Not found"),
        "add machines": ("/settings/machines", LONG),
        "pools": ("/settings/pools", LONG),
        "tokens": ("/settings/tokens", LONG),
        "sessions": ("/settings/sessions", "yours, here"),
        "webhooks": ("/settings/webhooks", LONG),
        "webhook": (f"/settings/webhooks/{webhook}", "Send again"),
        "organizations": ("/settings/organizations", LONG),
    }[request.param]


NAMELESS = """[...document.querySelectorAll(
        'button, a, input, select, canvas:not([aria-hidden="true"]), svg[role]')]
    .filter((e) => e.checkVisibility() && !e.ariaLabel && !e.getAttribute('aria-label')
        && !e.textContent.trim() && !e.labels?.length)
    .map((e) => e.outerHTML)"""
"""A screen in small, drawn by then or not, is for the eye: its machine's name stands beside it."""


WIDER = """[...document.querySelectorAll('.scroll')]
    .filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.firstElementChild.className)"""
"""Tables that would have to be drawn aside: on a phone each row is a card."""


@pytest.fixture(scope="module")
def phone(browser: Browser, site: Site) -> Iterator[Visit]:
    """Somebody with a phone, who has signed in."""
    with Visit.begun(browser, site, viewport=PHONE) as visit:
        visit.sign_in("/nothing")
        yield visit


def test_page_fits_a_phone_and_all_its_controls_have_names(
    phone: Visit, place: tuple[str, str]
) -> None:
    address, text = place
    page = phone.page
    phone.go_anew(address)
    expect(page.get_by_text(text).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate(WIDER) == []
    assert page.evaluate(NAMELESS) == []
    assert len(page.get_by_role("heading").all()) >= 1
    bar = page.locator("#bar").bounding_box()
    assert bar is not None
    assert bar["height"] < 60, "the bar needs one line"


def colours(page: Page) -> list[str]:
    style = "getComputedStyle(document.body)"
    return list(page.evaluate(f"[{style}.color, {style}.backgroundColor]"))


def brightness(colour: str) -> float:
    red, green, blue = json.loads(f"[{colour.partition('(')[2].rstrip(')')}]")[:3]
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_those_that_the_person_prefers(
    browser: Browser, site: Site, scheme: Any
) -> None:
    with Visit.begun(browser, site, color_scheme=scheme) as visit:
        visit.go()
        expect(visit.page.get_by_label("Token")).to_be_visible()
        text, page = map(brightness, colours(visit.page))
        assert abs(text - page) > 150
        assert (page > text) == (scheme == "light")


def test_nothing_moves_for_who_does_not_want_it(browser: Browser, site: Site) -> None:
    with Visit.begun(browser, site, reduced_motion="reduce") as visit:
        visit.sign_in()
        expect(visit.page.get_by_text("Live", exact=True)).to_be_visible()
        moving = "getComputedStyle(document.getElementById('connection'), '::before').animationName"
        visit.page.evaluate("document.getElementById('connection').dataset.state = 'lost'")
        assert visit.page.evaluate(moving) == "none"
        visit.page.emulate_media(reduced_motion="no-preference")
        assert visit.page.evaluate(moving) == "blink"


def test_page_whose_scripts_do_not_run_says_what_is_needed(browser: Browser, site: Site) -> None:
    with Visit.begun(browser, site) as visit:
        # As in a browser that does not know what they use.
        visit.page.add_init_script("delete AbortSignal.any; delete Array.prototype.toSorted")
        visit.page.route("**/parts/elements.js", lambda route: route.abort())
        visit.go()
        advice = visit.page.get_by_text("The console needs a browser of 2024 or later")
        expect(advice).to_be_visible()
    with Visit.begun(browser, site, java_script_enabled=False) as visit:
        visit.go()
        expect(visit.page.locator("noscript p")).to_be_visible()


@pytest.mark.parametrize("name", ["\N{ARABIC LETTER ALEF}\N{ARABIC LETTER BEH} 7", "x" * 200])
def test_name_is_read_in_its_own_direction_and_fits(
    browser: Browser, site: Site, name: str
) -> None:
    machine, _ = site.add_machine(name)
    with Visit.begun(browser, site, viewport=PHONE) as visit:
        visit.sign_in()
        page = visit.page
        link = page.get_by_role("link", name=name)
        expect(link).to_be_visible()
        is_arabic = not name.isascii()
        assert link.evaluate("e => getComputedStyle(e).direction") == (
            "rtl" if is_arabic else "ltr"
        )
        link.click()
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    site.api.call("DELETE", f"/v1/machines/{machine}")


def test_console_works_behind_a_proxy_that_puts_a_path_before(
    browser: Browser, site: Site, desk: Desk
) -> None:
    def without_path(route: Route) -> None:
        route.continue_(url=route.request.url.replace("/desktops/", "/", 1))

    with Visit.begun(browser, site) as visit:
        page = visit.page
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.route("**/desktops/**", without_path)
        page.goto(f"{site.server.url}/desktops/console/#/machines/{desk.machine}")
        page.get_by_label("Token").fill(site.server.administrators_token())
        page.keyboard.press("Enter")
        expect(page.get_by_text("Live. The picture changes")).to_be_visible()
        assert [url for url in asked if "/desktops/" not in url] == []
