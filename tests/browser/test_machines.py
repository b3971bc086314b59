"""The table of machines: trouble first, by itself, for many, and for nobody yet."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from schemas.values.times import format_time
from tests.browser.rig import Site, Visit, served, stop_the_clock
from tests.desktop import grabbed
from tests.links import hello
from tests.processes import until

JUST_NOW = re.compile(r"just now|\d+ s ago")
"""Within five seconds it is said in words."""

PUT_RIGHT = 120_000
"""Milliseconds within which a page has counted right: it asks the server once a minute."""

MANY = 1000
PART = 200
"""Machines that the page reads at once."""


def row_of(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def names_in(page: Page) -> list[str]:
    return page.locator("tbody tr a").all_text_contents()


def ordered(page: Page, names: list[str]) -> None:
    """Wait until these of the machines that are shown stand in this order."""

    def stand() -> bool:
        page.wait_for_timeout(10)  # The browser goes on only meanwhile.
        return [name for name in names_in(page) if name in names] == names

    until(stand, f"the order is {names}")


def change(site: Site, machine: str, **body: Any) -> None:
    assert site.api.call("PATCH", f"/v1/machines/{machine}", body).status == 200


def test_without_machines_the_next_steps_are_there_to_copy(
    browser: Browser, tmp_path: Path, own_database: dict[str, str]
) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with (
        served(tmp_path, **own_database) as site,
        Visit.begun(browser, site, permissions=permissions) as visit,
    ):
        page = visit.page
        page.clock.install()
        visit.sign_in()
        expect(page.get_by_role("heading", name="No machine yet")).to_be_visible()
        expect(page.get_by_text("farhand machine add desk-1")).to_be_visible()
        join = f"farhand-machine join --server {site.server.url} --token TOKEN"
        expect(page.get_by_text(join)).to_be_visible()
        stop_the_clock(page)  # It is said for two seconds.
        page.get_by_role("button", name="Copy").last.click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        page.clock.resume()
        assert page.evaluate("navigator.clipboard.readText()") == join
        site.add_machine("The first")
        expect(row_of(page, "The first")).to_be_visible()
        expect(page.get_by_role("heading", name="No machine yet")).to_have_count(0)


def test_row_says_how_a_machine_is_and_why_and_since_when(operator: Visit) -> None:
    operator.site.add_machine("Never seen")
    row = row_of(operator.page, "Never seen")
    for text in ("Not set up yet", "It has never connected", JUST_NOW):
        expect(row).to_contain_text(text)
    since = row.locator("time")
    assert since.get_attribute("title")
    assert str(since.get_attribute("datetime")).endswith("Z")


def test_table_follows_a_machine_through_its_states_by_itself(operator: Visit) -> None:
    page, site = operator.page, operator.site
    with site.desk("Follow me") as desk:
        row = row_of(page, "Follow me")
        for text in ("Online", "1280 \N{MULTIPLICATION SIGN} 800", "ms", "0.1.0"):
            expect(row).to_contain_text(text)
        site.api.send(desk.machine, "mouse/move", {"x": 5, "y": 5})
        site.api.send(desk.machine, "mouse/move", {"x": 5000, "y": 5})
        for column in ("inputs", "failed"):
            counted = row.locator(f'[data-column="{column}"]')
            expect(counted).to_have_text("1", timeout=PUT_RIGHT)
        change(site, desk.machine, paused=True)
        expect(row).to_contain_text("Paused")
        expect(row).to_contain_text("By administrator")
        end = datetime.now(UTC) + timedelta(hours=1)
        why = {"pause_reason": "the printer", "pause_until": format_time(end)}
        change(site, desk.machine, paused=True, **why)
        expect(row).to_contain_text(
            re.compile(rf"By administrator until .*{end.year}.*: the printer")
        )
        change(site, desk.machine, paused=False, name="Follow me still")
        expect(row_of(page, "Follow me still")).to_contain_text("Online")
    expect(row_of(page, "Follow me still")).to_contain_text("Offline")
    assert site.api.call("DELETE", f"/v1/machines/{desk.machine}").status == 204
    expect(row_of(page, "Follow me still")).to_have_count(0)


def comes(page: Page, what: Locator) -> None:
    """Let the time of a page whose clock stands go on, bit by bit, until it is there."""

    def came() -> bool:
        page.clock.run_for(20)
        return what.is_visible()

    until(came, str(what))


def test_news_do_not_wait_for_what_is_put_right_each_minute(visit: Visit) -> None:
    page, site = visit.page, visit.site
    page.clock.install()
    visit.sign_in("/machines?search=newsworthy")
    states = page.locator('.chips[aria-label="States"]')
    with site.desk("Newsworthy") as desk:
        expect(states.get_by_role("button", name="1 Online")).to_be_visible()
        stop_the_clock(page)
        row = row_of(page, "Newsworthy")
        site.api.send(desk.machine, "mouse/move", {"x": 5, "y": 5})
        comes(page, row.locator('[data-column="inputs"]').get_by_text("1"))
        counted_at = page.evaluate("performance.now()")
        change(site, desk.machine, paused=True)
        comes(page, row.get_by_text("Paused"))
        comes(page, states.get_by_role("button", name="1 Paused"))
        assert page.evaluate("performance.now()") - counted_at < 50_000


def test_machine_whose_screen_cannot_be_seen_is_in_trouble_until_it_can(
    operator: Visit,
) -> None:
    page, site = operator.page, operator.site
    with site.desk("A seen one"), site.desk("B dark one") as dark:
        expect(row_of(page, "A seen one")).to_contain_text("Online")
        with grabbed(dark.display):
            row = row_of(page, "B dark one")
            expect(row).to_contain_text("its screen cannot be seen")
            expect(row).to_contain_text("Online")
            ordered(page, ["B dark one", "A seen one"])
            page.get_by_role("button", name="In trouble").click()
            expect(row_of(page, "A seen one")).to_have_count(0)
            expect(row).to_be_visible()
            page.get_by_role("button", name="In trouble").click()
        expect(row).not_to_contain_text("its screen cannot be seen")
        ordered(page, ["A seen one", "B dark one"])


def test_latest_trouble_comes_first_and_what_is_not_set_up_yet_last(operator: Visit) -> None:
    page, site = operator.page, operator.site
    names = ["A new", "B fine", "C resting", "D dark", "E lost"]

    site.add_machine("A new")
    with site.desk("D dark") as dark, site.desk("B fine"), site.desk("C resting") as resting:
        with site.desk("E lost"):
            expect(row_of(page, "E lost")).to_contain_text("Online")
        change(site, resting.machine, paused=True)
        expect(row_of(page, "C resting")).to_contain_text("Paused")
        expect(row_of(page, "E lost")).to_contain_text("Offline")
        ordered(page, ["E lost", "C resting", "B fine", "D dark", "A new"])
        # In another state, and later.
        with grabbed(dark.display):
            expect(row_of(page, "D dark")).to_contain_text("its screen cannot be seen")
            ordered(page, ["D dark", "E lost", "C resting", "B fine", "A new"])
        page.get_by_role("button", name="Machine", exact=True).click()
        expect(page.locator('th[aria-sort="ascending"]')).to_have_text("Machine")
        ordered(page, names)
        page.get_by_role("button", name="Machine", exact=True).click()
        expect(page.locator('th[aria-sort="descending"]')).to_have_text("Machine")
        page.reload()
        expect(page.locator('th[aria-sort="descending"]')).to_have_text("Machine")
        ordered(page, names[::-1])


def test_words_of_a_filter_are_all_wanted_and_chips_count_what_they_leave(
    operator: Visit,
) -> None:
    page, site = operator.page, operator.site
    first, _ = site.add_machine("Lisbon front door")
    site.add_machine("Lisbon back office")
    change(site, first, paused=True)
    page.get_by_label("Filter").fill("door LISBON")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_label("Filter").fill(f"never {first}")
    expect(page.locator("tbody tr")).to_have_count(0)
    page.get_by_label("Filter").fill("lisbon paused")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_label("Filter").fill("lisbon")
    summary = page.get_by_role("group", name="How they are")
    expect(summary).to_have_text(re.compile("2 All.*0 In trouble.*1 Fine.*1 Not set up yet"))
    states = page.get_by_role("group", name="States")
    expect(states).to_have_text(re.compile("0 No input.*1 Paused.*0 Online"))
    page.get_by_role("button", name="Online").click()
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(page.get_by_label("Filter")).to_have_value("")
    expect(row_of(page, "Lisbon back office")).to_be_visible()


def test_chips_of_pools_and_tags_narrow_the_list_and_stay_in_the_address(operator: Visit) -> None:
    page, site = operator.page, operator.site
    pool = site.api.call("POST", "/v1/pools", {"name": "Porto"}).json["id"]
    for number, tags in enumerate((["night"], ["night", "lift"], ["lift"])):
        body = {"id": f"porto-{number}", "tags": tags, "pool_ids": [pool]}
        assert site.api.call("POST", "/v1/machines", body).status == 201
    page.get_by_role("button", name="3 Porto").click()
    expect(page.locator("tbody tr")).to_have_count(3)
    expect(row_of(page, "porto-1")).to_contain_text(re.compile("Porto.*lift.*night"))
    page.get_by_role("button", name="2 night").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    # One of several has to fit.
    page.get_by_role("button", name="2 lift").click()
    expect(page.locator("tbody tr")).to_have_count(3)
    page.get_by_role("button", name="2 night").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.reload()
    expect(page.get_by_role("button", name="2 lift")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("tbody tr")).to_have_count(2)
    assert "pool=Porto&tag=lift" in page.url


def test_outdated_machines_are_marked_and_found(operator: Visit) -> None:
    page, site = operator.page, operator.site
    greeting = hello().model_copy(update={"client_version": "0.0.9"})
    with site.scripted("Old one", greeting):
        expect(row_of(page, "Old one")).to_contain_text("0.0.9 outdated")
        page.get_by_role("button", name="1 Outdated").click()
        expect(page.locator("tbody tr")).to_have_count(1)
        page.get_by_role("button", name="1 Outdated").click()
        expect(page.locator("tbody tr").nth(1)).to_be_visible()


def test_list_is_walked_by_keys(operator: Visit) -> None:
    page, site = operator.page, operator.site
    for name in ("Oslo 1", "Oslo 2", "Oslo 3"):
        site.add_machine(name)
    expect(row_of(page, "Oslo 3")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("oslo j")
    expect(page.get_by_label("Filter")).to_have_value("oslo j")
    page.keyboard.press("Backspace")
    expect(page.locator("tbody tr")).to_have_count(3)
    page.get_by_label("Filter").blur()
    for key, name in (("j", "Oslo 1"), ("j", "Oslo 2"), ("j", "Oslo 3"), ("k", "Oslo 2")):
        page.keyboard.press(key)
        expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Oslo 2")).to_be_visible()
    page.get_by_role("link", name="\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK} Machines").click()
    expect(page.get_by_label("Filter")).to_have_value("oslo ")


def test_filter_and_chips_narrow_the_table_and_stay_in_the_address(operator: Visit) -> None:
    page, site = operator.page, operator.site
    machine, _ = site.add_machine("Kassel till 7")
    other, _ = site.add_machine("Kassel till 8")
    change(site, other, paused=True)
    page.get_by_label("Filter").fill("kassel")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Paused").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_text("1 of ")).to_be_visible()
    page.reload()
    expect(row_of(page, "Kassel till 8")).to_be_visible()
    expect(row_of(page, "Kassel till 7")).to_have_count(0)
    page.get_by_role("button", name="All").click()
    page.get_by_label("Filter").fill(machine)
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Kassel till 7").click()
    expect(page.get_by_role("heading", name="Kassel till 7")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Filter")).to_have_value(machine)


def test_what_was_chosen_does_not_call_back_whoever_has_gone_elsewhere(operator: Visit) -> None:
    operator.site.add_machine("Left behind")
    expect(row_of(operator.page, "Left behind")).to_be_visible()
    # In one go, before the page hears that the address has changed.
    operator.page.evaluate(
        "() => { location.hash = '/activity'; document.querySelector('.chip').click(); }"
    )
    expect(operator.page.get_by_role("heading", name="Activity")).to_be_visible()
    assert operator.page.url.endswith("#/activity")


def test_list_that_could_not_be_read_is_read_again_by_itself(visit: Visit) -> None:
    visit.site.add_machine("Late in the list")
    problem = {"title": "Storage is away", "status": 503, "detail": "no answer of the database"}
    page, is_back = visit.page, threading.Event()

    def answer(route: Route) -> None:
        if is_back.is_set():
            route.continue_()
        else:
            route.fulfill(status=503, json=problem, content_type="application/problem+json")

    page.route("**/v1/machines?*", answer)
    visit.sign_in()
    expect(page.get_by_role("alert")).to_contain_text("No answer of the database.")
    page.get_by_label("Filter").fill("late")
    expect(page.get_by_role("alert")).to_be_visible()
    is_back.set()
    expect(row_of(page, "Late in the list")).to_be_visible()


def test_why_nothing_is_heard_is_said_as_it_changes(visit: Visit) -> None:
    problem = {"title": "Stopping", "status": 503, "detail": "this server is stopping"}
    page = visit.page
    page.route(
        "**/v1/events*",
        lambda route: route.fulfill(
            status=503, json=problem, content_type="application/problem+json"
        ),
    )
    visit.sign_in()
    connection = page.locator("#connection")
    expect(connection).to_have_text("This server is stopping.")
    # In the place of the first: between them nothing comes through.
    page.route("**/v1/events*", lambda route: route.abort())
    expect(connection).to_have_text("No connection to the server")
    page.unroute("**/v1/events*")
    expect(connection).to_have_text("Live")


def test_lost_server_is_said_and_found_again_by_itself(
    browser: Browser, tmp_path: Path, own_database: dict[str, str]
) -> None:
    with served(tmp_path, **own_database) as site, Visit.begun(browser, site) as visit:
        machine, _ = site.add_machine("Before")
        visit.sign_in()
        page = visit.page
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        expect(row_of(page, "Before")).to_be_visible()
        site.process.terminate()
        expect(page.get_by_text("No connection to the server")).to_be_visible()
        expect(row_of(page, "Before")).to_be_visible()
        with site.server.run():
            change(site, machine, name="After")
            expect(row_of(page, "After")).to_be_visible()
            expect(page.get_by_text("Live", exact=True)).to_be_visible()


@pytest.fixture(scope="module")
def crowded(mongodb: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server with very many machines."""
    directory = tmp_path_factory.mktemp("crowded")
    with served(directory, mongodb_uri=mongodb, mongodb_database=directory.name) as site:
        names = [f"Till {number}" for number in range(MANY)]
        ids = [f"till-{number}" for number in range(MANY)]
        with ThreadPoolExecutor(8) as together:
            list(together.map(site.add_machine, names, ids))
        yield site


def test_very_many_machines_are_shown_filtered_and_kept_up_to_date(
    browser: Browser, crowded: Site
) -> None:
    with Visit.begun(browser, crowded) as visit:
        visit.sign_in()
        page = visit.page
        expect(page.locator("tbody tr")).to_have_count(PART)
        expect(page.get_by_text("1,000 machines", exact=True)).to_be_visible()
        page.get_by_label("Filter").fill("till 99")
        expect(page.locator("tbody tr")).to_have_count(19)
        page.get_by_label("Filter").fill("")
        expect(page.locator("tbody tr")).to_have_count(PART)
        # They are read as far as one looks.
        for part in range(2 * PART, MANY + 1, PART):
            page.locator("tbody tr").last.scroll_into_view_if_needed()
            expect(page.locator("tbody tr")).to_have_count(part)
        # One comes back to where one was.
        page.locator("tbody tr").nth(700).scroll_into_view_if_needed()
        name = page.locator("tbody tr a").nth(700).text_content() or ""
        until(lambda: page.evaluate("history.state?.y") == page.evaluate("scrollY"), "it is kept")
        place = page.evaluate("scrollY")
        row_of(page, name).get_by_role("link").click()
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        page.go_back()
        expect(page.locator("tbody tr").nth(700)).to_be_attached()
        until(lambda: abs(page.evaluate("scrollY") - place) < 100, "it is where it was")
        # What did not change is not made anew: the same elements are still there.
        page.evaluate("window.rows = [...document.querySelectorAll('tbody tr')]")
        for number in range(50):
            change(crowded, f"till-{number}", paused=True)
        # Not among all that is on this page: to look through that takes seconds each time.
        states = page.locator('.chips[aria-label="States"]')
        expect(states.get_by_role("button", name="50 Paused")).to_be_visible(timeout=120_000)
        kept = page.evaluate(
            "[...document.querySelectorAll('tbody tr')].filter((r) => rows.includes(r)).length"
        )
        assert kept > 700
        row = page.locator('tbody tr:has(a[href="#/machines/till-49"])')
        expect(row).to_contain_text("Paused")


def test_news_are_read_though_one_reads_on_before(browser: Browser, crowded: Site) -> None:
    with Visit.begun(browser, crowded) as visit:
        page = visit.page
        page.clock.install()
        visit.sign_in("/machines?sort=name")
        expect(page.locator("tbody tr")).to_have_count(PART)
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        stop_the_clock(page)
        crowded.add_machine("A new one")
        change(crowded, "till-0", paused=True)
        # It has heard of both then.
        comes(page, row_of(page, "Till 0").get_by_text("Paused"))
        page.locator("tbody tr").last.scroll_into_view_if_needed()
        comes(page, page.locator("tbody tr").nth(PART + 1))
        page.clock.run_for(120_000)
        expect(row_of(page, "A new one")).to_be_visible()
