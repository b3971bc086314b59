"""Reviews: looked through, decided about with two keys each, and never about what was not seen."""

from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.browser.library import CLICK, Library
from tests.browser.rig import Site, Visit


def decide(page: Page, key: str, comment: str = "") -> None:
    """Press the key of a decision, write why, and Enter."""
    page.keyboard.press(key)
    expect(page.get_by_label("Comment")).to_be_focused()
    if comment:
        page.keyboard.type(comment)
    page.keyboard.press("Enter")


def reviews(library: Library, *trajectories: str) -> list[Any]:
    """What was decided about each, and why."""
    found = (library.get(each)["review"] for each in trajectories)
    return [(review["state"], review["comment"]) for review in found]


def test_two_keys_decide_and_then_the_next_one_is_there(reader: Visit, library: Library) -> None:
    ids = [library.add(name, CLICK) for name in ("One", "Two", "Three")]
    reader.go(f"/trajectories/{ids[1]}")
    page = reader.page
    expect(page.get_by_role("heading", name="Two")).to_be_visible()
    decide(page, "a")
    expect(page.get_by_role("heading", name="Three")).to_be_visible()
    decide(page, "r", "It saves nothing.")
    # Behind the newest comes the oldest.
    expect(page.get_by_role("heading", name="One")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    decide(page, "a", "As it should be.")
    expect(page.get_by_text("Approved: One. No other trajectory waits")).to_be_visible()
    expect(page.get_by_text("Approved by Anna just now: As it should be.")).to_be_visible()
    expect(page.get_by_text("Somebody has changed")).to_have_count(0)
    assert reviews(library, *ids) == [
        ("approved", "As it should be."),
        ("approved", None),
        ("rejected", "It saves nothing."),
    ]


def test_trajectory_is_approved_and_the_approval_withdrawn(reader: Visit, library: Library) -> None:
    trajectory = library.add("To approve", CLICK)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    page.get_by_role("button", name="Approve", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("✓ Approved")).to_be_visible()
    withdraw = page.get_by_role("button", name="Withdraw approval")
    expect(withdraw).to_be_focused()
    withdraw.click()
    expect(page.get_by_text("No longer approved")).to_be_visible()
    expect(page.get_by_role("button", name="Reject", exact=True)).to_be_visible()
    assert library.get(trajectory)["is_approved"] is False
    expect(page.get_by_text("Somebody has changed")).to_have_count(0)


def test_author_is_told_that_somebody_else_has_to_approve(visit: Visit, library: Library) -> None:
    trajectory = library.add("One's own", CLICK, is_approved=True)
    visit.sign_in(f"/trajectories/{trajectory}")
    page = visit.page
    expect(page.get_by_text("Marked as approved")).to_be_visible()
    decide(page, "a")
    expect(page.get_by_text("somebody else has to approve it")).to_be_visible()
    assert reviews(library, trajectory) == [("open", None)]


def test_what_has_changed_since_it_was_read_is_not_approved(
    reader: Visit, library: Library
) -> None:
    trajectory = library.add("Changing", CLICK)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_text("Step 1 of 1")).to_be_visible()
    address = f"/v1/trajectories/{trajectory}"
    changed = library.site.api.call("POST", f"{address}/steps", {"steps": [CLICK], "before": 1})
    assert changed.status == 200, changed.body
    expect(page.get_by_text("Somebody has changed this trajectory")).to_be_visible()
    decide(page, "a")
    expect(page.get_by_text("Nothing was done: somebody has changed it")).to_be_visible()
    # Neither is the next Enter about what nobody has looked at.
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("Step 1 of 2")).to_be_visible()
    assert reviews(library, trajectory) == [("open", None)]
    library.site.api.call("PATCH", address, {"name": "Changed"})
    page.get_by_role("button", name="Read it again").click()
    expect(page.get_by_role("heading", name="Changed")).to_be_visible()
    decide(page, "a")
    expect(page.get_by_text("✓ Approved")).to_be_visible()
    library.site.api.call("DELETE", address)
    expect(page.get_by_text("Somebody has deleted this trajectory")).to_be_visible()
    expect(page.get_by_role("button", name="Withdraw approval")).to_have_count(0)
    page.get_by_role("link", name="Back to the trajectories").click()
    expect(page.get_by_role("heading", name="Trajectories")).to_be_visible()


def test_reader_without_the_scope_decides_nothing(
    browser: Browser, site: Site, library: Library
) -> None:
    trajectory = library.add("Only to read", CLICK)
    made = site.new_token("trajectories:read")
    with Visit.begun(browser, site) as visit:
        visit.sign_in(f"/trajectories/{trajectory}", made["token"])
        page = visit.page
        expect(page.get_by_role("heading", name="Only to read")).to_be_visible()
        expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
        page.keyboard.press("a")
        expect(page.get_by_role("dialog")).to_have_count(0)
