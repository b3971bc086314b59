"""Runs in the console: begun from an approved trajectory, halted, continued, skipped and ended."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.__main__ import DESKTOP, PHONE
from tests.browser.rig import Desk, Site, Visit
from tests.browser.runs import KEYS, NOWHERE, TYPED, approved, halted_run, run_of
from tests.browser.test_accessibility import violations
from tests.commandline import run as run_command
from tests.processes import until

SECRET = {"operation": "keyboard.type", "body": {}, "secret": "password"}
CANARY = "s3cret-of-the-desk"


@pytest.fixture(scope="module")
def halted(site: Site, desk: Desk) -> str:
    """A run that nobody continues."""
    return halted_run(site, desk.machine, halt_timeout=3_600)


def run_on(page: Page) -> str:
    """The id of the run whose page is shown."""
    return page.url.rpartition("/")[2]


def halted_at(site: Site, run: str) -> Any:
    """Since when it is halted; None while it is not."""
    return (run_of(site, run)["halted"] or {}).get("at")


def has_halted_again(site: Site, run: str, first: str) -> bool:
    return halted_at(site, run) not in (None, first)


def test_run_is_begun_halts_is_continued_and_ends(operator: Visit, site: Site, desk: Desk) -> None:
    page = operator.page
    trajectory = approved(site, "A form", TYPED, SECRET, NOWHERE, NOWHERE, KEYS)
    operator.go(f"/trajectories/{trajectory}")
    page.get_by_role("button", name="Run", exact=True).press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Machine").select_option(desk.machine)
    dialog.get_by_label("order", exact=True).fill("many")
    expect(dialog.get_by_label("password (secret)")).to_have_attribute("type", "password")
    dialog.get_by_label("password (secret)").fill(CANARY)
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("must be an integer")).to_be_visible()
    dialog.get_by_label("order", exact=True).fill("4711")
    dialog.get_by_label("Priority").fill("9")
    dialog.get_by_label("While it is halted").select_option("A day")
    page.keyboard.press("Enter")
    halt = page.get_by_role("region", name="Halted")
    expect(halt).to_contain_text("Halted at step 3")
    assert CANARY not in page.content()
    run = run_on(page)
    first = halted_at(site, run)
    results = page.locator('td[data-column="result"]')
    expect(results).to_contain_text(["Done", "Done", "Halted", "", ""])
    # Nothing of what its screen shows is kept, so that nothing could be pointed at.
    expect(halt.get_by_role("button", name="Point at it")).to_have_count(0)
    page.get_by_role("link", name="Help 1").click()
    page.get_by_role("link", name="Its run").press("Enter")
    halt.get_by_role("button", name="Continue", exact=True).press("Enter")
    until(partial(has_halted_again, site, run, first), "it was looked for once more")
    # What is done about the halt before would be refused.
    again = halted_at(site, run)
    expect(halt.locator("time")).to_have_attribute("datetime", again)
    halt.get_by_role("button", name="Skip").press("Enter")
    expect(halt).to_contain_text("Halted at step 4")
    halt.get_by_role("button", name="Continue at step…").press("Enter")
    dialog.get_by_label("Step").select_option("5")
    dialog.get_by_role("button", name="Continue").press("Enter")
    expect(page.locator(".head .outcome")).to_contain_text("Success")
    expect(results).to_contain_text(["Done", "Done", "Skipped", "Skipped", "Done"])
    expect(halt).to_have_count(0)
    ended = run_of(site, run)
    assert ended["input_values"] == {"order": "4711"}
    assert (ended["priority"], ended["halt_timeout"]) == (9, 86_400)
    page.get_by_role("button", name="Retry").press("Enter")
    dialog.get_by_label("password (secret)").fill(CANARY)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=run)).to_be_visible()
    page.locator(".head").get_by_role("button", name="Cancel").press("Enter")
    page.get_by_role("button", name="Cancel the run").press("Enter")
    expect(page.locator(".head .outcome")).to_contain_text("Cancelled")
    assert run_of(site, run_on(page))["retry_of"] == run


def test_step_is_done_by_hand_and_proposed_in_its_place(
    operator: Visit, site: Site, desk: Desk
) -> None:
    run = halted_run(site, desk.machine, halt_timeout=0)
    page = operator.page
    operator.go(f"/runs/{run}")
    halt = page.get_by_role("region", name="Halted")
    # The command says the same, but not with what others have recorded.
    refused = run_command(
        *("run", "continue", run, "--skip", "--by-hand", run_of(site, run)["trajectory_id"]),
        FARHAND_DATA_DIR=str(site.server.directory / "data"),
    )
    assert "of the run's machine" in refused.stderr, refused.output
    halt.get_by_role("button", name="By hand", exact=True).press("Enter")
    expect(page).to_have_url(re.compile(f"#/machines/{desk.machine}$"))
    site.api.send(desk.machine, "mouse/click", {"x": 450, "y": 290})
    page.go_back()
    halt.get_by_role("button", name="Done by hand").press("Enter")
    expect(page.locator(".head .outcome")).to_contain_text("Success")
    results = page.locator('td[data-column="result"]')
    expect(results).to_contain_text(["Done", "Done", "Skipped", "Done"])
    repaired = run_of(site, run)
    assert [(each["number"], each["kind"]) for each in repaired["repairs"]] == [(3, "by_hand")]
    proposed = site.api.call("GET", f"/v1/trajectories/{repaired['proposal_id']}").json
    steps = [each["operation"] for each in proposed["trajectory_data"]]
    assert steps == ["keyboard.key", "keyboard.type", "mouse.click", "keyboard.key"]
    assert proposed["trajectory_data"][2]["by"]["through"] == "api"
    assert proposed["review"]["state"] == "open"


def test_list_is_narrowed_by_its_address_and_goes_on_by_itself(
    operator: Visit, site: Site, desk: Desk, halted: str
) -> None:
    page = operator.page
    operator.go(f"/runs?machine_id={desk.machine}&status=running")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(1)
    for text in ("Enter an order", "Halted", desk.machine, "3 of 4"):
        expect(rows.first).to_contain_text(text)
    page.get_by_label("Workflow").select_option("Enter an order")
    expect(rows).to_have_count(1)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Export").click()
    (saved,) = Path(saving.value.path()).read_text().splitlines()
    assert (json.loads(saved)["id"], len(json.loads(saved)["steps"])) == (halted, 2)
    workflow = run_of(site, halted)["workflow_id"]
    assert page.url.endswith(f"?status=running&machine_id={desk.machine}&workflow_id={workflow}")
    waiting = {"trajectory_id": run_of(site, halted)["trajectory_id"], "machine_id": desk.machine}
    page.get_by_label("Status").select_option("Waiting")
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    begun = site.api.call("POST", "/v1/runs", {**waiting, "input_values": {"order": "1"}}).json
    expect(rows.first).to_contain_text("Waiting")
    site.api.call("POST", f"/v1/runs/{begun['id']}/cancel")
    expect(page.get_by_text("Nothing fits")).to_be_visible()


def test_places_that_could_be_meant_are_drawn_with_their_scores(
    operator: Visit, halted: str
) -> None:
    page = operator.page
    places = [
        {"at": {"x": 10, "y": 40, "width": 90, "height": 30}, "score": 0.914, "text": "button OK"},
        {"at": {"x": 10, "y": 90, "width": 90, "height": 30}, "score": 0.873, "text": None},
    ]

    def with_places(route: Route) -> None:
        answer = route.fetch()
        run = answer.json()
        run["halted"] = {**run["halted"], "candidates": places, "is_unknown": True}
        route.fulfill(response=answer, json=run)

    page.route(f"**/v1/runs/{halted}", with_places)
    operator.go(f"/runs/{halted}")
    expect(page.locator(".halt .viewer canvas:not([hidden])")).to_have_count(2)
    expect(page.locator(".halt .viewer text")).to_have_text(["0.91", "0.87"])
    expect(page.locator(".halt ol")).to_contain_text("button OK, 0.91")
    expect(page.get_by_role("button", name="Do it again")).to_be_visible()
    expect(page.get_by_role("button", name="Continue", exact=True)).to_have_count(0)
    assert violations(page, [(DESKTOP, "light"), (PHONE, "dark")]) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_who_may_only_look_has_no_buttons(browser: Browser, site: Site, halted: str) -> None:
    with Visit.begun(browser, site) as visit:
        visit.sign_in(
            "/runs?status=running", site.new_token("runs:read", "trajectories:read")["token"]
        )
        visit.page.get_by_role("link", name="Enter an order").press("Enter")
        expect(visit.page.get_by_role("region", name="Halted")).to_be_visible()
        for name in ("Continue", "Skip", "Cancel"):
            expect(visit.page.get_by_role("button", name=name)).to_have_count(0)
        trajectory = run_of(site, halted)["trajectory_id"]
        visit.go(f"/trajectories/{trajectory}")
        expect(visit.page.get_by_text("Step 1 of 4")).to_be_visible()
        expect(visit.page.get_by_role("button", name="Run", exact=True)).to_have_count(0)
