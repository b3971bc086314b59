"""From `farhand demo` to the live screen, as somebody does who has read nothing."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.__main__ import DESKTOP, PHONE
from tests.browser.repeating import help_the_run, staying_demo
from tests.browser.test_accessibility import violations


@pytest.mark.timeout(600)
def test_link_of_the_demo_leads_to_the_live_screen_to_a_recording_and_to_a_run_that_waits(
    browser: Browser, tmp_path: Path
) -> None:
    with staying_demo(tmp_path) as (demo, link):
        context = browser.new_context()
        page = context.new_page()
        page.goto(link)
        page.get_by_role("link", name="Demo desktop").click()
        expect(page.get_by_text("Live. The picture changes")).to_be_visible()
        page.get_by_role("button", name="Take control").click()
        expect(page.get_by_text("You are in control of Demo desktop")).to_be_visible()
        # What the tour has recorded somebody else made: whoever the link signs in approves it.
        page.get_by_role("link", name="Trajectories", exact=True).click()
        page.get_by_role("link", name="HELLO", exact=True).click()
        expect(page.get_by_text("Step 1 of 15")).to_be_visible()
        page.keyboard.press("a")
        expect(page.get_by_label("Comment")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Approved: HELLO.")).to_be_visible()
        help_the_run(page, demo, for_everybody)
        context.close()
        token = link.partition("#token=")[2]
        assert token not in (tmp_path / "data" / "logs" / "server.log").read_text()
        assert demo.terminate() == 0


def for_everybody(page: Page, name: str) -> None:
    """What is pointed at can be used by whoever sees or hears otherwise."""
    if name == "pointed":
        assert violations(page, [(DESKTOP, "light"), (PHONE, "dark")]) == []
        page.set_viewport_size({"width": DESKTOP["width"], "height": DESKTOP["height"]})
