"""Who did what: every change and every input, by machine and by kind."""

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.rig import Site, Visit
from tests.processes import until


def entries(page: Page) -> Locator:
    return page.locator(".activity li")


def test_changes_and_inputs_are_told_with_who_made_them(operator: Visit) -> None:
    site, page = operator.site, operator.page
    with site.desk("Watched") as desk:
        site.api.send(desk.machine, "keyboard/type", {"text": "hunter2"})
        site.api.send(desk.machine, "mouse/click", {"x": 9000, "y": 1})
        site.api.call("PATCH", f"/v1/machines/{desk.machine}", {"paused": True})
        operator.go(f"/machines/{desk.machine}")
        page.get_by_role("link", name="All that was done on it").click()
        expect(entries(page).first).to_be_visible()

        def all_there() -> bool:
            # An input is written a moment after it was answered.
            audit = site.api.call("GET", f"/v1/audit?machine_id={desk.machine}")
            return len(audit.json["items"]) == 4

        until(all_there, "the inputs are in the audit")
        page.get_by_role("button", name="Read again").click()
        expect(entries(page)).to_have_count(4)
        texts = entries(page).all_text_contents()
        for text, words in zip(
            texts,
            (
                ("Machine paused", "administrator"),
                ("Click", "Refused", "administrator"),
                ("Text", "Completed", "administrator"),
                ("Machine added", "administrator"),
            ),
            strict=True,
        ):
            assert all(word in text for word in words), text
        assert "hunter2" not in page.content()
        page.get_by_label("What").select_option(label="Inputs")
        expect(entries(page)).to_have_count(2)
        page.reload()
        expect(entries(page)).to_have_count(2)
        entries(page).first.get_by_role("link", name=desk.machine).click()
        expect(page.get_by_role("heading", name="Watched")).to_be_visible()


def test_token_that_is_gone_is_told_by_its_name_and_what_it_allowed(operator: Visit) -> None:
    site, page = operator.site, operator.page
    made = site.api.call("POST", "/v1/tokens", {"name": "of Anna", "role": "viewer"}).json
    site.api.call("DELETE", f"/v1/tokens/{made['id']}")
    operator.go("/activity?action=token")
    for place, done in enumerate(("revoked", "created")):
        entry = entries(page).nth(place)
        expect(entry).to_contain_text(f"Token {done}of Anna (viewer)")
        expect(entry.get_by_title("machines:read, screen:read")).to_be_visible()
    expect(entries(page).filter(has_text=made["id"])).to_have_count(0)


def test_long_activity_goes_on_and_a_wrong_filter_is_said(operator: Visit) -> None:
    for number in range(60):
        operator.site.api.call("POST", "/v1/workflows", {"name": f"Workflow {number}"})
    operator.go("/activity?action=workflow")
    page = operator.page
    expect(entries(page)).to_have_count(50)
    for number in range(20):
        operator.site.api.call("POST", "/v1/workflows", {"name": f"Meanwhile {number}"})
    page.get_by_role("button", name="Show more").click()
    expect(entries(page)).to_have_count(60)
    page.get_by_label("Machine").fill("no such id!")
    expect(page.get_by_role("alert")).to_contain_text("machine_id")
    page.get_by_label("Machine").fill("nowhere")
    expect(page.get_by_role("heading", name="Nothing was done")).to_be_visible()


def test_activity_is_for_those_who_may_see_it(browser: Browser, site: Site) -> None:
    made = site.new_token("machines:read")
    with Visit.begun(browser, site) as visit:
        visit.sign_in("/machines", made["token"])
        expect(visit.page.get_by_role("link", name="Activity")).to_have_count(0)
        visit.go("/activity")
        expect(visit.page.get_by_text("Your token lacks the scope audit:read")).to_be_visible()
