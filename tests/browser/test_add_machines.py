"""Codes in the console: made, shown once, used by hosts as one looks, and revoked."""

from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.rig import Site, Visit
from tests.desktop import virtual_display
from tests.processes import ServedApi, running


def hosts(page: Page) -> Locator:
    return page.locator(".table.joins tbody tr")


def codes(page: Page) -> Locator:
    return page.locator(".table.invitations tbody tr")


def make(page: Page) -> str:
    """Press the button; the command that is to be copied."""
    page.get_by_role("button", name="Make the code").click()
    command = page.locator(".secret code").first
    expect(command).to_contain_text("farhand-machine join --server")
    return command.inner_text()


def revoked(page: Page) -> None:
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("Nobody else joins with that code.")).to_be_visible()


def test_command_that_is_copied_brings_a_machine_which_appears_by_itself(
    operator: Visit, tmp_path: Path
) -> None:
    page, site = operator.page, operator.site
    site.api.call("POST", "/v1/pools", {"name": "Berlin"})
    operator.go("/settings/machines")
    page.get_by_label("What for").fill("Second floor")
    page.get_by_label("How many may join").fill("2")
    page.get_by_label("Tags that they get").fill("till, floor-2")
    page.get_by_label("Berlin").check()
    command = make(page)
    assert f"--server {site.server.url} --code fhj_" in command
    expect(page.get_by_text("None yet. It appears here by itself.")).to_be_visible()
    with (
        virtual_display("640x480x24") as display,
        running(
            tmp_path / "machine.log",
            {},
            *command.split(),
            *("--state-dir", str(tmp_path), "--display", display),
        ) as client,
    ):
        client.says("connected to")
        expect(hosts(page)).to_have_count(1)
        expect(hosts(page).first).to_contain_text("Joined")
        expect(page.get_by_text("1 of 2")).to_be_visible()
        [machine] = site.api.call("GET", "/v1/machines?pool=Berlin").json["items"]
        assert machine["tags"] == ["floor-2", "till"]
        hosts(page).first.get_by_role("link", name=machine["id"]).click()
        expect(page.get_by_role("heading", name=machine["name"])).to_be_visible()


def test_host_that_waits_is_let_in_or_refused(operator: Visit) -> None:
    page, site = operator.page, operator.site
    operator.go("/settings/machines")
    page.get_by_label("How many may join").fill("5")
    page.get_by_label("Each host waits").check()
    code = make(page).split()[-1]
    assert not site.comes(code, "good-host")
    assert not site.comes(code, "bad-host")
    expect(hosts(page)).to_have_count(2)
    page.get_by_role("button", name="Let good-host in").click()
    expect(hosts(page).filter(has_text="good-host").first).to_contain_text("Joined")
    page.get_by_role("button", name="Refuse bad-host").click()
    expect(hosts(page).filter(has_text="bad-host")).to_contain_text("Refused")
    assert site.comes(code, "good-host")
    assert not site.comes(code, "bad-host")
    told = [each["action"] for each in site.api.call("GET", "/v1/audit?limit=5").json["items"]]
    assert {"join.approved", "join.refused", "invitation.created"} <= set(told)


def test_code_is_shown_once_and_kept_nowhere(operator: Visit) -> None:
    page = operator.page
    operator.go("/settings/machines")
    page.get_by_label("What for").fill("Shown once")
    code = make(page).split()[-1]
    kept = (
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state])"
    )
    assert code not in page.url + page.evaluate(kept)
    page.get_by_role("button", name="Make another code").click()
    expect(page.get_by_text(code)).to_have_count(0)
    page.get_by_role("link", name="Shown once").click()
    expect(page.get_by_role("heading", name="Shown once")).to_be_visible()
    expect(page.get_by_text(code)).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("button", name="Make the code")).to_be_visible()
    expect(page.get_by_text(code)).to_have_count(0)


def test_revoked_code_lets_nobody_in_and_leaves_the_list(operator: Visit) -> None:
    page, site = operator.page, operator.site
    made = site.invite(name="To be revoked", uses=3)
    operator.go("/settings/machines")
    page.get_by_role("link", name="To be revoked").click()
    revoked(page)
    expect(page.get_by_role("button", name="Make the code")).to_be_visible()
    expect(codes(page).filter(has_text="To be revoked")).to_have_count(0)
    assert not site.comes(made["code"], "too-late")


def test_code_for_one_machine_is_used_once(operator: Visit) -> None:
    page, site = operator.page, operator.site
    operator.go("/settings/machines")
    page.get_by_label("For", exact=True).select_option("One machine")
    expect(page.get_by_label("How many may join")).to_have_count(0)
    page.get_by_label("Its id").fill("till-17")
    code = make(page).split()[-1]
    assert site.comes(code, "some-host")
    expect(hosts(page).get_by_role("link", name="till-17")).to_be_visible()
    assert not site.comes(code, "another-host")


def test_what_the_server_refuses_is_said_at_its_field(operator: Visit) -> None:
    page = operator.page
    operator.go("/settings/machines")
    page.get_by_label("For", exact=True).select_option("One machine")
    field = page.get_by_label("Its id")
    field.fill("no such id!")
    page.get_by_label("What for").fill("Kept as it was typed")
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    described = page.locator(f"[id='{field.get_attribute('aria-describedby')}']")
    expect(described).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("see what is said at the fields")
    expect(page.get_by_label("What for")).to_have_value("Kept as it was typed")
    tags = page.get_by_label("Tags that they get")
    field.fill("till-18")
    tags.fill("x" * 65)
    page.keyboard.press("Enter")
    # It has the focus already: that the answer is there is what its mark says.
    expect(tags).to_have_attribute("aria-invalid", "true")
    expect(tags).to_be_focused()
    expect(field).not_to_have_attribute("aria-invalid", "true")
    tags.fill("till")
    page.keyboard.press("Enter")
    expect(page.locator(".secret code").first).to_contain_text("--code fhj_")


def test_settings_are_for_those_who_have_something_of_them(browser: Browser, site: Site) -> None:
    viewer = site.new_token("machines:read")["token"]
    inviter = site.new_token("machines:read", "pools:write")["token"]
    with Visit.begun(browser, site) as visit:
        visit.sign_in("/machines", viewer)
        expect(visit.page.get_by_role("link", name="Settings")).to_have_count(0)
        visit.go("/settings/machines")
        expect(visit.page.get_by_text("Your token lacks the scope pools:write")).to_be_visible()
    with Visit.begun(browser, site) as visit:
        visit.sign_in("/machines", inviter)
        visit.page.get_by_role("link", name="Settings").click()
        expect(visit.page.get_by_role("heading", name="Add machines")).to_be_visible()
        settings = visit.page.get_by_role("navigation", name="Settings").get_by_role("link")
        expect(settings).to_have_text(["Add machines", "Pools"])
        # For one machine of a name it takes more.
        kinds = visit.page.get_by_label("For", exact=True).locator("option")
        expect(kinds).to_have_text(["New machines"])


def test_token_that_is_bound_to_pools_invites_into_them(browser: Browser, site: Site) -> None:
    pool = site.api.call("POST", "/v1/pools", {"name": "Bound"}).json["id"]
    body = {"name": "bound", "role": "operator", "pool_ids": [pool]}
    token = site.api.call("POST", "/v1/tokens", body).json["token"]
    with Visit.begun(browser, site) as visit:
        page = visit.page
        visit.sign_in("/settings/machines", token)
        expect(page.get_by_label("Bound")).to_be_visible()
        page.get_by_role("button", name="Make the code").click()
        expect(
            page.get_by_text("your token is bound to pools: name pool_ids").or_(
                page.get_by_text("Your token is bound to pools: name pool_ids")
            )
        ).to_be_visible()
        page.get_by_label("Bound").check()
        code = make(page).split()[-1]
        assert site.comes(code, "bound-host")
    mine = ServedApi(site.server.url, token)
    assert [each["id"] for each in mine.call("GET", "/v1/machines").json["items"]] == ["bound-host"]
    mine.close()
