"""The morning of somebody who looks after 50 desktops: each of its tasks in a browser, timed."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from playwright.sync_api import Browser, Page, expect

from tests.browser.rig import Site, Visit
from tests.browser.test_add_machines import make
from tests.browser.test_many_machines import answered, begin, close, tick
from tests.browser.test_notifications import SETTLED, asked_for, told
from tests.links import hello
from tests.processes import until

MACHINES = [f"till-{number:02}" for number in range(1, 51)]
DARK = "till-07"
LOST = "till-42"


@contextmanager
def task(name: str) -> Iterator[None]:
    """Print how long something took."""
    began = time.monotonic()
    yield
    print(f"{name}: {time.monotonic() - began:.1f} s")


def find(page: Page, words: str, count: int) -> None:
    """Let the list show what fits some words."""
    page.get_by_label("Filter").fill(words)
    expect(page.locator("tbody tr")).to_have_count(count)


def test_morning_with_fifty_desktops(browser: Browser, site: Site) -> None:
    with ExitStack() as stack, Visit.begun(browser, site) as visit:
        links = {machine: stack.enter_context(ExitStack()) for machine in MACHINES}
        page = asked_for(visit)
        with task("Add 50 machines with one code"):
            page.get_by_role("link", name="Settings").click()
            page.get_by_label("How many may join").fill("50")
            page.get_by_label("Tags that they get").fill("till")
            code = make(page).split()[-1]
            for machine, link in links.items():
                greeting = hello(no_input="the display is gone" if machine == DARK else None)
                link.enter_context(site.joining(code, machine, greeting))
            expect(page.get_by_text("50 of 50")).to_be_visible()
        with task("Find what is in trouble, and why"):
            page.get_by_role("link", name="Machines", exact=True).click()
            page.get_by_role("button", name="In trouble").click()
            expect(page.locator("tbody tr")).to_have_count(1)
            expect(page.locator("tbody tr")).to_contain_text("The display is gone")
            page.get_by_role("link", name=DARK).click()
            expect(page.get_by_role("heading", name=DARK)).to_be_visible()
            page.get_by_role("link", name="Machines", exact=True).click()
        with task("Find nine by a word, and tag them"):
            find(page, "till-0", 9)
            page.get_by_role("checkbox", name="Choose all that are shown").check()
            dialog = begin(page, "Tags")
            dialog.get_by_label("Tags").fill("floor-2")
            dialog.get_by_role("button", name="Tags").click()
            answered(page, "Changed 9 machines")
            close(page)
        with task("Choose thirteen one by one, and pause them"):
            find(page, "till", 50)
            tick(page, *MACHINES[10:23])
            dialog = begin(page, "Pause")
            dialog.get_by_label("Reason").fill("the move")
            dialog.get_by_role("button", name="Pause").click()
            answered(page, "Paused 13 machines")
            close(page)
            expect(page.get_by_role("button", name="13 Paused")).to_be_visible()
        with task("Rotate the token of one"):
            page.get_by_role("link", name="till-30").click()
            page.get_by_role("button", name="Rotate token").click()
            page.get_by_role("dialog").get_by_role("button", name="Rotate token").click()
            expect(page.get_by_text("The machine was told to change its token")).to_be_visible()
        with task("Ask to be told, and hear that one is lost"):
            page.get_by_role("link", name="Machines", exact=True).click()
            notifying = page.get_by_role("button", name="Notify me")
            notifying.click()
            expect(notifying).to_have_attribute("aria-pressed", "true")
            links[LOST].close()
            expect(page.get_by_role("row").filter(has_text=LOST)).to_contain_text("Offline")
            page.clock.fast_forward(SETTLED)
            until(lambda: told(page), "the browser says so")
            assert [each["title"] for each in told(page)] == [f"{LOST}: Offline"]
        with task("See who paused what, and why"):
            page.get_by_role("link", name="Activity").click()
            page.get_by_label("What", exact=True).select_option("Machines")
            paused = page.locator(".table.activity tbody tr").filter(has_text="the move")
            expect(paused).to_have_count(13)
            expect(paused.first).to_contain_text("administrator")
