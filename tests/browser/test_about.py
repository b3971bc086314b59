"""What a machine's page says of it beside its screen, and what its owner changes there."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.rig import Site, Visit
from tests.links import hello


@pytest.fixture
def page(visit: Visit, site: Site) -> Page:
    """A machine that has never connected, alone on its page."""
    machine, _ = site.add_machine("Front desk")
    visit.sign_in(f"/machines/{machine}")
    expect(visit.page.get_by_role("heading", name="Front desk")).to_be_visible()
    return visit.page


def machine_of(page: Page) -> str:
    return page.url.rpartition("/")[2]


def test_pools_and_tags_are_changed_there(page: Page, site: Site) -> None:
    for name in ("Bonn", "Graz"):
        assert site.api.call("POST", "/v1/pools", {"name": name}).status == 201
    facts = page.locator(".facts")
    for tags, pools in (("lift night", ["Graz"]), ("night", ["Bonn"])):
        page.get_by_role("button", name="Pools and tags").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Tags").fill(tags)
        for name in ("Bonn", "Graz"):
            dialog.get_by_label(name).set_checked(name in pools)
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_have_count(0)
        for word in (*tags.split(), *pools):
            expect(facts).to_contain_text(word)
        machine = site.api.machine(machine_of(page))
        assert (machine["tags"], [each["name"] for each in machine["pools"]]) == (
            *(tags.split(), pools),
        )
    expect(facts).not_to_contain_text("Graz")


def test_wrong_tags_are_said_where_they_were_typed(page: Page) -> None:
    page.get_by_role("button", name="Pools and tags").click()
    tags = page.get_by_role("dialog").get_by_label("Tags")
    tags.fill("x" * 65)
    page.get_by_role("button", name="Save").click()
    expect(tags).to_have_accessible_description(re.compile("a word of 1 to 64 characters"))
    expect(tags).to_be_focused()


def test_machine_is_expected_to_be_away_until_that_is_taken_back(page: Page, site: Site) -> None:
    page.get_by_role("button", name="Expect offline").click()
    day = page.evaluate("new Date(Date.now() + 86_400_000).toISOString().slice(0, 16)")
    page.get_by_label("Until").fill(day)
    page.get_by_label("Reason").fill("the move")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".facts")).to_contain_text("says administrator: the move")
    page.get_by_role("button", name="Expect it online").click()
    expect(page.get_by_role("button", name="Expect offline")).to_be_visible()
    address = f"/v1/machines/{machine_of(page)}/expected-offline"
    assert site.api.call("GET", address).status == 404


def test_token_of_a_machine_that_is_not_there_cannot_be_rotated(page: Page) -> None:
    page.get_by_role("button", name="Rotate token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Rotate token").click()
    expect(dialog.get_by_role("alert")).to_contain_text("never connected")


def test_trouble_is_listed_with_its_reason_and_how_long_it_was(visit: Visit, site: Site) -> None:
    page = visit.page
    with site.scripted("Shaky", hello(no_input="the display is gone")) as machine:
        visit.sign_in(f"/machines/{machine}")
        troubles = page.get_by_role("list", name="Trouble in the last 30 days")
        expect(troubles.get_by_role("listitem")).to_have_text(
            re.compile("No input.*Still.*The display is gone", re.DOTALL)
        )
    expect(troubles.get_by_role("listitem").first).to_contain_text(
        re.compile("Offline.*Still", re.DOTALL)
    )


def test_who_only_looks_is_offered_no_change(visit: Visit, site: Site) -> None:
    machine, _ = site.add_machine("Looked at")
    visit.sign_in(f"/machines/{machine}", site.new_token("machines:read")["token"])
    expect(visit.page.get_by_role("heading", name="About")).to_be_visible()
    expect(visit.page.locator(".facts")).to_contain_text("a token of its own")
    for name in ("Pools and tags", "Expect offline", "Rotate token"):
        expect(visit.page.get_by_role("button", name=name)).to_have_count(0)
