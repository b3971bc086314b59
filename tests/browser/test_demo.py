"""From `farhand demo` to the live screen, as somebody does who has read nothing."""

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.processes import running


def test_link_of_the_demo_leads_to_the_live_screen_and_to_a_recording_to_approve(
    browser: Browser, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    with running(tmp_path / "demo.log", {}, "farhand", "demo", "--data-dir", str(data)) as demo:
        demo.says("Ctrl-C ends everything", 60)
        (link,) = re.findall(r"http://\S+/console/#token=fh_\S+", demo.output)
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
        context.close()
        token = link.partition("#token=")[2]
        assert token not in (data / "logs" / "server.log").read_text()
        assert demo.terminate() == 0
