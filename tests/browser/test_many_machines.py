"""Many machines changed at once from the table, with an answer for each."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.rig import Site, Visit
from tests.links import hello


@pytest.fixture(scope="module")
def tills(site: Site) -> list[str]:
    """Five machines with a tag, one of which is called as no other."""
    ids = [f"till-{number}" for number in range(5)]
    for each in ids:
        body = {"id": each, "name": f"Till {each[-1]}", "tags": ["till"]}
        assert site.api.call("POST", "/v1/machines", body).status == 201
    for name in ("Berlin", "Oslo"):
        assert site.api.call("POST", "/v1/pools", {"name": name}).status == 201
    return ids


@pytest.fixture
def page(visit: Visit, tills: list[str]) -> Page:
    """The tills in the table."""
    visit.sign_in("/machines?tag=till&sort=name")
    expect(visit.page.locator("tbody tr")).to_have_count(len(tills))
    return visit.page


def tick(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Choose {name}", exact=True).check()


def begin(page: Page, action: str) -> Locator:
    """Begin something with what is chosen; the dialog about it."""
    bar = page.get_by_role("region", name="Chosen machines")
    bar.get_by_role("button", name=action, exact=True).click()
    return page.get_by_role("dialog")


def answered(page: Page, title: str) -> Locator:
    """Wait for the answers."""
    expect(page.get_by_role("dialog").get_by_role("heading", name=title)).to_be_visible()
    return page.get_by_role("list", name="What became of each")


def close(page: Page) -> None:
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def of(site: Site, machine: str) -> Any:
    return site.api.machine(machine)


def audited(site: Site, action: str) -> set[str]:
    """The machines that the audit has this of."""
    items = site.api.call("GET", f"/v1/audit?action={action}&limit=1000").json["items"]
    return {each["machine_id"] for each in items}


def test_chosen_machines_are_paused_and_resumed_each_with_an_answer(page: Page, site: Site) -> None:
    tick(page, "Till 0", "Till 2")
    expect(page.get_by_text("2 machines chosen")).to_be_visible()
    dialog = begin(page, "Pause")
    expect(dialog.get_by_role("heading", name="Pause 2 machines")).to_be_visible()
    dialog.get_by_label("Reason").fill("the move")
    dialog.get_by_role("button", name="Pause").click()
    items = answered(page, "Paused 2 machines").get_by_role("listitem")
    expect(items).to_have_text([re.compile("Till 0.*Done"), re.compile("Till 2.*Done")])
    close(page)
    assert of(site, "till-0")["pause"]["reason"] == "the move"
    assert {each: of(site, f"till-{each}")["paused"] for each in range(3)} == {
        0: True,
        1: False,
        2: True,
    }
    assert {"till-0", "till-2"} <= audited(site, "machine.paused")
    # They are chosen still.
    begin(page, "Resume").get_by_role("button", name="Resume").click()
    answered(page, "Resumed 2 machines")
    close(page)
    assert not of(site, "till-0")["paused"]
    page.get_by_role("button", name="Choose none").click()
    expect(page.get_by_role("region", name="Chosen machines")).to_have_count(0)


def test_tags_and_pools_are_given_and_taken_away(page: Page, site: Site) -> None:
    page.get_by_role("checkbox", name="Choose all that are shown").check()
    expect(page.get_by_text("5 machines chosen")).to_be_visible()
    dialog = begin(page, "Tags")
    dialog.get_by_label("Tags").fill("spare, floor-2")
    dialog.get_by_role("button", name="Tags").click()
    answered(page, "Changed 5 machines")
    close(page)
    assert of(site, "till-4")["tags"] == ["floor-2", "spare", "till"]
    dialog = begin(page, "Tags")
    dialog.get_by_label("What to do").select_option("Take away")
    dialog.get_by_label("Tags").fill("spare")
    dialog.get_by_role("button", name="Tags").click()
    answered(page, "Changed 5 machines")
    close(page)
    assert of(site, "till-4")["tags"] == ["floor-2", "till"]
    dialog = begin(page, "Pools")
    dialog.get_by_label("Pool", exact=True).select_option("Oslo")
    dialog.get_by_role("button", name="Pools").click()
    answered(page, "Changed 5 machines")
    close(page)
    assert [each["name"] for each in of(site, "till-3")["pools"]] == ["Oslo"]
    expect(page.get_by_role("button", name="5 Oslo")).to_be_visible()
    # What was refused is said where it was filled in.
    dialog = begin(page, "Tags")
    dialog.get_by_label("Tags").fill("x" * 65)
    dialog.get_by_role("button", name="Tags").click()
    wrong = re.compile("a word of 1 to 64 characters")
    expect(dialog.get_by_label("Tags")).to_have_accessible_description(wrong)
    page.keyboard.press("Escape")


def test_machines_are_expected_to_be_away_until_that_is_taken_back(page: Page, site: Site) -> None:
    tick(page, "Till 1", "Till 2")
    dialog = begin(page, "Expect offline")
    dialog.get_by_label("Until").fill("2020-01-01T10:00")
    dialog.get_by_role("button", name="Expect offline").click()
    items = answered(page, "Noted for 0 of 2 machines").get_by_role("listitem")
    # Each is a request of its own, and whichever ends first stands first.
    expect(items.filter(has_text="Till 1")).to_contain_text(re.compile("Failed.*until"))
    close(page)
    dialog = begin(page, "Expect offline")
    expect(dialog.get_by_label("Until")).to_be_visible()
    page.evaluate("""() => {
      const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
      document.querySelector('dialog input[name=until]').value = day;
    }""")
    dialog.get_by_label("Reason").fill("new floor")
    dialog.get_by_role("button", name="Expect offline").click()
    answered(page, "Noted for 2 machines")
    close(page)
    expected = site.api.call("GET", "/v1/machines/till-1/expected-offline")
    assert (expected.status, expected.json["reason"]) == (200, "new floor")
    begin(page, "Expect offline").get_by_role("button", name="Expect offline").click()
    answered(page, "Noted for 2 machines")
    close(page)
    assert site.api.call("GET", "/v1/machines/till-1/expected-offline").status == 404


def test_removing_asks_for_the_number_and_says_what_was_gone_already(
    page: Page, site: Site
) -> None:
    for name in ("till-8", "till-9"):
        assert site.api.call("POST", "/v1/machines", {"id": name, "tags": ["till"]}).status == 201
    tick(page, "till-8", "till-9")
    dialog = begin(page, "Remove")
    confirmation = dialog.get_by_label("Type how many that are, 2, to go on")
    confirmation.fill("3")
    dialog.get_by_role("button", name="Remove").click()
    expect(dialog.get_by_role("heading", name="Remove 2 machines")).to_be_visible()
    assert site.api.call("GET", "/v1/machines/till-8").status == 200
    # Somebody else was quicker.
    assert site.api.call("DELETE", "/v1/machines/till-9").status == 204
    confirmation.fill("2")
    dialog.get_by_role("button", name="Remove").click()
    items = answered(page, "Removed 1 of 2 machines").get_by_role("listitem")
    expect(items).to_have_text(
        [re.compile("till-9.*Not there any more"), re.compile("till-8.*Done")]
    )
    close(page)
    assert site.api.call("GET", "/v1/machines/till-8").status == 404
    expect(page.get_by_role("region", name="Chosen machines")).to_have_count(0)


def test_tokens_of_those_that_are_not_connected_cannot_be_rotated(page: Page, site: Site) -> None:
    with site.scripted("Rotating", hello()) as machine:
        body = {"machine_ids": [machine], "action": "tag", "tags": ["till"]}
        assert site.api.call("POST", "/v1/machines/bulk", body).json["done"] == 1
        tick(page, "Till 0", "Rotating")
        begin(page, "Rotate tokens").get_by_role("button", name="Rotate tokens").click()
        items = answered(page, "Told to change its token: 1 of 2 machines").get_by_role("listitem")
        expect(items.first).to_contain_text(re.compile("Till 0.*Failed"))
        close(page)
    assert site.api.call("DELETE", f"/v1/machines/{machine}").status == 204


def test_all_that_fit_are_chosen_also_those_that_nobody_has_seen(
    browser: Browser, site: Site
) -> None:
    for number in range(230):
        body = {"id": f"kiosk-{number}", "tags": ["kiosk"]}
        assert site.api.call("POST", "/v1/machines", body).status == 201
    with Visit.begun(browser, site) as visit:
        visit.sign_in("/machines?tag=kiosk&sort=name")
        page = visit.page
        expect(page.locator("tbody tr")).to_have_count(200)
        page.get_by_role("checkbox", name="Choose all that are shown").check()
        expect(page.get_by_text("200 machines chosen")).to_be_visible()
        page.get_by_role("button", name="Choose all 230 machines that fit").click()
        expect(page.get_by_text("230 machines chosen")).to_be_visible()
        begin(page, "Pause").get_by_role("button", name="Pause").click()
        answered(page, "Paused 230 machines")
        close(page)
        counts = site.api.call("GET", "/v1/machines?tag=kiosk&counts=true&limit=1").json["counts"]
        assert counts["paused"] == 230
        # What one does not see any more is not changed with the rest.
        page.get_by_label("Filter").fill("kiosk-1")
        expect(page.get_by_role("region", name="Chosen machines")).to_have_count(0)


@pytest.mark.parametrize(
    ("scopes", "shown", "hidden"),
    [
        (("machines:read", "machines:write"), ["Pause", "Remove"], ["Tags", "Pools"]),
        (("machines:read", "machines:write", "pools:write"), ["Pause", "Tags", "Pools"], []),
    ],
)
def test_only_what_the_token_allows_is_offered(
    visit: Visit, site: Site, tills: list[str], scopes: Any, shown: list[str], hidden: list[str]
) -> None:
    visit.sign_in("/machines?tag=till", site.new_token(*scopes)["token"])
    tick(visit.page, "Till 0")
    bar = visit.page.get_by_role("region", name="Chosen machines")
    for name in shown:
        expect(bar.get_by_role("button", name=name, exact=True)).to_be_visible()
    for name in hidden:
        expect(bar.get_by_role("button", name=name, exact=True)).to_have_count(0)


def test_who_only_looks_chooses_nothing(visit: Visit, site: Site, tills: list[str]) -> None:
    visit.sign_in("/machines?tag=till", site.new_token("machines:read")["token"])
    expect(visit.page.locator("tbody tr")).to_have_count(len(tills))
    expect(visit.page.get_by_role("checkbox")).to_have_count(0)


def test_machines_are_chosen_by_keyboard(page: Page) -> None:
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Till 0")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page.get_by_text("1 machine chosen")).to_be_visible()
