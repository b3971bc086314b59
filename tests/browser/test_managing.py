"""Trajectories as a whole and their workflows: renamed, described, duplicated, saved, removed."""

import json
import re
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.__main__ import DESKTOP, PHONE
from tests.browser.library import CLICK, Library
from tests.browser.rig import Site, Visit
from tests.browser.test_accessibility import violations


def pressed(page: Page, name: str) -> Locator:
    """The question behind a button, which is pressed by keyboard."""
    page.get_by_role("button", name=name, exact=True).press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def test_trajectory_is_renamed_described_and_made_the_main_one(
    reader: Visit, library: Library
) -> None:
    other = library.add("The main one so far", CLICK, is_main=True)
    trajectory = library.add("Old", CLICK)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    expect(page.get_by_text("Step 1 of 1")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_label("Comment")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The main one so far")).to_be_visible()
    reader.go(f"/trajectories/{trajectory}")
    dialog = pressed(page, "Rename or describe")
    dialog.get_by_label("Name").fill("New")
    dialog.get_by_label("Description").fill("By hand,\nin two lines.")
    assert violations(page, [(DESKTOP, "light"), (PHONE, "dark")]) == []
    dialog.get_by_label("Name").press("Enter")
    expect(page.get_by_role("heading", name="New")).to_be_visible()
    expect(page.get_by_text("in two lines.")).to_be_visible()
    expect(page.get_by_text("✓ Approved")).to_be_visible()
    page.get_by_role("button", name="Make it the main one").press("Enter")
    expect(page.get_by_text("the main one ·", exact=False)).to_be_visible()
    expect(page.get_by_role("button", name="Not the main one any more")).to_be_visible()
    expect(page.get_by_text("Somebody has changed")).to_have_count(0)
    kept = library.get(trajectory)
    assert (kept["name"], kept["description"]) == ("New", "By hand,\nin two lines.")
    assert [library.get(each)["is_main"] for each in (trajectory, other)] == [True, False]
    assert kept["review"]["state"] == "approved"


def test_trajectory_is_saved_duplicated_and_deleted(
    reader: Visit, library: Library, tmp_path: Path
) -> None:
    trajectory = library.add("Enter R-1 / 2", CLICK, CLICK, is_main=True)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    with page.expect_download() as saving:
        page.get_by_role("button", name="Export").press("Enter")
    assert saving.value.suggested_filename == "Enter-R-1-2.jsonl"
    saving.value.save_as(tmp_path / "saved")
    (line,) = (tmp_path / "saved").read_text().splitlines()
    assert json.loads(line) == library.get(trajectory)
    dialog = pressed(page, "Duplicate")
    expect(dialog.get_by_label("Name of the copy")).to_have_value("Enter R-1 / 2 (copy)")
    dialog.get_by_label("Name of the copy").fill("The copy")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The copy")).to_be_visible()
    reader.go(f"/trajectories/{trajectory}")
    expect(page.get_by_role("heading", name="Enter R-1 / 2")).to_be_visible()
    dialog = pressed(page, "Delete")
    expect(dialog).to_contain_text("Enter R-1 / 2 goes for good, with its 2 steps")
    expect(dialog).to_contain_text("the main one of its workflow, which has none then")
    dialog.get_by_role("button", name="Delete").press("Enter")
    expect(page.get_by_text("Enter R-1 / 2 was deleted.")).to_be_visible()
    expect(page.get_by_role("heading", name="Trajectories")).to_be_visible()
    expect(page.locator("tbody tr a")).to_have_text(["The copy"])


def test_what_somebody_has_changed_meanwhile_is_not_deleted(
    reader: Visit, library: Library
) -> None:
    trajectory = library.add("Contended", CLICK)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    dialog = pressed(page, "Delete")
    library.site.api.call("PATCH", f"/v1/trajectories/{trajectory}", {"description": "Keep it."})
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_text("Nothing was done: somebody has changed it")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Keep it.")).to_be_visible()


def test_workflow_is_made_changed_and_removed(visit: Visit, site: Site) -> None:
    visit.sign_in("/trajectories")
    page = visit.page
    page.get_by_role("link", name="Workflows").click()
    dialog = pressed(page, "New workflow")
    dialog.get_by_label("Name").fill("Order")
    dialog.get_by_label("Name").press("Enter")
    row = page.get_by_role("row").filter(has_text=re.compile("an order|Order"))
    expect(row).to_contain_text("as its steps say")
    dialog = pressed(page, "Change Order")
    dialog.get_by_label("Name").fill("Enter an order")
    dialog.get_by_label("Description").fill("In the till.")
    dialog.get_by_role("button", name="Save").press("Enter")
    expect(row).to_contain_text("In the till.")
    made = site.api.call("GET", "/v1/workflows").json["items"][0]
    assert (made["name"], made["description"]) == ("Enter an order", "In the till.")
    trajectory = Library(site, made["id"]).add("Of it", CLICK)
    dialog = pressed(page, "Remove Enter an order")
    expect(dialog).to_contain_text("Enter an order goes, with its description")
    dialog.get_by_role("button", name="Remove").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Trajectories refer to this workflow")
    site.api.call("DELETE", f"/v1/trajectories/{trajectory}")
    dialog.get_by_role("button", name="Remove").press("Enter")
    expect(page.get_by_text("Enter an order was removed.")).to_be_visible()
    expect(row).to_have_count(0)


def test_parameters_of_a_workflow_are_edited(visit: Visit, library: Library) -> None:
    address = f"/v1/workflows/{library.workflow}"
    old = {"order": {"type": "integer", "example": "4711", "max_length": 10}, "old": {}}
    library.site.api.call("PATCH", address, {"name": "With parameters", "input_schema": old})
    visit.sign_in("/trajectories/workflows")
    page = visit.page
    row = page.get_by_role("row").filter(has_text="With parameters")
    expect(row).to_contain_text("order, old")
    dialog = pressed(page, "Parameters of With parameters")
    order, gone = (dialog.get_by_role("group", name=f"Parameter {name}") for name in old)
    expect(order.get_by_label("Example")).to_have_value("4711")
    expect(order.get_by_label("Type")).to_have_value("integer")
    gone.get_by_role("button", name="Remove this parameter").press("Enter")
    order.get_by_label("Example").fill("many")
    dialog.get_by_role("button", name="Add a parameter").press("Enter")
    new = dialog.get_by_role("group").last
    new.get_by_label("Name").fill("order")
    dialog.get_by_role("button", name="Save").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Two parameters are called order")
    new.get_by_label("Name").fill("note")
    new.get_by_label("Description").fill("What the guest wants")
    new.get_by_label("Characters at most").fill("2000")
    new.get_by_label("Tabs and ends of lines").check()
    dialog.get_by_role("button", name="Save").press("Enter")
    wrong = order.get_by_label("Example")
    expect(order).to_contain_text("must be an integer, in digits")
    expect(wrong).to_be_focused()
    assert violations(page, [(DESKTOP, "light"), (PHONE, "dark")]) == []
    wrong.fill("4712")
    wrong.press("Enter")
    expect(dialog).to_have_count(0)
    expect(row).to_contain_text("order, note")
    usual = {"description": None, "control_characters": False}
    assert library.site.api.call("GET", address).json["input_schema"] == {
        "order": {**usual, "type": "integer", "example": "4712", "max_length": 10},
        "note": {
            "type": "text",
            "example": None,
            "description": "What the guest wants",
            "max_length": 2000,
            "control_characters": True,
        },
    }


def test_reader_without_the_scope_changes_nothing(
    browser: Browser, site: Site, library: Library
) -> None:
    trajectory = library.add("Only to read", CLICK)
    made = site.new_token("trajectories:read")
    with Visit.begun(browser, site) as visit:
        visit.sign_in(f"/trajectories/{trajectory}", made["token"])
        page = visit.page
        group = page.get_by_role("group", name="This trajectory")
        expect(group.get_by_role("button")).to_have_text(["Export"])
        visit.go("/trajectories/workflows")
        expect(page.get_by_role("row").filter(has_text="Enter an invoice").first).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("New|Change|Remove"))).to_have_count(0)
