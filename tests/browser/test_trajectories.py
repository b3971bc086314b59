"""Trajectories: found, looked through step by step, approved, and honest about pictures."""

import json
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.library import CLICK, DRAG, HELD, KEYS, SIZE, Library, png, text_of
from tests.browser.rig import Site, Visit, served
from tests.browser.test_machines import JUST_NOW
from tests.processes import until


def items(page: Page) -> Locator:
    return page.locator("tbody tr")


def names_in(page: Page) -> list[str]:
    return page.locator("tbody tr a").all_text_contents()


def told(page: Page) -> Locator:
    """What says how many there are."""
    return page.locator(".head").get_by_role("status")


def test_nothing_yet_says_how_to_bring_some(visit: Visit) -> None:
    visit.sign_in("/trajectories")
    page = visit.page
    expect(page.get_by_role("heading", name="No trajectory yet")).to_be_visible()
    expect(page.get_by_text("farhand trajectory import FILE")).to_be_visible()


def test_list_tells_of_each_trajectory_newest_first(reader: Visit, library: Library) -> None:
    library.add("The older", CLICK, description="By hand.")
    library.add("The newer", {**CLICK, "picture": "0" * 64}, DRAG, is_approved=True)
    library.add("The pending")
    page = reader.page
    page.reload()
    expect(items(page)).to_have_count(3)
    for item, texts in zip(
        items(page).all(),
        (
            ("The pending", "Pending"),
            ("The newer", "Marked as approved", JUST_NOW),
            (
                "The older",
                "Not approved",
                "By hand.",
                "Enter an invoice",
                "1280 \N{MULTIPLICATION SIGN} 800",
            ),
        ),
        strict=True,
    ):
        for text in texts:
            expect(item).to_contain_text(text)
    expect(page.locator('td[data-column="steps"]')).to_have_text(["0", "2", "1"])
    expect(told(page)).to_have_text("3 trajectories")


def test_heads_sort_the_list_and_the_address_keeps_it(reader: Visit, library: Library) -> None:
    library.add("Tour 10", CLICK)
    first = library.add("tour 2", CLICK)
    library.add("Tour 1", CLICK)
    page = reader.page
    page.reload()
    until(lambda: names_in(page) == ["Tour 1", "tour 2", "Tour 10"], "newest first")
    page.get_by_role("button", name="Name").click()
    until(lambda: names_in(page) == ["Tour 1", "tour 2", "Tour 10"], "by name")
    page.get_by_role("button", name="Name").click()
    until(lambda: names_in(page) == ["Tour 10", "tour 2", "Tour 1"], "by name, turned round")
    expect(page.locator("th[aria-sort]")).to_have_attribute("data-column", "name")
    page.reload()
    until(lambda: names_in(page) == ["Tour 10", "tour 2", "Tour 1"], "as the address says")
    library.site.api.call("PATCH", f"/v1/trajectories/{first}", {"description": "Changed last."})
    # What is newest is what one looks for.
    page.get_by_role("button", name="Updated").click()
    until(lambda: names_in(page)[:1] == ["tour 2"], "the latest change first")
    expect(page.locator("th[aria-sort=descending]")).to_have_attribute("data-column", "updated_at")


def test_filters_and_search_narrow_the_list_and_stay_in_the_address(
    reader: Visit, library: Library
) -> None:
    library.add("Alpha", CLICK, is_approved=True)
    library.add("Beta", CLICK)
    library.add("Beta pending")
    page = reader.page
    page.reload()
    expect(items(page)).to_have_count(3)
    page.get_by_label("Search").fill("beta")
    expect(items(page)).to_have_count(2)
    page.get_by_label("Review").select_option(label="Not decided")
    expect(items(page)).to_have_count(1)
    page.reload()
    expect(items(page)).to_have_count(1)
    expect(page.get_by_label("Search")).to_have_value("beta")
    page.get_by_label("Review").select_option(label="Approved")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(page.get_by_role("link", name="Alpha")).to_be_visible()


def test_name_of_who_showed_it_leads_to_all_of_theirs(reader: Visit, library: Library) -> None:
    library.add("Mine", CLICK)
    maker = library.site.api.call("GET", "/v1/audit").json["items"][0]["token_id"]
    somebody_else = {"token_id": str(uuid4()), "token_name": "Otto"}
    library.add("Mine as well", {**CLICK, "by": {"token_id": maker, "token_name": "Nora"}})
    library.add("Imported", {**CLICK, "by": somebody_else})
    page = reader.page
    page.reload()
    expect(items(page)).to_have_count(3)
    page.get_by_role("link", name="Otto").click()
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("link", name="Nora")).to_be_visible()
    page.keyboard.press("j")
    # The row is the trajectory's, not theirs.
    expect(page.get_by_role("link", name="Imported")).to_be_focused()
    page.get_by_role("link", name="Nora").click()
    expect(page.get_by_label("Author")).to_have_value(maker)
    expect(page.get_by_role("link", name="Mine as well")).to_be_visible()
    page.get_by_label("Author").fill("Nora")
    expect(page.get_by_role("alert")).to_contain_text("author_id")
    page.get_by_label("Author").fill("")
    # Also those of other tests by now.
    expect(page.get_by_role("link", name="Imported")).to_be_visible()


def test_dates_are_whole_days(reader: Visit, library: Library) -> None:
    library.add("In January", CLICK, created_at="2026-01-12T08:41:07Z")
    library.add("In March", CLICK, created_at="2026-03-01T23:30:00Z")
    page = reader.page
    page.reload()
    expect(items(page)).to_have_count(2)
    page.get_by_label("Created from").fill("2026-01-12")
    page.get_by_label("Created to").fill("2026-01-12")
    expect(items(page)).to_have_count(1)
    expect(items(page)).to_contain_text("In January")


def test_news_are_announced_and_not_pushed_under_the_pointer(
    reader: Visit, library: Library
) -> None:
    page = reader.page
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    # From an empty list nothing can be pushed away: it shows by itself what is new.
    library.add("The first", CLICK)
    expect(page.get_by_role("link", name="The first")).to_be_visible()
    expect(page.get_by_text("There are changes")).to_have_count(0)
    library.add("Just made", CLICK)
    news = page.get_by_role("button", name="There are changes: show them")
    news.click()
    expect(page.get_by_role("link", name="Just made")).to_be_visible()
    expect(news).to_be_hidden()
    expect(told(page)).to_have_text("2 trajectories")


LONG = "\N{ARABIC LETTER MEEM}\N{ARABIC LETTER REH}" * 100


def test_names_are_read_in_their_own_direction_and_long_ones_are_cut(
    reader: Visit, library: Library
) -> None:
    trajectory = library.add(LONG, CLICK, description="From left to right.")
    page = reader.page
    page.reload()
    link = page.get_by_role("link", name=LONG)
    expect(link).to_be_visible()
    assert link.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert page.locator("td small").evaluate("e => getComputedStyle(e).direction") == "ltr"
    cell = link.locator("xpath=..")
    assert cell.get_attribute("title") == f"{LONG}\nFrom left to right."
    assert link.evaluate("e => e.scrollWidth > e.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    reader.go(f"/trajectories/{trajectory}")
    heading = page.get_by_role("heading", name=LONG)
    assert heading.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


WRONG = ("workflow_id=none", "sort=shoe_size", "created_at_from=then", "review_state=perhaps")


def test_address_that_asks_for_what_there_is_not_says_so_and_is_cleared(
    operator: Visit, library: Library
) -> None:
    library.add("Still there", CLICK)
    page = operator.page
    for wrong in WRONG:
        operator.go_anew(f"/trajectories?{wrong}")
        expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
        expect(page.get_by_text("That cannot be sent:")).to_contain_text(wrong.partition("=")[0])
        page.get_by_role("button", name="Clear the filters").click()
        expect(page.get_by_role("link", name="Still there").first).to_be_visible()
        assert page.url.endswith("#/trajectories")


def test_list_and_step_that_one_comes_back_to_are_as_they_were_left(
    reader: Visit, library: Library
) -> None:
    library.add("Of no use", CLICK)
    library.add("To come back to", CLICK, DRAG, KEYS)
    page = reader.page
    page.reload()
    page.get_by_label("Search").fill("come back")
    expect(items(page)).to_have_count(1)
    page.keyboard.press("Tab")
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Step 1 of 3")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**?step=3")
    page.reload()
    expect(page.get_by_text("Step 3 of 3")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Search")).to_have_value("come back")
    expect(items(page)).to_have_count(1)
    page.go_forward()
    expect(page.get_by_text("Step 3 of 3")).to_be_visible()
    page.get_by_role("button", name="Previous").click()
    page.wait_for_url("**?step=2")
    page.get_by_role(
        "link", name="\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK} Trajectories"
    ).click()
    expect(page.get_by_label("Search")).to_have_value("come back")


def test_step_that_there_is_not_is_one_that_there_is(reader: Visit, library: Library) -> None:
    trajectory = library.add("Of two", CLICK, DRAG)
    for step, shown in (("99", 2), ("0", 1), ("-1", 1), ("none", 1)):
        reader.go_anew(f"/trajectories/{trajectory}?step={step}")
        expect(reader.page.get_by_text(f"Step {shown} of 2")).to_be_visible()


def test_lost_server_is_said_and_what_it_has_is_read_when_it_is_back(
    browser: Browser, tmp_path: Path, own_database: dict[str, str]
) -> None:
    with served(tmp_path, **own_database) as site, Visit.begun(browser, site) as visit:
        workflow = site.api.call("POST", "/v1/workflows", {"name": "Enter an invoice"}).json["id"]
        library = Library(site, workflow)
        trajectory = library.add("Before", CLICK)
        visit.sign_in("/trajectories")
        page = visit.page
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        site.process.terminate()
        expect(page.get_by_text("No connection to the server")).to_be_visible()
        expect(page.get_by_role("link", name="Before")).to_be_visible()
        page.get_by_role("button", name="Name").click()
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
        visit.go(f"/trajectories/{trajectory}")
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
        with site.server.run():
            expect(page.get_by_text("Step 1 of 1")).to_be_visible()
            page.go_back()
            expect(page.get_by_role("link", name="Before")).to_be_visible()
            expect(page.get_by_text("Live", exact=True)).to_be_visible()


def test_list_that_could_not_be_read_is_read_again_by_itself(
    visit: Visit, library: Library
) -> None:
    library.add("Late in the list", CLICK)
    problem = {"title": "Storage is away", "status": 503, "detail": "no answer of the database"}
    page, is_back = visit.page, threading.Event()

    def answer(route: Route) -> None:
        if is_back.is_set():
            route.continue_()
        else:
            route.fulfill(status=503, json=problem, content_type="application/problem+json")

    page.route("**/v1/trajectories?*", answer)
    visit.sign_in(f"/trajectories?workflow_id={library.workflow}")
    expect(page.get_by_role("alert")).to_contain_text("No answer of the database.")
    is_back.set()
    expect(page.get_by_role("link", name="Late in the list")).to_be_visible()


MANY = 2345


@pytest.fixture(scope="module")
def crowded(site: Site) -> str:
    """A workflow with very many trajectories, as a list of it is read in parts."""
    workflow: str = site.api.call("POST", "/v1/workflows", {"name": "Of many"}).json["id"]
    new = {"workflow_id": workflow, "dimensions": SIZE, "trajectory_data": [CLICK]}
    lines = (json.dumps({**new, "name": f"Number {number}"}) for number in range(MANY))
    body = "\n".join(lines).encode()
    answer = site.api.call(
        "POST", "/v1/trajectories/import", body, {"Content-Type": "application/x-ndjson"}
    )
    assert answer.status == 200, answer.body
    return workflow


def test_very_many_are_there_without_a_press_and_so_is_the_place_that_one_comes_back_to(
    visit: Visit, crowded: str
) -> None:
    visit.sign_in(f"/trajectories?workflow_id={crowded}")
    page = visit.page
    expect(told(page)).to_have_text(f"1,000 of {MANY:,} trajectories")
    expect(items(page)).to_have_count(1000)
    for shown in (2000, MANY):
        page.get_by_text("Loading more").scroll_into_view_if_needed()
        expect(items(page)).to_have_count(shown)
    expect(told(page)).to_have_text(f"{MANY:,} trajectories")
    assert len(set(names_in(page))) == MANY
    expect(page.get_by_text("Loading more")).to_have_count(0)
    # One comes back to where one was, also beyond what is read at first.
    row = items(page).nth(2200)
    row.scroll_into_view_if_needed()
    until(lambda: page.evaluate("history.state?.y") == page.evaluate("scrollY"), "it is kept")
    place, name = page.evaluate("scrollY"), row.locator("a").text_content() or ""
    row.locator("a").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.go_back()
    # Not looked for by its name, as that takes seconds among so many.
    expect(items(page)).to_have_count(MANY)
    expect(row).to_be_in_viewport()
    until(lambda: abs(page.evaluate("scrollY") - place) < 100, "it is where it was")


def center_of(mark: Locator, of: Locator) -> tuple[float, float]:
    """Where a mark is, as parts of the width and height of what it is on."""
    inner, outer = mark.bounding_box(), of.bounding_box()
    assert inner is not None
    assert outer is not None
    x = inner["x"] + inner["width"] / 2 - outer["x"]
    y = inner["y"] + inner["height"] / 2 - outer["y"]
    return x / outer["width"], y / outer["height"]


def test_steps_are_walked_through_with_their_places(reader: Visit, library: Library) -> None:
    trajectory = library.add("To look at", CLICK, DRAG, KEYS, original_input_values={"no": "R-1"})
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    expect(page.get_by_text("Step 1 of 3: Click at 320, 200 (after 350 ms)")).to_be_visible()
    x, y = center_of(page.locator(".viewer .dot"), page.locator(".viewer svg"))
    assert abs(x - 320 / 1280) < 0.01
    assert abs(y - 200 / 800) < 0.01
    expect(page.get_by_text("R-1")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Step 2 of 3: Drag from 100, 100 to 900, 500")).to_be_visible()
    expect(page.locator(".viewer .travel")).to_have_count(1)
    page.get_by_role("button", name="3 Keys ctrl+a").click()
    expect(page.get_by_text("Step 3 of 3: Keys ctrl+a")).to_be_visible()
    expect(page.locator(".viewer svg > *")).to_have_count(0)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_text("Step 2 of 3")).to_be_visible()


SAID: dict[str, tuple[dict[str, Any], str]] = {
    "a flat action": ({"action": "click", "x": 320, "y": 200}, "Click at 320, 200"),
    "a flat text": ({"action": "type", "text": "4711"}, "Text 4711"),
    "held keys": (
        {**KEYS, "body": {"text": "down", "hold": 1.5, "repeat": 2}},
        "Keys down for 1.5 s 2 times",
    ),
    "a held button": (HELD, "Drag ctrl from 9, 9 to 9, 9 for 0.6 s"),
    "Anthropic's click": (
        {"action": "left_click", "coordinate": [320, 200], "text": "ctrl"},
        "Click ctrl at 320, 200",
    ),
    "Anthropic's call": (
        {
            "type": "tool_use",
            "name": "computer",
            "input": {
                "action": "left_click_drag",
                "start_coordinate": [1, 2],
                "coordinate": [320, 200],
            },
            "after_ms": 20,
        },
        "Drag from 1, 2 to 320, 200 (after 20 ms)",
    ),
    "Anthropic's tool": (
        {
            "name": "scroll",
            "input": {"coordinate": [3, 4], "scroll_direction": "down", "scroll_amount": 5},
        },
        "Scroll 5 down at 3, 4",
    ),
    "OpenAI's keys": ({"type": "keypress", "keys": ["CTRL", "L"]}, "Keys CTRL+L"),
    "OpenAI's call": (
        {
            "type": "computer_call",
            "action": {"type": "scroll", "x": 3, "y": 4, "scroll_x": 0, "scroll_y": -120},
        },
        "Scroll 120 pixels up at 3, 4",
    ),
    "OpenAI's drag": (
        {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 9, "y": 9}, {"x": 5, "y": 6}]},
        "Drag from 1, 2 to 5, 6",
    ),
    "Gemini's click": ({"name": "click_at", "args": {"x": 250, "y": 500}}, "Click at 320, 400"),
    "Gemini's address": ({"name": "navigate", "args": {"url": "https://a"}}, "Go to https://a"),
    "what nobody knows": ({"action": "fly", "x": 1, "y": 2}, "Step at 1, 2"),
    "a call to another tool": ({"type": "tool_use", "name": "bash", "input": {}}, "Step"),
}


def test_steps_are_understood_as_farhand_and_as_models_have_them(
    reader: Visit, library: Library
) -> None:
    trajectory = library.add("Of models", *(step for step, _ in SAID.values()))
    reader.go(f"/trajectories/{trajectory}")
    listed = reader.page.locator(".steps li button")
    expect(listed).to_have_text(
        [f"{number}{words}" for number, (_, words) in enumerate(SAID.values(), 1)]
    )


def test_picture_of_a_step_is_below_its_place(reader: Visit, library: Library) -> None:
    picture = text_of(png(64, 40))
    kept = library.site.api.call(
        "POST", "/v1/pictures", png(64, 40), {"Content-Type": "image/png"}
    ).json
    trajectory = library.add(
        "With pictures",
        {**CLICK, "screenshot": picture},
        {**CLICK, "picture": {"data": f"data:image/png;base64,{picture}"}},
        {**CLICK, "picture": kept["id"]},
        CLICK,
    )
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    canvas = page.locator(".viewer canvas")
    for number in (1, 2, 3):
        expect(page.get_by_text(f"Step {number} of 4")).to_be_visible()
        expect(canvas).to_be_visible()
        red = canvas.evaluate("c => [...c.getContext('2d').getImageData(9, 9, 1, 1).data]")
        assert red == [255, 0, 0, 255]
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Step 4 of 4")).to_be_visible()
    expect(canvas).to_be_hidden()


NO_PICTURES = {
    "it is not base64": "%%%",
    "There is no picture 0000": "0" * 64,
    "no picture (PNG or JPEG)": text_of(b"<svg onload=alert(1)>" * 9),
    "claims 60000": text_of(png(4, 4, claimed=(60_000, 60_000))),
    "claims 12000": text_of(png(4, 4, claimed=(12_000, 12_000))),
    "This picture is damaged": text_of(png(4, 4)[:40]),
}


def test_picture_that_is_none_is_not_decoded_and_said(reader: Visit, library: Library) -> None:
    for words, picture in NO_PICTURES.items():
        trajectory = library.add("Hostile", {**CLICK, "picture": picture})
        reader.go_anew(f"/trajectories/{trajectory}")
        expect(reader.page.get_by_text(words)).to_be_visible()
        expect(reader.page.locator(".viewer canvas")).to_be_hidden()


def test_many_steps_are_listed_in_parts(reader: Visit, library: Library) -> None:
    trajectory = library.add("Long", *([CLICK] * 1234))
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    expect(page.locator(".steps li")).to_have_count(100)
    page.get_by_role("button", name="100 Click", exact=False).last.click()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Step 101 of 1234")).to_be_visible()
    expect(page.locator(".steps [aria-current]")).to_contain_text("101")


def test_steps_that_are_no_inputs_are_told_in_words(reader: Visit, library: Library) -> None:
    trajectory = library.add(
        "Corrected",
        {"operation": "keyboard.type", "body": {}, "secret": "password", "name": "Sign in"},
        {"operation": "wait", "body": {"seconds": 1.5}},
        {"operation": "gap", "body": {"reason": "The machine went away."}},
    )
    reader.go(f"/trajectories/{trajectory}")
    words = reader.page.locator(".steps li")
    expect(words).to_have_text(
        [
            "1Sign in: Text (the secret password)",
            "2Wait 1.5 s",
            "3Something may be missing here: The machine went away.",
        ]
    )


def test_pending_trajectory_has_no_steps_and_nothing_to_approve(
    reader: Visit, library: Library
) -> None:
    reader.go(f"/trajectories/{library.add('Pending one')}")
    page = reader.page
    expect(page.get_by_text("It has no steps yet")).to_be_visible()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)


def test_steps_of_any_shape_are_shown_as_they_are(reader: Visit, library: Library) -> None:
    odd = {"note": "<script>alert(1)</script>", "body": {"x": "left", "y": None}, "nested": [[{}]]}
    untold = {"operation": {}, "body": {"button": {}, "direction": ["up"], "amount": {}}}
    trajectory = library.add("Odd", odd, {}, untold)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Step 2 of 3: Step", exact=True)).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Step 3 of 3: Step", exact=True)).to_be_visible()


def test_trajectory_that_is_not_there_is_not_found(operator: Visit) -> None:
    page = operator.page
    for address in ("00000000-0000-4000-8000-000000000001", "no-uuid", "%FF"):
        operator.go(f"/trajectories/{address}")
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        page.get_by_role("link", name="Back to the trajectories").click()
        expect(page.get_by_role("heading", name="Trajectories")).to_be_visible()
