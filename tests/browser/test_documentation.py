"""The pages about the API in a real browser: for somebody who has no token."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from server.web.reference.page import SERVER
from tests.browser.__main__ import PHONE
from tests.browser.rig import Site, Visit, served
from tests.server.console.test_site import built

OPEN_EACH = """operations => operations.flatMap((operation) => {
    const summary = operation.querySelector("summary");
    const headings = [...operation.querySelectorAll("h1, h2, h3, h4, h5, h6")];
    const answers = headings.find((each) => each.textContent === "Answers");
    const wasClosed = !answers.checkVisibility();
    summary.scrollIntoView({ block: "center" });
    const { x, y, width, height } = summary.getBoundingClientRect();
    const isReached = summary.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    summary.click();
    const isRead = answers.checkVisibility();
    return wasClosed && isReached && isRead ? [] : [[operation.id, wasClosed, isReached, isRead]];
})"""
"""Clicks each of them in turn; those where that changes nothing, or somewhere else.

In one go: to the page with all of them open each look of its own takes a quarter of a second.
"""


def test_every_operation_can_be_found_and_read(visit: Visit) -> None:
    page = visit.page
    page.goto(visit.site.server.url)
    page.get_by_role("link", name="The API").click()
    operations = page.locator("details.operation")
    document = page.request.get(f"{visit.site.server.url}/openapi.json").json()
    expect(operations).to_have_count(sum(map(len, document["paths"].values())))
    assert operations.evaluate_all(OPEN_EACH) == []
    last_answers = operations.last.get_by_role("heading", name="Answers")
    expect(last_answers).to_be_visible()
    operations.last.locator("summary").first.click()
    expect(last_answers).to_be_hidden()


def test_operation_shows_its_body_its_answers_and_what_it_needs(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.site.server.url}/docs#click_mouse_button")
    click = page.locator("#click_mouse_button")
    for text in (
        "Needs a token with the scope input:send.",
        '"left", "right", "middle", "back", "forward", default "left"',
        "integer 1 to 3, default 1",
        "1 to 255 visible ASCII characters",
        "Too many unanswered inputs for this machine",
        "Authorization: Bearer $FARHAND_TOKEN",
    ):
        expect(click.get_by_text(text).first).to_be_visible()
    expect(click.locator("pre")).to_contain_text(f"'{visit.site.server.url}/v1/computer/")
    click.get_by_role("link", name="InputResult").click()
    result = page.locator("#model-InputResult")
    expect(result.get_by_text("duration_ms")).to_be_in_viewport()
    page.go_back()
    expect(click.locator("summary")).to_be_in_viewport()


def test_page_about_the_api_can_be_read_without_scripts(browser: Browser, site: Site) -> None:
    with Visit.begun(browser, site, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(f"{site.server.url}/docs")
        operations = page.locator("details.operation")
        expect(operations.first).to_be_visible()
        expect(page.get_by_label("Find an operation")).to_be_hidden()
        assert operations.evaluate_all(OPEN_EACH) == []
        last_answers = operations.last.get_by_role("heading", name="Answers")
        expect(last_answers).to_be_visible()
        operations.last.locator("summary").click()
        expect(last_answers).to_be_hidden()
        click = page.locator("#click_mouse_button")
        expect(click.locator("pre")).to_contain_text(f"'{SERVER}/v1/computer/")
        click.get_by_role("link", name="InputResult").click()
        result = page.locator("#model-InputResult")
        expect(result.get_by_text("duration_ms")).to_be_in_viewport()


def test_operation_is_opened_by_keyboard(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.site.server.url}/docs")
    page.get_by_label("Find an operation").fill("move mouse")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    move = page.locator("#move_mouse_cursor")
    expect(move.get_by_role("heading", name="Answers")).to_be_visible()
    move.get_by_role("link", name="PathPoint").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#model-PathPoint")).to_be_in_viewport()


def test_operation_that_another_names_is_opened(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.site.server.url}/docs#type_text")
    expect(page.locator("details[open]")).to_have_count(1)
    page.evaluate("location.hash = 'drag_mouse'")
    expect(page.locator("#drag_mouse").get_by_role("heading", name="Answers")).to_be_visible()


def test_page_about_the_api_fits_a_phone(browser: Browser, site: Site) -> None:
    with Visit.begun(browser, site, viewport=PHONE) as visit:
        visit.page.goto(f"{site.server.url}/docs")
        visit.page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_operations_are_found_by_words(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.site.server.url}/docs")
    page.get_by_label("Find an operation").fill("keyboard type")
    expect(page.locator("details.operation:visible")).to_have_count(1)
    expect(page.get_by_role("heading", name="Trajectories")).to_be_hidden()
    page.get_by_label("Find an operation").fill("")
    expect(page.get_by_role("heading", name="Trajectories")).to_be_visible()


def test_page_about_the_api_leads_to_the_documentation(
    browser: Browser, tmp_path: Path, own_database: dict[str, str]
) -> None:
    site = built(tmp_path / "site")
    page = browser.new_page()
    with served(tmp_path / "server", docs_dir=str(site), **own_database) as server:
        page.goto(f"{server.server.url}/docs")
        page.get_by_role("link", name="Guide, reference and design").click()
        expect(page.get_by_role("heading", name="First")).to_be_visible()
    page.close()


def test_page_about_the_api_leads_to_nothing_that_is_not_there(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.site.server.url}/docs")
    expect(page.get_by_role("link", name="openapi.json")).to_be_visible()
    expect(page.get_by_role("link", name="Guide, reference and design")).to_have_count(0)
