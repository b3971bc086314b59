"""The morning of somebody who looks after 50 desktops: its tasks, walked in a browser and timed."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from playwright.sync_api import Browser, Page, expect

from tests.browser.rig import Site, Visit
from tests.browser.test_activity import entries
from tests.browser.test_add_machines import make
from tests.browser.test_many_machines import answered, begin, close, tick
from tests.browser.test_notifications import SETTLED, asked_for, told
from tests.browser.test_settings import in_dialog, rows, secret_of
from tests.links import hello
from tests.processes import until

MACHINES = [f"till-{number:02}" for number in range(1, 51)]
DARK = "till-07"
LOST = "till-42"
POOL = "Second floor"


@contextmanager
def task(name: str) -> Iterator[None]:
    """Print how long something took."""
    began = time.monotonic()
    yield
    print(f"{name}: {time.monotonic() - began:.1f} s")


def go(page: Page, *names: str) -> None:
    """Follow links, one after another."""
    for name in names:
        page.get_by_role("link", name=name, exact=True).click()


def up(page: Page) -> None:
    """Scroll to the top."""
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    expect(page.get_by_role("heading", name="Machines")).to_be_in_viewport()


def walk(browser: Browser, site: Site, show: Callable[[Page, str], None]) -> None:
    """All tasks; ``show`` is given the page where there is something to be seen, and its name."""
    with ExitStack() as stack, Visit.begun(browser, site) as visit:
        page = asked_for(visit)
        links = {machine: stack.enter_context(ExitStack()) for machine in MACHINES}
        add_machines(page, site, links)
        show(page, "fifty")
        find_trouble(page, lambda: show(page, "trouble"))
        tag_nine(page)
        secret = add_person(page)
        pause_thirteen(page)
        up(page)
        show(page, "paused")
        look_at_all(page)
        up(page)
        show(page, "pictures")
        rotate_one(page)
        hear_of_a_loss(page, links)
        with Visit.begun(browser, site) as theirs:
            theirs.sign_in("/machines?view=pictures", secret)
            expect(theirs.page.locator(".thumbnails canvas:visible")).to_have_count(9)
            end_session(page)
            theirs.page.reload()
            expect(theirs.page.get_by_label("Token")).to_be_visible()
        see_who_paused(page)
        show(page, "activity")
        see_who_looked(page)


def add_machines(page: Page, site: Site, links: dict[str, ExitStack]) -> None:
    """A code, and as many hosts that come with it."""
    with task("Add 50 machines with one code"):
        go(page, "Settings")
        page.get_by_label("How many may join").fill("50")
        page.get_by_label("Tags that they get").fill("till")
        code = make(page).split()[-1]
        for machine, link in links.items():
            no_input = "the display is gone" if machine == DARK else None
            greeting = hello(no_input=no_input, no_screen=None)
            link.enter_context(site.joining(code, machine, greeting))
        expect(page.get_by_text("50 of 50")).to_be_visible()


def find_trouble(page: Page, found: Callable[[], None]) -> None:
    """Which one has trouble, and why, in the list and on its page."""
    with task("Find what is in trouble, and why"):
        go(page, "Machines")
        page.get_by_role("button", name="In trouble").click()
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("tbody tr")).to_contain_text("The display is gone")
    found()
    with task("Open its page, and go back"):
        go(page, DARK)
        expect(page.get_by_role("heading", name=DARK)).to_be_visible()
        go(page, "Machines")


def choose_nine(page: Page) -> None:
    """Those on the second floor."""
    page.get_by_label("Filter").fill("till-0")
    expect(page.locator("tbody tr")).to_have_count(9)
    page.get_by_role("checkbox", name="Choose all that are shown").check()


def tag_nine(page: Page) -> None:
    """A tag for all that a word finds."""
    with task("Find nine by a word, and tag them"):
        choose_nine(page)
        dialog = begin(page, "Tags")
        dialog.get_by_label("Tags").fill("floor-2")
        dialog.get_by_role("button", name="Tags").click()
        answered(page, "Changed 9 machines")
        close(page)


def add_person(page: Page) -> str:
    """A pool with nine machines, and a token for Anna, who may look at those and nothing else."""
    with task("Add somebody who may see nine of them, in a new pool"):
        go(page, "Settings", "Pools")
        page.get_by_role("button", name="New pool").click()
        in_dialog(page).get_by_label("Name").fill(POOL)
        page.keyboard.press("Enter")
        expect(rows(page).filter(has_text=POOL)).to_be_visible()
        go(page, "Machines")
        choose_nine(page)
        dialog = begin(page, "Pools")
        dialog.get_by_label("Pool", exact=True).select_option(POOL)
        dialog.get_by_role("button", name="Pools").click()
        answered(page, "Changed 9 machines")
        close(page)
        go(page, "Settings", "Tokens")
        page.get_by_role("button", name="New token").click()
        dialog = in_dialog(page)
        dialog.get_by_label("Name").fill("Anna")
        dialog.get_by_label("May").select_option("viewer")
        dialog.get_by_label(POOL).check()
        dialog.get_by_label("Ends").select_option("In 30 days")
        dialog.get_by_role("button", name="Make").click()
        secret = secret_of(page)
        page.get_by_role("button", name="I have it").click()
        expect(rows(page).filter(has_text="Anna")).to_contain_text(POOL)
        return secret


def pause_thirteen(page: Page) -> None:
    """Ticked one by one, with a reason."""
    go(page, "Machines")
    with task("Choose thirteen one by one, and pause them"):
        expect(page.locator("tbody tr")).to_have_count(50)
        tick(page, *MACHINES[10:23])
        dialog = begin(page, "Pause")
        dialog.get_by_label("Reason").fill("the move")
        dialog.get_by_role("button", name="Pause").click()
        answered(page, "Paused 13 machines")
        close(page)
        expect(page.get_by_role("button", name="13 Paused")).to_be_visible()


def look_at_all(page: Page) -> None:
    """The screens of all, from the first to the last."""

    with task("See the screens of all 50 at a glance"):
        page.get_by_role("button", name="Pictures").click()
        cards = page.locator(".thumbnails li")
        expect(cards).to_have_count(50)
        for card in cards.all():
            card.scroll_into_view_if_needed()
            expect(card.locator("canvas")).to_be_visible()


def rotate_one(page: Page) -> None:
    """A new token for a machine that is connected."""
    with task("Rotate the token of one"):
        go(page, "till-30")
        page.get_by_role("button", name="Rotate token").click()
        page.get_by_role("dialog").get_by_role("button", name="Rotate token").click()
        expect(page.get_by_text("The machine was told to change its token")).to_be_visible()


def hear_of_a_loss(page: Page, links: dict[str, ExitStack]) -> None:
    """A machine goes, and the browser says so."""
    with task("Ask to be told, and hear that one is lost"):
        go(page, "Machines")
        notifying = page.get_by_role("button", name="Notify me")
        notifying.click()
        expect(notifying).to_have_attribute("aria-pressed", "true")
        links[LOST].close()
        expect(page.get_by_role("row").filter(has_text=LOST)).to_contain_text("Offline")
        page.clock.fast_forward(SETTLED)
        until(lambda: told(page), "the browser says so")
        assert [each["title"] for each in told(page)] == [f"{LOST}: Offline"]


def end_session(page: Page) -> None:
    """Anna's, who is signed in somewhere."""
    with task("See who is signed in, and end the session of one"):
        go(page, "Settings", "Sessions")
        theirs = rows(page).filter(has_text="Anna")
        expect(theirs).to_have_count(1)
        theirs.get_by_role("button", name="End").click()
        in_dialog(page).get_by_role("button", name="End").click()
        expect(theirs).to_have_count(0)


def see_who_paused(page: Page) -> None:
    """Who paused the thirteen, and why."""
    with task("See who paused what, and why"):
        go(page, "Activity")
        page.get_by_label("What", exact=True).select_option("Machines")
        expect(entries(page).filter(has_text="Ended a session")).to_have_count(0)
        paused = entries(page).filter(has_text="the move")
        expect(paused).to_have_count(13)
        expect(paused.first).to_contain_text("administrator")


def see_who_looked(page: Page) -> None:
    """Anna has looked at nine screens, once each."""
    with task("See whose screens somebody looked at"):
        page.get_by_label("What", exact=True).select_option("Looking at screens")
        page.get_by_role("search").get_by_label("Person or program").fill("Anna")
        expect(entries(page)).to_have_count(9)
        expect(entries(page).first).to_contain_text("picture")
