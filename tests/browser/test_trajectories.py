"""Trajectories: found, looked through step by step, approved, and honest about pictures."""

import base64
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.rig import Site, Visit

SIZE = {"width": 1280, "height": 800}
CLICK = {"operation": "mouse.click", "after_ms": 350, "body": {"x": 320, "y": 200}}
DRAG = {
    "operation": "mouse.drag",
    "body": {"start_x": 100, "start_y": 100, "to_x": 900, "to_y": 500},
}
KEYS = {"operation": "keyboard.key", "body": {"text": "ctrl+a"}}


def png(width: int, height: int, claimed: tuple[int, int] | None = None) -> bytes:
    """A red picture; one that claims another size is what a hostile sender makes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", *(claimed or (width, height)), 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff\0\0" * width) * height)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def text_of(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


@dataclass
class Library:
    """Trajectories of one workflow, which no other test uses."""

    site: Site
    workflow: str

    def add(self, name: str, *steps: dict[str, Any], **fields: Any) -> str:
        body = {
            "workflow_id": self.workflow,
            "name": name,
            "dimensions": SIZE,
            "trajectory_data": list(steps) or None,
            **fields,
        }
        answer = self.site.api.call("POST", "/v1/trajectories", body)
        assert answer.status == 201, answer.body
        return str(answer.json["id"])

    def get(self, trajectory: str) -> Any:
        return self.site.api.call("GET", f"/v1/trajectories/{trajectory}").json


@pytest.fixture
def library(site: Site) -> Library:
    answer = site.api.call("POST", "/v1/workflows", {"name": "Enter an invoice"})
    return Library(site, answer.json["id"])


@pytest.fixture
def reader(visit: Visit, library: Library) -> Visit:
    """Somebody who looks at the trajectories of the library."""
    visit.sign_in(f"/trajectories?workflow_id={library.workflow}")
    return visit


def items(page: Page) -> Locator:
    return page.get_by_role("listitem")


def test_nothing_yet_says_how_to_bring_some(visit: Visit) -> None:
    visit.sign_in("/trajectories")
    page = visit.page
    expect(page.get_by_role("heading", name="No trajectory yet")).to_be_visible()
    expect(page.get_by_text("farhand trajectory import FILE")).to_be_visible()


def test_list_tells_of_each_trajectory_newest_first(reader: Visit, library: Library) -> None:
    library.add("The older", CLICK, description="By hand.")
    library.add("The newer", CLICK, DRAG, is_approved=True)
    library.add("The pending")
    page = reader.page
    page.reload()
    expect(items(page)).to_have_count(3)
    for item, texts in zip(
        items(page).all(),
        (
            ("The pending", "Pending", "0 steps"),
            ("The newer", "Approved", "2 steps"),
            ("The older", "Not approved", "1 step", "By hand.", "Enter an invoice"),
        ),
        strict=True,
    ):
        for text in texts:
            expect(item).to_contain_text(text)


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
    page.get_by_label("Generation").select_option(label="Generated")
    expect(items(page)).to_have_count(1)
    page.reload()
    expect(items(page)).to_have_count(1)
    expect(page.get_by_label("Search")).to_have_value("beta")
    page.get_by_label("Approval").select_option(label="Approved")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(page.get_by_role("link", name="Alpha")).to_be_visible()


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


def test_list_goes_on_as_far_as_one_looks(reader: Visit, library: Library) -> None:
    for number in range(45):
        library.add(f"Number {number}", CLICK)
    page = reader.page
    page.reload()
    expect(page.get_by_role("link", name="Number 44")).to_be_visible()
    expect(page.get_by_text("of 45 trajectories")).to_be_visible()
    page.get_by_text("of 45 trajectories").scroll_into_view_if_needed()
    expect(items(page)).to_have_count(40)
    page.get_by_text("40 of 45 trajectories").scroll_into_view_if_needed()
    expect(items(page)).to_have_count(45)
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()


def test_news_are_announced_and_not_pushed_under_the_pointer(
    reader: Visit, library: Library
) -> None:
    page = reader.page
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    # What comes before the list was read is no news.
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    library.add("Just made", CLICK)
    news = page.get_by_role("button", name="There are changes: show them")
    news.click()
    expect(page.get_by_role("link", name="Just made")).to_be_visible()
    expect(news).to_be_hidden()


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


@pytest.mark.parametrize(
    ("picture", "words"),
    [
        ("%%%", "is no base64 text"),
        ("0" * 64, "There is no picture 0000"),
        (text_of(b"<svg onload=alert(1)>" * 9), "no picture (PNG or JPEG)"),
        (text_of(png(4, 4, claimed=(60_000, 60_000))), "claims 60000"),
        (text_of(png(4, 4, claimed=(12_000, 12_000))), "claims 12000"),
        (text_of(png(4, 4)[:40]), "This picture is damaged"),
    ],
    ids=["no text", "unknown", "markup", "a bomb", "too large", "damaged"],
)
def test_picture_that_is_none_is_not_decoded_and_said(
    reader: Visit, library: Library, picture: str, words: str
) -> None:
    trajectory = library.add("Hostile", {**CLICK, "picture": picture})
    reader.go(f"/trajectories/{trajectory}")
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


def test_trajectory_is_approved_and_the_approval_withdrawn(reader: Visit, library: Library) -> None:
    trajectory = library.add("To approve", CLICK)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("✓ Approved")).to_be_visible()
    assert library.get(trajectory)["is_approved"] is True
    page.get_by_role("button", name="Withdraw approval").click()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    assert library.get(trajectory)["is_approved"] is False
    expect(page.get_by_text("Somebody has changed")).to_have_count(0)


def test_what_has_changed_since_it_was_read_is_not_approved(
    reader: Visit, library: Library
) -> None:
    trajectory = library.add("Changing", CLICK)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Changing")).to_be_visible()
    address = f"/v1/trajectories/{trajectory}"
    library.site.api.call("PATCH", address, {"name": "Changed"})
    expect(page.get_by_text("Somebody has changed this trajectory")).to_be_visible()
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("Not approved: it has changed since you read it")).to_be_visible()
    assert library.get(trajectory)["is_approved"] is False
    page.get_by_role("button", name="Read it again").click()
    expect(page.get_by_role("heading", name="Changed")).to_be_visible()
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("✓ Approved")).to_be_visible()
    library.site.api.call("DELETE", address)
    expect(page.get_by_text("Somebody has deleted this trajectory")).to_be_visible()


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


@pytest.mark.parametrize("address", ["00000000-0000-4000-8000-000000000001", "no-uuid", "%FF"])
def test_trajectory_that_is_not_there_is_not_found(operator: Visit, address: str) -> None:
    operator.go(f"/trajectories/{address}")
    expect(operator.page.get_by_role("heading", name="Not found")).to_be_visible()
    operator.page.get_by_role("link", name="Back to the trajectories").click()
    expect(operator.page.get_by_role("heading", name="Trajectories")).to_be_visible()


def test_reader_without_the_scope_cannot_approve(
    browser: Browser, site: Site, library: Library
) -> None:
    trajectory = library.add("Only to read", CLICK)
    made = site.new_token("trajectories:read")
    with Visit.begun(browser, site) as visit:
        visit.sign_in(f"/trajectories/{trajectory}", made["token"])
        expect(visit.page.get_by_role("heading", name="Only to read")).to_be_visible()
        expect(visit.page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
