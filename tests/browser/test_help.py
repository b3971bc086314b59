"""What programs ask people, in the console: seen by all, taken, answered, approved and denied."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.__main__ import DESKTOP
from tests.browser.rig import Desk, Site, Visit
from tests.browser.test_accessibility import violations
from tests.browser.test_notifications import asked_for, told
from tests.processes import ServedApi, until


@pytest.fixture(scope="module")
def robot(site: Site) -> Iterator[ServedApi]:
    """A program that asks."""
    made = site.new_token("input:send", "machines:read", name="The nightly robot")
    api = ServedApi(site.server.url, made["token"])
    yield api
    api.close()


def ask(robot: ServedApi, machine: str, reason: str, kind: str = "help") -> str:
    """The address of what a program asks."""
    body = {"machine_id": machine, "kind": kind, "reason": reason}
    answer = robot.call("POST", "/v1/help", body)
    assert answer.status == 201, answer.body
    return f"/v1/help/{answer.json['id']}"


def answered(robot: ServedApi, address: str) -> Any:
    found = robot.call("GET", address).json
    return found["state"], found["answer"], found["comment"]


def test_help_is_taken_from_the_queue_and_answered_as_control_is_given_back(
    operator: Visit, site: Site, desk: Desk, robot: ServedApi
) -> None:
    page = operator.page
    operator.go("/help")
    expect(page.get_by_text("Nobody asks for help")).to_be_visible()
    till, _ = site.add_machine("A till")
    first = ask(robot, desk.machine, "The printer's dialog is in the way.")
    second = ask(robot, till, "Send 40 invoices?", "approval")
    cards = page.get_by_role("list", name="Help requests").get_by_role("listitem")
    expect(cards).to_have_count(2)
    for text in ("Reception", "The printer's dialog is in the way.", "The nightly robot asked"):
        expect(cards.first).to_contain_text(text)
    expect(cards.nth(1)).to_contain_text("Send 40 invoices?")
    expect(cards.first.locator("canvas")).to_be_visible()
    expect(page.get_by_role("link", name="Help 2")).to_be_visible()
    cards.first.get_by_role("button", name="Take it").click()
    expect(page.get_by_text("You are in control of Reception")).to_be_visible()
    here = page.get_by_role("region", name="What programs ask")
    expect(here).to_contain_text("The printer's dialog is in the way.")
    here.get_by_role("button", name="Done", exact=True).click()
    page.get_by_label("Comment").fill("It had run out of paper.")
    assert violations(page, [(DESKTOP, "light")]) == []
    page.keyboard.press("Enter")
    expect(here).to_have_count(0)
    assert answered(robot, first) == ("answered", "done", "It had run out of paper.")
    until(lambda: site.api.machine(desk.machine)["control"] is None, "control is given back")
    expect(page.get_by_role("button", name="Take control")).to_be_visible()
    page.get_by_role("link", name="Help 1").click()
    expect(cards).to_have_count(1)
    cards.first.get_by_role("button", name="Deny").click()
    page.get_by_role("dialog").get_by_role("button", name="Deny").click()
    expect(page.get_by_text("Nobody asks for help")).to_be_visible()
    assert answered(robot, second) == ("answered", "deny", None)


def test_second_answer_is_refused_in_words_and_the_first_is_seen_by_all(
    operator: Visit, site: Site, robot: ServedApi
) -> None:
    till, _ = site.add_machine("Another till")
    asked = ask(robot, till, "Go on?", "approval")
    page = operator.page
    page.get_by_role("link", name="Help 1").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    site.api.call("POST", f"{asked}/answer", {"answer": "deny"})
    expect(page.locator(".helps")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="answered it")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Nobody asks for help")).to_be_visible()


def test_who_may_not_answer_sees_it_and_no_buttons(
    browser: Browser, site: Site, robot: ServedApi
) -> None:
    till, _ = site.add_machine("The third till")
    asked = ask(robot, till, "Go on?", "approval")
    with Visit.begun(browser, site) as visit:
        visit.sign_in("/help", site.new_token("machines:read")["token"])
        expect(visit.page.get_by_text("Go on?")).to_be_visible()
        expect(visit.page.get_by_text("lacks the scope help:answer")).to_be_visible()
        expect(visit.page.get_by_role("button", name="Approve")).to_have_count(0)
        robot.call("POST", f"{asked}/withdraw")
        expect(visit.page.get_by_text("Nobody asks for help")).to_be_visible()


def test_notification_leads_to_the_queue(browser: Browser, site: Site, robot: ServedApi) -> None:
    till, _ = site.add_machine("The fourth till")
    with Visit.begun(browser, site) as visit:
        page = asked_for(visit, "granted")
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        page.get_by_role("button", name="Notify me").click()
        asked = ask(robot, till, "Which of the two?")
        until(lambda: told(page), "the browser says so")
        assert [each["body"] for each in told(page)] == ["Which of the two?"]
        page.evaluate("window.latest.dispatchEvent(new Event('click'))")
        expect(page.get_by_role("heading", name="The fourth till")).to_be_visible()
        robot.call("POST", f"{asked}/withdraw")
