"""Pools, tokens and organizations in the console, by whoever may look after them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.rig import Site, Visit
from tests.processes import ServedApi


def rows(page: Page) -> Locator:
    return page.locator(".table.admin tbody tr")


def in_dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def secret_of(page: Page) -> str:
    """What is shown once; the page keeps it until somebody says that he has it."""
    code = page.locator(".secret code")
    expect(code).to_be_visible()
    return code.inner_text()


def pool_of(site: Site, name: str, **more: Any) -> str:
    return str(site.api.call("POST", "/v1/pools", {"name": name, **more}).json["id"])


def test_pool_is_made_changed_and_removed_by_keyboard_alone(operator: Visit) -> None:
    page, site = operator.page, operator.site
    operator.go("/settings/pools")
    page.get_by_role("button", name="New pool").focus()
    page.keyboard.press("Enter")
    expect(in_dialog(page).get_by_label("Name")).to_be_focused()
    page.keyboard.type("Munich")
    page.keyboard.press("Enter")
    expect(in_dialog(page)).to_have_count(0)
    expect(page.get_by_role("button", name="New pool")).to_be_focused()
    row = rows(page).filter(has_text="Munich")
    expect(row).to_contain_text("as the server has it")
    row.get_by_role("button", name="Change Munich").focus()
    page.keyboard.press("Enter")
    in_dialog(page).get_by_label("Name").fill("Munich 2")
    in_dialog(page).get_by_label("Seconds that").fill("90")
    page.keyboard.press("Enter")
    changed = rows(page).filter(has_text="Munich 2")
    expect(changed).to_contain_text("90 s")
    changed.get_by_role("button", name="Remove Munich 2").click()
    expect(in_dialog(page)).to_contain_text("see its machines no more")
    in_dialog(page).get_by_role("button", name="Remove").click()
    expect(changed).to_have_count(0)
    told = [each["action"] for each in site.api.call("GET", "/v1/audit?action=pool").json["items"]]
    assert told[:3] == ["pool.deleted", "pool.changed", "pool.created"]


def test_delay_of_a_pool_can_be_taken_back(operator: Visit) -> None:
    page, site = operator.page, operator.site
    pool = pool_of(site, "With a delay", offline_after=60, description="Kept")
    operator.go("/settings/pools")
    page.get_by_role("button", name="Change With a delay").click()
    in_dialog(page).get_by_label("Seconds that").fill("")
    in_dialog(page).get_by_role("button", name="Save").click()
    expect(rows(page).filter(has_text="With a delay")).to_contain_text("as the server has it")
    left = site.api.call("GET", f"/v1/pools/{pool}").json
    assert (left["offline_after"], left["description"]) == (None, "Kept")


def test_name_that_is_taken_or_wrong_is_told_and_what_was_typed_stays(operator: Visit) -> None:
    page, site = operator.page, operator.site
    pool_of(site, "Taken")
    operator.go("/settings/pools")
    page.get_by_role("button", name="New pool").click()
    dialog = in_dialog(page)
    dialog.get_by_label("Name").fill("Taken")
    dialog.get_by_label("Description").fill("Still here")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Taken")
    dialog.get_by_label("Name").fill("with, a comma")
    page.keyboard.press("Enter")
    expect(dialog.locator(".wrong")).to_contain_text("without commas")
    expect(dialog.get_by_label("Name")).to_be_focused()
    expect(dialog.get_by_label("Description")).to_have_value("Still here")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_removing_a_pool_names_the_tokens_that_are_bound_to_it(operator: Visit) -> None:
    page, site = operator.page, operator.site
    pool = pool_of(site, "With a token")
    new = {"name": "of the pool", "role": "viewer", "pool_ids": [pool]}
    site.api.call("POST", "/v1/tokens", new)
    operator.go("/settings/pools")
    page.get_by_role("button", name="Remove With a token").click()
    expect(in_dialog(page)).to_contain_text("Bound to it: of the pool")
    in_dialog(page).get_by_role("button", name="Remove").click()
    expect(in_dialog(page)).to_have_count(0)
    operator.go("/settings/tokens")
    expect(rows(page).filter(has_text="of the pool")).to_contain_text("a pool that is gone")


def test_list_follows_what_others_change(operator: Visit) -> None:
    page, site = operator.page, operator.site
    operator.go("/settings/pools")
    expect(page.get_by_role("heading", name="Pools")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    pool = pool_of(site, "Of somebody else")
    row = rows(page).filter(has_text="Of somebody else")
    expect(row).to_have_count(1)
    site.api.call("DELETE", f"/v1/pools/{pool}")
    expect(row).to_have_count(0)


def test_token_is_made_with_a_role_pools_and_an_end_shown_once_and_good(operator: Visit) -> None:
    page, site = operator.page, operator.site
    pool = pool_of(site, "Of Anna")
    operator.go("/settings/tokens")
    page.get_by_role("button", name="New token").click()
    dialog = in_dialog(page)
    dialog.get_by_label("Name").fill("Anna")
    dialog.get_by_label("May").select_option("viewer")
    dialog.get_by_label("Of Anna").check()
    dialog.get_by_label("Ends").select_option("In 30 days")
    dialog.get_by_role("button", name="Make").click()
    secret = secret_of(page)
    kept = (
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state])"
    )
    assert secret not in page.url + page.evaluate(kept)
    row = rows(page).filter(has_text="Anna").first
    expect(row).to_contain_text("viewer")
    expect(row).to_contain_text("Of Anna")
    expect(row).to_contain_text(re.compile("in (29|30) d"))
    mine = ServedApi(site.server.url, secret)
    assert mine.call("GET", "/v1/machines").status == 200
    mine.close()
    [made] = [e for e in site.api.call("GET", "/v1/tokens").json["items"] if e["name"] == "Anna"]
    assert made["pool_ids"] == [pool]
    left = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=29) < left < timedelta(days=31)
    page.get_by_role("button", name="I have it").click()
    expect(page.get_by_text(secret)).to_have_count(0)


def test_token_with_single_scopes_and_errors_at_its_fields(operator: Visit) -> None:
    page, site = operator.page, operator.site
    operator.go("/settings/tokens")
    page.get_by_role("button", name="New token").click()
    dialog = in_dialog(page)
    dialog.get_by_label("Name").fill("import")
    dialog.get_by_label("May").select_option("What I choose")
    page.keyboard.press("Tab")
    dialog.get_by_role("button", name="Make").click()
    expect(dialog.locator(".choices .wrong")).to_be_visible()
    expect(dialog.get_by_role("checkbox").first).to_be_focused()
    dialog.get_by_label("trajectories:write").check()
    dialog.get_by_label("trajectories:read").check()
    dialog.get_by_role("button", name="Make").click()
    expect(page.locator(".secret")).to_be_visible()
    [made] = [e for e in site.api.call("GET", "/v1/tokens").json["items"] if e["name"] == "import"]
    assert set(made["scopes"]) == {"trajectories:read", "trajectories:write"}


def test_tokens_of_machines_are_listed_apart(operator: Visit) -> None:
    page, site = operator.page, operator.site
    machine, _ = site.add_machine("With a token of its own")
    operator.go("/settings/tokens")
    expect(rows(page).filter(has_text="administrator").first).to_be_visible()
    expect(rows(page).filter(has_text=machine)).to_have_count(0)
    page.get_by_label("Of whom").select_option("Machines")
    expect(rows(page).filter(has_text=machine)).to_contain_text("Be this machine")
    expect(rows(page).filter(has_text="administrator")).to_have_count(0)
    page.reload()
    expect(rows(page).filter(has_text=machine)).to_contain_text("Be this machine")


def test_revoked_token_is_good_no_more(operator: Visit) -> None:
    page, site = operator.page, operator.site
    made = site.new_token("machines:read", name="to be revoked")
    operator.go("/settings/tokens")
    page.get_by_role("button", name="Revoke to be revoked").click()
    expect(in_dialog(page)).to_contain_text("works nowhere any more")
    page.keyboard.press("Escape")
    expect(in_dialog(page)).to_have_count(0)
    page.get_by_role("button", name="Revoke to be revoked").click()
    in_dialog(page).get_by_role("button", name="Revoke").click()
    expect(rows(page).filter(has_text="to be revoked")).to_have_count(0)
    assert site.api.call("GET", f"/v1/tokens/{made['id']}").status == 404


def test_session_is_ended_and_its_browser_asks_for_a_token(
    operator: Visit, browser: Browser
) -> None:
    page, site = operator.page, operator.site
    made = site.new_token("trajectories:read", name="of Bert")
    operator.go("/settings/sessions")
    expect(rows(page).filter(has_text="yours, here")).to_have_count(1)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    with Visit.begun(browser, site) as theirs:
        theirs.sign_in("/trajectories", made["token"])
        row = rows(page).filter(has_text="of Bert")
        expect(row).to_contain_text("Chrome on Linux")
        row.get_by_role("button", name="End the session of of Bert").focus()
        page.keyboard.press("Enter")
        expect(in_dialog(page)).to_contain_text("The token stays good")
        in_dialog(page).get_by_role("button", name="End").click()
        expect(in_dialog(page)).to_have_count(0)
        expect(row).to_have_count(0)
        theirs.page.reload()
        expect(theirs.page.get_by_label("Token")).to_be_visible()


def test_browser_is_called_as_people_call_it(operator: Visit) -> None:
    page, site = operator.page, operator.site
    made = site.new_token("trajectories:read", name="of Dora")
    own = {"Farhand-Console": "1", "Sec-Fetch-Site": "same-origin"}
    firefox = "Mozilla/5.0 (Macintosh; Intel Mac OS X 14.7; rv:140.0) Gecko/20100101 Firefox/140.0"
    for said in (firefox, "curl/8.14.1", "<b>bold</b>"):
        httpx.post(
            f"{site.server.url}/console/session",
            json={"token": made["token"]},
            headers={**own, "User-Agent": said},
        ).raise_for_status()
    operator.go("/settings/sessions")
    mine = rows(page).filter(has_text="of Dora")
    for row, shown in enumerate(("<b>bold</b>", "curl/8.14.1", "Firefox on macOS")):
        expect(mine.nth(row)).to_contain_text(shown)


def test_ending_ones_own_session_is_signing_out(browser: Browser, site: Site) -> None:
    made = site.new_token("tokens:write", name="of Carla")
    with Visit.begun(browser, site) as visit:
        page = visit.page
        visit.sign_in("/settings/sessions", made["token"])
        own = rows(page).filter(has_text="yours, here")
        expect(own).to_contain_text("of Carla")
        own.get_by_role("button", name="End").click()
        expect(in_dialog(page)).to_contain_text("you sign out")
        in_dialog(page).get_by_role("button", name="End").click()
        expect(page.get_by_label("Token")).to_be_visible()
        assert page.context.cookies() == []
        page.reload()
        expect(page.get_by_label("Token")).to_be_visible()


def test_token_gives_no_more_than_itself(browser: Browser, site: Site) -> None:
    made = site.new_token("tokens:write", "machines:read", name="of little")
    with Visit.begun(browser, site) as visit:
        page = visit.page
        visit.sign_in("/settings/tokens", made["token"])
        page.get_by_role("button", name="New token").click()
        dialog = in_dialog(page)
        dialog.get_by_label("Name").fill("of more")
        dialog.get_by_label("May").select_option("operator")
        dialog.get_by_role("button", name="Make").click()
        expect(dialog.get_by_role("alert")).to_contain_text("Your token lacks the scope")
        dialog.get_by_label("May").select_option("What I choose")
        expect(dialog.get_by_role("checkbox").nth(1)).to_be_visible()
        scopes = dialog.get_by_role("group", name="Scopes").get_by_role("checkbox")
        expect(scopes).to_have_count(2)


def test_organization_is_added_and_entered_with_a_token_made_for_it(
    operator: Visit, browser: Browser
) -> None:
    page, site = operator.page, operator.site
    operator.go("/settings/organizations")
    expect(rows(page).filter(has_text="yours")).to_have_count(1)
    page.get_by_role("button", name="Add an organization").click()
    in_dialog(page).get_by_label("Name").fill("Lindqvist")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="New token for Lindqvist").click()
    in_dialog(page).get_by_label("Name").fill("their first")
    in_dialog(page).get_by_label("May").select_option("administrator")
    in_dialog(page).get_by_role("button", name="Make").click()
    secret = secret_of(page)
    with Visit.begun(browser, site) as theirs:
        theirs.sign_in("/machines", secret)
        expect(theirs.page.get_by_role("heading", name="No machine yet")).to_be_visible()


SCOPES = {
    "pools": "machines:read",
    "tokens": "tokens:write",
    "sessions": "tokens:write",
    "webhooks": "webhooks:write",
    "organizations": "organizations:write",
}


def test_page_without_its_scope_says_which_it_is(visit: Visit) -> None:
    visit.sign_in("/trajectories", visit.site.new_token("trajectories:read")["token"])
    for place, scope in SCOPES.items():
        visit.go_anew(f"/settings/{place}")
        expect(visit.page.get_by_text(f"Your token lacks the scope {scope}")).to_be_visible()
        expect(visit.page.get_by_role("link", name="Settings")).to_have_count(0)
