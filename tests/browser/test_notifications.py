"""What the browser says when machines get into trouble."""

from contextlib import ExitStack
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.browser.rig import Site, Visit, stop_the_clock
from tests.links import hello
from tests.processes import until

MANY = 12
SETTLED = 6000
"""Milliseconds after which trouble is told of."""
PICTURE = 17
"""From one picture of the page to the next: what was heard before is drawn by then."""

RECORDED = """
window.told = [];
window.Notification = class extends EventTarget {
  static permission = "%s";
  static async requestPermission() { return (Notification.permission = "granted"); }
  constructor(title, options) {
    super();
    window.told.push({ title, ...options });
    window.latest = this;
  }
  close() {}
};
"""
"""What a system shows cannot be read from the page: so the page's own class is replaced."""


def told(page: Page) -> Any:
    page.wait_for_timeout(10)  # The page goes on only meanwhile.
    return page.evaluate("window.told")


def states(site: Site) -> set[str]:
    """Of the rows of machines, as the server has them."""
    items = site.api.call("GET", "/v1/machines?search=Row").json["items"]
    return {each["state"] for each in items}


def asked_for(visit: Visit, permission: str = "default", place: str = "/machines") -> Page:
    visit.page.clock.install()
    visit.page.add_init_script(RECORDED % permission)
    visit.sign_in(place)
    return visit.page


def test_machine_that_is_lost_is_told_of_once_and_leads_to_its_page(
    browser: Browser, site: Site
) -> None:
    with Visit.begun(browser, site) as visit:
        page = asked_for(visit)
        with site.scripted("Night till", hello()) as machine:
            expect(page.get_by_role("link", name="Night till")).to_be_visible()
            expect(page.get_by_text("Live", exact=True)).to_be_visible()
            page.get_by_role("button", name="Notify me").click()
            expect(page.get_by_role("button", name="Notify me")).to_have_attribute(
                "aria-pressed", "true"
            )
            # It is heard while nobody looks, too.
            page.evaluate("""() => {
              Object.defineProperty(document, 'hidden', { get: () => true });
              document.dispatchEvent(new Event('visibilitychange'));
            }""")
        expect(page.get_by_role("row").filter(has_text="Night till")).to_contain_text("Offline")
        page.clock.fast_forward(SETTLED)
        until(lambda: told(page), "the browser says so")
        assert [each["title"] for each in told(page)] == ["Night till: Offline"]
        page.evaluate("window.latest.dispatchEvent(new Event('click'))")
        expect(page.get_by_role("heading", name="Night till")).to_be_visible()
        assert page.url.endswith(f"#/machines/{machine}")


def test_more_than_ten_are_told_of_in_one_and_those_that_are_expected_to_be_away_not(
    browser: Browser, site: Site
) -> None:
    with Visit.begun(browser, site) as visit, ExitStack() as stack:
        page = asked_for(visit, "granted")
        away = stack.enter_context(site.scripted("Away 0", hello()))
        tomorrow = page.evaluate("new Date(Date.now() + 86_400_000).toISOString()")
        body = {"until": tomorrow}
        assert site.api.call("PUT", f"/v1/machines/{away}/expected-offline", body).status == 200
        expect(page.get_by_role("link", name="Away 0")).to_be_visible()
        page.get_by_role("button", name="Notify me").click()
        # A busy browser may ask by itself before its clock is put forward.
        with page.expect_response("**/expected-offline"):
            stack.close()
            expect(page.get_by_role("row").filter(has_text="Away 0")).to_contain_text("Offline")
            page.clock.fast_forward(SETTLED)
        assert told(page) == []
        for number in range(MANY + 1):
            machine = stack.enter_context(site.scripted(f"Row {number}", hello()))
        # Nor is it counted among many.
        assert site.api.call("PUT", f"/v1/machines/{machine}/expected-offline", body).status == 200
        expect(page.get_by_role("link", name=f"Row {MANY}")).to_be_visible()
        lost = page.locator('tbody tr[data-state="offline"]').filter(has_text="Row")
        # However long they take to go, it is one moment to the page.
        stop_the_clock(page)
        stack.close()
        until(lambda: states(site) == {"offline"}, "all of them are lost")

        def are_drawn() -> bool:
            page.clock.run_for(PICTURE)
            return lost.count() == MANY + 1

        until(are_drawn, "all of them are seen to be lost")
        page.clock.fast_forward(SETTLED)
        until(lambda: told(page), "the browser says so")
        [digest] = told(page)
        assert digest["title"] == f"{MANY} machines in trouble"
        assert f"and {MANY - 5} more" in digest["body"]


def test_that_the_browser_does_not_allow_it_is_said(browser: Browser, site: Site) -> None:
    with Visit.begun(browser, site) as visit:
        site.add_machine("Somebody")
        page = asked_for(visit, "denied")
        page.get_by_role("button", name="Notify me").click()
        expect(page.get_by_text("allow it in its settings for this page")).to_be_visible()
        expect(page.get_by_role("button", name="Notify me")).to_have_attribute(
            "aria-pressed", "false"
        )
