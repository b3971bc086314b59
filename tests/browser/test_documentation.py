"""The pages about the API in a real browser: for somebody who has no token."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.rig import Visit, served
from tests.server.console.test_site import built


def test_every_operation_can_be_found_and_read(visit: Visit) -> None:
    page = visit.page
    page.goto(visit.site.server.url)
    page.get_by_role("link", name="The API").click()
    operations = page.locator("details.operation")
    document = page.request.get(f"{visit.site.server.url}/openapi.json").json()
    expect(operations).to_have_count(sum(map(len, document["paths"].values())))
    for each in operations.all():
        each.locator("summary").first.click()
        expect(each.get_by_role("heading", name="Answers")).to_be_visible()


def test_operation_shows_its_body_its_answers_and_what_it_needs(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.site.server.url}/docs#click_mouse_button")
    click = page.locator("#click_mouse_button")
    for text in (
        "Needs a token with the scope input:send.",
        '"left", "right", "middle", default "left"',
        "integer 1 to 3, default 1",
        "1 to 255 visible ASCII characters",
        "Too many unanswered inputs for this machine",
        "Authorization: Bearer $FARHAND_TOKEN",
    ):
        expect(click.get_by_text(text).first).to_be_visible()
    click.locator("summary", has_text="InputResult").click()
    expect(click.get_by_text("duration_ms")).to_be_visible()


def test_operations_are_found_by_words(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.site.server.url}/docs")
    page.get_by_label("Find an operation").fill("keyboard type")
    expect(page.locator("details.operation:visible")).to_have_count(1)
    expect(page.get_by_role("heading", name="Trajectories")).to_be_hidden()


def test_page_about_the_api_leads_to_the_documentation(browser: Browser, tmp_path: Path) -> None:
    site = built(tmp_path / "site")
    page = browser.new_page()
    with served(tmp_path / "server", docs_dir=str(site)) as server:
        page.goto(f"{server.server.url}/docs")
        page.get_by_role("link", name="Guide, reference and design").click()
        expect(page.get_by_role("heading", name="First")).to_be_visible()
    page.close()


def test_page_about_the_api_leads_to_nothing_that_is_not_there(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.site.server.url}/docs")
    expect(page.get_by_role("link", name="openapi.json")).to_be_visible()
    expect(page.get_by_role("link", name="Guide, reference and design")).to_have_count(0)
