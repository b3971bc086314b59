"""Answers that come late: nothing is done to what nobody has seen, and nothing told that is not so.

Requests are held up, and go on when a test says so.
"""

import re
from typing import Any

from playwright.sync_api import Page, Request, Route, expect

from tests.browser.library import CLICK, DRAG, Library
from tests.browser.rig import TWO_PICTURES, Desk, Site, Visit, have_come, held_up
from tests.browser.runs import halted_run, run_of

SAVED = {"element": {"role": "label", "name": "Saved"}}


def looks_for_news(request: Request) -> bool:
    return "if-none-match" in request.headers


def reads(request: Request) -> bool:
    return request.method == "GET" and not looks_for_news(request)


def opened(reader: Visit, trajectory: str, name: str) -> tuple[Page, str]:
    """The page of a trajectory, and the pattern of the requests for it."""
    reader.go(f"/trajectories/{trajectory}")
    expect(reader.page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    expect(reader.page.get_by_text("Live", exact=True)).to_be_visible()
    return reader.page, f"**/v1/trajectories/{trajectory}"


def rename(library: Library, trajectory: str, name: str) -> None:
    """As somebody else does."""
    answer = library.site.api.call("PATCH", f"/v1/trajectories/{trajectory}", {"name": name})
    assert answer.status == 200, answer.body


def reading_again(page: Page, pattern: str) -> Route:
    """Somebody reads again what others have changed, and waits for the answer."""
    expect(page.get_by_text("Somebody has changed")).to_be_visible()
    readings = held_up(page, pattern, reads)
    page.get_by_role("button", name="Read it again").click()
    have_come(page, readings, 1)
    return readings[0]


def test_change_of_ones_own_is_no_news_though_it_was_just_looked_for_news(
    reader: Visit, library: Library
) -> None:
    trajectory = library.add("Quick", CLICK)
    page, pattern = opened(reader, trajectory, "Quick")
    looks = held_up(page, pattern, looks_for_news)
    page.keyboard.press("a")
    expect(page.get_by_label("Comment")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("✓ Approved")).to_be_visible()
    have_come(page, looks, 1)
    decisions = held_up(page, "**/review", lambda _: True)
    page.get_by_role("button", name="Withdraw approval").click()
    have_come(page, decisions, 1)
    decided = decisions[0].fetch()
    looks[0].fulfill(response=looks[0].fetch())
    page.evaluate(TWO_PICTURES)
    decisions[0].fulfill(response=decided)
    expect(page.get_by_text("No longer approved")).to_be_visible()
    page.evaluate(TWO_PICTURES)
    expect(page.get_by_text("Somebody has changed")).to_have_count(0)


def test_trajectory_that_one_deletes_oneself_is_deleted_by_nobody_else(
    reader: Visit, library: Library
) -> None:
    trajectory = library.add("To delete", CLICK)
    page, pattern = opened(reader, trajectory, "To delete")
    looks = held_up(page, pattern, looks_for_news)
    deletions = held_up(page, pattern, lambda request: request.method == "DELETE")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    have_come(page, deletions, 1)
    deleted = deletions[0].fetch()
    machine, _ = library.site.add_machine("In need")
    body = {"machine_id": machine, "kind": "help", "reason": "Who is there?"}
    assert library.site.api.call("POST", "/v1/help", body).status == 201
    # Of what came before that the page has heard by then: it waits for its own answer.
    expect(page.get_by_role("link", name=re.compile(r"Help \d"))).to_be_visible()
    assert looks == []
    deletions[0].fulfill(response=deleted)
    expect(page.get_by_role("heading", name="Trajectories")).to_be_visible()


def test_change_that_is_told_while_one_reads_again_is_not_forgotten(
    reader: Visit, library: Library
) -> None:
    trajectory = library.add("First", CLICK)
    page, pattern = opened(reader, trajectory, "First")
    rename(library, trajectory, "Second")
    reading = reading_again(page, pattern)
    second = reading.fetch()
    with page.expect_response(lambda answer: looks_for_news(answer.request)):
        rename(library, trajectory, "Third")
    reading.fulfill(response=second)
    expect(page.get_by_role("heading", name="Second", exact=True)).to_be_visible()
    expect(page.get_by_text("Somebody has changed")).to_be_visible()


def test_step_of_which_one_was_asked_is_removed_or_none(reader: Visit, library: Library) -> None:
    trajectory = library.add("Two steps", CLICK, DRAG)
    page, pattern = opened(reader, trajectory, "Two steps")
    rename(library, trajectory, "Two other steps")
    reading = reading_again(page, pattern)
    page.keyboard.press("x")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Step 1: Remove this step?")
    reading.continue_()
    expect(page.get_by_text("Two other steps").first).to_be_attached()
    dialog.get_by_role("button", name="Remove").press("Enter")
    expect(page.get_by_text("Nothing was done: somebody has changed it")).to_be_visible()
    expect(dialog).to_have_count(0)
    assert len(library.get(trajectory)["trajectory_data"]) == 2


def test_what_is_approved_was_there_when_that_was_asked(reader: Visit, library: Library) -> None:
    trajectory = library.add("As it was", CLICK)
    page, pattern = opened(reader, trajectory, "As it was")
    steps = f"/v1/trajectories/{trajectory}/steps"
    changed = library.site.api.call("POST", steps, {"steps": [DRAG], "before": 1})
    assert changed.status == 200, changed.body
    reading = reading_again(page, pattern)
    page.keyboard.press("a")
    expect(page.get_by_label("Comment")).to_be_focused()
    reading.continue_()
    expect(page.get_by_text("Step 1 of 2")).to_be_attached()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing was done: somebody has changed it")).to_be_visible()
    assert library.get(trajectory)["review"]["state"] == "open"


def test_second_proposal_is_not_taken_while_the_first_is_under_way(
    reader: Visit, library: Library
) -> None:
    proposing = {**CLICK, "proposed": [SAVED]}
    trajectory = library.add("Proposing", proposing)
    page, _ = opened(reader, trajectory, "Proposing")
    changes = held_up(page, "**/steps/1", lambda _: True)
    page.keyboard.press("t")
    have_come(page, changes, 1)
    page.keyboard.press("t")
    expect(page.get_by_text("the change before was still under way")).to_be_visible()
    changes[0].continue_()
    expect(page.get_by_text("Step 1 was changed.")).to_be_visible()
    expect(page.get_by_text("somebody has changed it")).to_have_count(0)


def test_question_whether_to_cancel_a_run_is_none_whether_to_repeat_it(
    operator: Visit, site: Site, desk: Desk
) -> None:
    run = halted_run(site, desk.machine, halt_timeout=0)
    page = operator.page
    operator.go(f"/runs/{run}")
    page.locator(".head").get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel this run?")
    assert site.api.call("POST", f"/v1/runs/{run}/cancel").status in (200, 202)
    expect(page.locator(".head .outcome")).to_contain_text("Cancelled")
    page.evaluate(TWO_PICTURES)
    expect(dialog).to_have_count(0)


def test_steps_of_a_run_are_named_once_its_trajectory_can_be_read(
    operator: Visit, site: Site, desk: Desk
) -> None:
    run = halted_run(site, desk.machine, halt_timeout=0)
    trajectory = run_of(site, run)["trajectory_id"]
    page = operator.page
    problem: dict[str, Any] = {"title": "Away", "status": 503, "detail": "MongoDB is away"}
    page.route(
        f"**/v1/trajectories/{trajectory}",
        lambda route: route.fulfill(
            status=503, json=problem, content_type="application/problem+json"
        ),
        times=1,
    )
    operator.go(f"/runs/{run}")
    unknown = page.get_by_text("What the steps say is not known here")
    expect(unknown).to_be_visible()
    expect(unknown).to_have_count(0)
    assert site.api.call("POST", f"/v1/runs/{run}/cancel").status in (200, 202)


def test_new_name_is_not_taken_away_while_it_is_typed(operator: Visit, desk: Desk) -> None:
    page, api = operator.page, operator.site.api
    operator.go(f"/machines/{desk.machine}")
    page.get_by_role("button", name="Rename").click()
    field = page.get_by_label("New name")
    field.fill("Recep")
    api.send(desk.machine, "keyboard/key", {"text": "F5"})
    expect(page.locator(".commands li").first).to_contain_text("Key")
    page.evaluate(TWO_PICTURES)
    expect(field).to_have_value("Recep")
    page.keyboard.press("Escape")
