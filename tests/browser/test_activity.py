"""Who did what: every change and every input, as it happens, by person, machine, kind and time."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.rig import Site, Visit
from tests.processes import ServedApi, until

RIGHT_TO_LEFT = "\N{HEBREW LETTER SHIN}\N{HEBREW LETTER LAMED} " * 50


def entries(page: Page) -> Locator:
    return page.locator(".table.activity tbody tr")


def make_workflows(site: Site, count: int, name: str = "Workflow") -> None:
    for number in range(count):
        site.api.call("POST", "/v1/workflows", {"name": f"{name} {number}"})


def filter_of(page: Page, name: str) -> Locator:
    return page.get_by_role("search").get_by_label(name, exact=True)


def test_changes_and_inputs_are_told_as_they_happen_with_who_made_them(operator: Visit) -> None:
    site, page = operator.site, operator.page
    with site.desk("Watched") as desk:
        operator.go(f"/machines/{desk.machine}")
        expect(page.get_by_text("Live. The picture changes")).to_be_visible()
        page.get_by_role("link", name="All that was done on it").click()
        expect(entries(page)).to_have_count(2)
        site.api.send(desk.machine, "keyboard/type", {"text": "hunter2"})
        site.api.send(desk.machine, "mouse/click", {"x": 9000, "y": 1})
        pausing = {"paused": True, "pause_reason": "The printer"}
        site.api.call("PATCH", f"/v1/machines/{desk.machine}", pausing)
        expect(entries(page)).to_have_count(5)
        for place, words in enumerate(
            (
                ("Paused a machine", "administrator", "The printer"),
                ("Click", "Refused", "administrator"),
                ("Text", "Completed", "administrator"),
                # How many depends on how soon the machine's window was drawn.
                ("Looked at the screen", "administrator", " picture"),
                ("Added a machine", "administrator", desk.machine),
            )
        ):
            for word in words:
                expect(entries(page).nth(place)).to_contain_text(word)
        assert "hunter2" not in page.content()
        assert entries(page).first.locator("time").get_attribute("title")
        filter_of(page, "What").select_option(label="Inputs")
        expect(entries(page)).to_have_count(2)
        page.reload()
        expect(entries(page)).to_have_count(2)
        entries(page).first.get_by_role("link", name=desk.machine).click()
        expect(page.get_by_role("heading", name="Watched")).to_be_visible()
        page.go_back()
        expect(entries(page)).to_have_count(2)
        expect(filter_of(page, "What")).to_have_value("input")


def test_token_that_is_gone_is_told_by_its_name_and_what_it_allowed(operator: Visit) -> None:
    site, page = operator.site, operator.page
    made = site.api.call("POST", "/v1/tokens", {"name": "of Anna", "role": "viewer"}).json
    site.api.call("DELETE", f"/v1/tokens/{made['id']}")
    operator.go("/activity?action=token")
    for place, done in enumerate(("Revoked", "Made")):
        entry = entries(page).nth(place)
        expect(entry).to_contain_text(f"{done} a tokenof Anna (viewer)")
        expect(entry.get_by_title("machines:read, screen:read")).to_be_visible()
    expect(entries(page).filter(has_text=made["id"])).to_have_count(0)


def test_list_grows_as_one_reads_and_stays_where_one_was(operator: Visit) -> None:
    page, site = operator.page, operator.site
    make_workflows(site, 250)
    operator.go("/activity?action=workflow")
    expect(page.get_by_text("250 entries")).to_be_visible()
    expect(entries(page)).to_have_count(100)
    make_workflows(site, 20, "Meanwhile")
    expect(entries(page)).to_have_count(120)

    def reads_on() -> bool:
        page.keyboard.press("End")
        return entries(page).count() == 270

    until(reads_on, "all are there")
    titles = [each.get_attribute("title") for each in entries(page).all()]
    assert len(set(titles)) == 270
    page.evaluate("scrollTo(0, 5000)")
    until(lambda: page.evaluate("history.state?.y") == 5000, "the place is kept")
    page.get_by_role("link", name="Machines", exact=True).click()
    expect(page.get_by_role("heading", name="Machines")).to_be_visible()
    page.go_back()
    expect(entries(page).first).to_be_attached()
    until(lambda: page.evaluate("scrollY") == 5000, "one is back where one was")


def test_what_fits_nothing_is_cleared_and_a_wrong_filter_is_said(operator: Visit) -> None:
    page = operator.page
    operator.go("/activity")
    filter_of(page, "Machine").fill("no such id!")
    expect(page.get_by_role("alert")).to_contain_text("machine_id")
    filter_of(page, "Machine").fill("nowhere")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(entries(page).first).to_be_visible()
    expect(filter_of(page, "Machine")).to_have_value("")
    operator.go("/activity?created_at_from=yesterday")
    expect(page.get_by_role("alert")).to_contain_text("created_at_from")


def test_person_and_days_are_chosen(operator: Visit) -> None:
    site, page = operator.site, operator.page
    made = site.new_token("trajectories:write", name=RIGHT_TO_LEFT.strip()[:150])
    robot = ServedApi(site.server.url, made["token"])
    robot.call("POST", "/v1/workflows", {"name": "of a robot"})
    robot.close()
    operator.go("/activity")
    filter_of(page, "Person or program").fill(made["name"])
    expect(entries(page)).to_have_count(1)
    who = entries(page).first.get_by_title(made["name"])
    assert who.evaluate("(cell) => getComputedStyle(cell).direction") == "rtl"
    filter_of(page, "To").fill("2020-01-01")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    filter_of(page, "To").fill("")
    filter_of(page, "From").fill("2020-01-01")
    expect(entries(page)).to_have_count(1)
    page.reload()
    expect(entries(page)).to_have_count(1)
    expect(filter_of(page, "From")).to_have_value("2020-01-01")


def test_what_is_chosen_is_saved_as_a_table(operator: Visit, tmp_path: Path) -> None:
    page = operator.page
    make_workflows(operator.site, 3, "Saved")
    operator.go("/activity?action=workflow")
    expect(entries(page).first).to_be_visible()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Download as CSV").click()
    assert saving.value.suggested_filename == "audit.csv"
    saving.value.save_as(tmp_path / "audit.csv")
    with (tmp_path / "audit.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 3
    assert {row["action"] for row in rows} == {"workflow.created"}
    page.route("**/v1/audit/export*", lambda route: route.abort())
    page.get_by_role("button", name="Download as CSV").click()
    expect(page.locator(".notice")).to_contain_text("The server does not answer")


def test_keys_lead_through_the_entries_those_that_lead_nowhere_among_them(
    operator: Visit,
) -> None:
    page = operator.page
    make_workflows(operator.site, 2)
    operator.go("/activity?action=workflow")
    expect(entries(page).nth(1)).to_be_visible()
    for key, place in (("j", 0), ("j", 1), ("k", 0)):
        page.keyboard.press(key)
        expect(entries(page).nth(place)).to_be_focused()
    page.keyboard.press("/")
    expect(filter_of(page, "Machine")).to_be_focused()


def test_server_that_is_away_is_said_and_read_again_when_it_is_back(operator: Visit) -> None:
    page = operator.page
    operator.go("/activity")
    expect(entries(page).first).to_be_visible()
    page.route("**/v1/audit?*", lambda route: route.abort())
    make_workflows(operator.site, 1)
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    expect(entries(page).first).to_be_visible()
    page.unroute("**/v1/audit?*")
    expect(entries(page).first).to_contain_text("Made a workflow")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_activity_is_for_those_who_may_see_it(browser: Browser, site: Site) -> None:
    made = site.new_token("machines:read")
    with Visit.begun(browser, site) as visit:
        visit.sign_in("/machines", made["token"])
        expect(visit.page.get_by_role("link", name="Activity")).to_have_count(0)
        visit.go("/activity")
        expect(visit.page.get_by_text("Your token lacks the scope audit:read")).to_be_visible()


@pytest.mark.parametrize("scopes", [("audit:read",), ("audit:read", "machines:read")])
def test_auditor_sees_what_happens_until_the_token_ends(
    browser: Browser, site: Site, scopes: tuple[str, ...]
) -> None:
    made = site.new_token(*scopes, name="the auditor")
    make_workflows(site, 1)
    with Visit.begun(browser, site) as visit:
        page = visit.page
        visit.sign_in("/activity?action=workflow", made["token"])
        expect(entries(page).first).to_be_visible()
        news = site.api.call("POST", "/v1/workflows", {"name": "News"}).json["id"]
        expect(entries(page).first).to_contain_text(news)
        site.api.call("DELETE", f"/v1/tokens/{made['id']}")
        expect(page.get_by_text("Your session has ended")).to_be_visible()
        assert page.url.endswith("#/activity?action=workflow")
