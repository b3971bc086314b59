"""Reviews: looked through, decided about with two keys each, and never about what was not seen."""

import re
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.browser.__main__ import DESKTOP, PHONE
from tests.browser.library import CLICK, DRAG, KEYS, Library, png
from tests.browser.reviewing import WATCH, fill, review
from tests.browser.rig import Site, Visit
from tests.browser.test_accessibility import violations
from tests.processes import until


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
    expect(page.get_by_label("Comment")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    decide(page, "a", "As it should be.")
    expect(page.get_by_text("Approved: One. No other trajectory waits")).to_be_visible()
    said = re.compile(r"Approved by Nora (just now|\d+ s ago): As it should be\.")
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text("Somebody has changed")).to_have_count(0)
    assert reviews(library, *ids) == [
        ("approved", "As it should be."),
        ("approved", None),
        ("rejected", "It saves nothing."),
    ]


def test_pictures_are_read_once_and_the_next_trajectory_with_the_decision(
    reader: Visit, library: Library
) -> None:
    page = reader.page
    pictures: list[str] = []
    page.on("request", lambda sent: pictures.extend(re.findall("/v1/pictures/.*", sent.url)))
    first = fill(library, trajectories=2, steps=4)
    page.evaluate(f"({WATCH})()")
    reader.go(f"/trajectories/{first}")
    expect(page.get_by_role("heading", name="Number 0", exact=True)).to_be_visible()
    times = review(page, trajectories=2, steps=4)
    assert [*map(len, (times.steps, times.afters, times.nexts))] == [6, 8, 1]
    # Five screens each, shown in the list, in small and large, before and after.
    assert len(pictures) == len(set(pictures)) == 10


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


def kept(library: Library, color: tuple[int, int, int]) -> str:
    """The id of a picture of one color."""
    return library.keep(png(64, 40, color=color))


def color_of(page: Page, canvas: str) -> list[int]:
    """The color of a picture; none where there is none."""
    script = (
        "c => c.hidden ? [] : [...c.getContext('2d').getImageData(9, 9, 1, 1).data].slice(0, 3)"
    )
    found: list[int] = page.locator(canvas).evaluate(script)
    return found


KEEP_WHAT_IS_SHOWN = """() => {
  const picture = document.querySelector(".viewer svg");
  window.shown = [];
  window.pausing = [];
  const keep = () => {
    shown.push(picture.getAttribute("aria-label").replace(" (after 350 ms)", ""));
    pausing.push(document.querySelector("[aria-keyshortcuts=p]").textContent);
  };
  new MutationObserver(keep).observe(picture, { attributeFilter: ["aria-label"] });
}"""
"""And what the button says that plays them: nobody need look in the few seconds that it takes."""

RED, GREEN, BLUE, BLACK = (255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 0, 0)


def test_steps_are_seen_before_and_after_and_played(reader: Visit, library: Library) -> None:
    red, green, blue = (kept(library, color) for color in (RED, GREEN, BLUE))
    button = {"x": 300, "y": 180, "width": 120, "height": 40}
    turning = [{"x": 100, "y": 500}, {"x": 500, "y": 700}]
    way_around = {**DRAG, "body": {**DRAG["body"], "path": turning}}
    trajectory = library.add(
        "To look at",
        {**CLICK, "picture": red, "picture_after": green, "target": {"box": button}},
        {**way_around, "picture": green, "picture_after": blue},
        KEYS,
    )
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page

    def has(canvas: str, color: tuple[int, ...]) -> None:
        until(lambda: color_of(page, canvas) == [*color], f"{canvas} shows {color}")

    def shows(step: int, color: tuple[int, ...]) -> None:
        expect(page.get_by_text(f"Step {step} of 3")).to_be_visible()
        has(".viewer canvas", color)

    shows(1, RED)
    box = page.locator(".viewer rect.ring")
    assert [box.get_attribute(side) for side in button] == ["300", "180", "120", "40"]
    for number, color in ((1, RED), (2, GREEN), (3, BLACK)):
        has(f".steps li:nth-child({number}) canvas", color)
    page.keyboard.press("f")
    shows(1, GREEN)
    expect(page.get_by_role("button", name="After it")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".viewer svg > *")).to_have_count(0)
    page.keyboard.press("j")
    shows(2, GREEN)
    way = page.locator(".viewer .travel").get_attribute("d") or ""
    assert way.startswith("M100,100L100,500L500,700L900,500M")
    page.keyboard.press("k")
    shows(1, RED)
    page.evaluate(KEEP_WHAT_IS_SHOWN)
    page.keyboard.press("p")
    shows(3, ())
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.wait_for_url("**?step=3")
    click, drag, keys = "Click at 320, 200", "Drag from 100, 100 to 900, 500", "Keys ctrl+a"
    assert page.evaluate("shown") == [f"After: {click}", drag, f"After: {drag}", keys]
    assert page.evaluate("pausing") == ["Pause P"] * 4


TYPED = {"operation": "keyboard.type", "body": {"text": "Order 4711"}}
WAIT = {"operation": "wait", "body": {"seconds": 1}}
FOREIGN = {"action": "screenshot"}


def change(page: Page, key: str, **fields: str) -> None:
    """Press the key of a change, fill in its form, and Enter."""
    page.keyboard.press(key)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    for label, value in fields.items():
        field = dialog.get_by_label(label.replace("_", " "), exact=True)
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)


def test_steps_are_edited_by_keyboard(reader: Visit, library: Library) -> None:
    dialog = {"element": {"role": "dialog", "name": "Saved"}}
    proposing = {**CLICK, "proposed": [dialog, {"element": {"name": r"Save\?"}, "gone": True}]}
    trajectory = library.add("To edit", proposing, TYPED, TYPED, KEYS, FOREIGN)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    expect(page.get_by_text("Step 1 of 5")).to_be_visible()
    group = page.get_by_role("group", name="Proposed to expect")
    expect(group.get_by_role("button")).to_have_text(["dialog Saved is there T", "Save? has gone"])
    page.keyboard.press("t")
    expect(group).to_have_count(0)
    taken = library.get(trajectory)["trajectory_data"][0]
    assert taken == {**CLICK, "expect": {"any": [dialog], "timeout": 10}}
    change(page, "n", Name="Open the order")
    expect(page.get_by_text("Step 1 of 5: Open the order: Click")).to_be_visible()
    change(page, "w", Milliseconds="900")
    expected = {"any": [{"element": {"name": "Order", "role": "dialog"}, "gone": True}]}
    fields = {"Text, or the element's name": "Order", "The element's role": "dialog"}
    change(page, "e", What="element gone", **fields, Within_seconds="4")
    page.keyboard.press("j")
    change(page, "m", Text_in_this_step="4711", Name="order", Type="integer")
    page.keyboard.press("j")
    change(page, "s", Name_of_the_secret="customer")
    expect(page.get_by_text("Step 3 of 5: Text (the secret customer)")).to_be_visible()
    page.keyboard.press("j")
    change(page, "x")
    expect(page.get_by_text("Step 4 of 4")).to_be_visible()
    # Of what is another product's nothing is changed; it can go.
    edits = page.get_by_role("group", name="Change this step").get_by_role("button")
    expect(edits).to_have_count(1)
    steps = library.get(trajectory)["trajectory_data"]
    changed = {"name": "Open the order", "after_ms": 900, "expect": {**expected, "timeout": 4}}
    parameter = {"type": "integer", "example": "4711"}
    assert steps == [
        {**CLICK, **changed},
        {
            "operation": "keyboard.type",
            "body": {"text": "Order {{order}}"},
            "parameters": {"order": parameter},
        },
        {"operation": "keyboard.type", "body": {}, "secret": "customer"},
        FOREIGN,
    ]
    page.keyboard.press("k")
    page.keyboard.press("k")
    page.keyboard.press("k")
    page.keyboard.press("e")
    page.get_by_label("Expect nothing").check()
    page.keyboard.press("Enter")
    until(lambda: "expect" not in library.get(trajectory)["trajectory_data"][0], "it expects none")


def test_edit_ends_an_approval_and_says_so(reader: Visit, library: Library) -> None:
    trajectory = library.add("Approved before", CLICK, TYPED)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    expect(page.get_by_text("Step 1 of 2")).to_be_visible()
    decide(page, "a")
    expect(page.get_by_text("✓ Approved")).to_be_visible()
    page.keyboard.press("w")
    dialog = page.get_by_role("dialog", name="Step 1: How long after the step before?")
    expect(dialog.get_by_text("This ends the approval")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Step 1 was so already")).to_be_visible()
    change(page, "w", Milliseconds="")
    expect(page.get_by_text("The approval ended with that")).to_be_visible()
    expect(page.get_by_text("No longer approved")).to_be_visible()
    expect(page.get_by_text("Approval ended by Nora")).to_be_visible()
    expect(page.get_by_text("Somebody has changed")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.get_by_label("Text in this step").fill("4712")
    page.get_by_label("Name", exact=True).fill("order")
    page.keyboard.press("Enter")
    field = page.get_by_role("dialog").get_by_label("Text in this step")
    expect(field).to_have_accessible_description("does not stand in the step's text")
    page.keyboard.press("Escape")
    # Numbers move: what somebody else has changed meanwhile is not edited unseen.
    address = f"/v1/trajectories/{trajectory}"
    library.site.api.call("DELETE", f"{address}/steps/1")
    expect(page.get_by_text("Somebody has changed this trajectory")).to_be_visible()
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing was done: somebody has changed it")).to_be_visible()
    expect(page.get_by_text("Step 1 of 1")).to_be_visible()
    assert library.get(trajectory)["step_count"] == 1


def test_steps_stand_beside_what_was_approved_last(reader: Visit, library: Library) -> None:
    seen = {"after_ms": 9, "picture": kept(library, RED), "command_id": None}
    approved = library.add("Approved", CLICK, TYPED, KEYS, {**DRAG, **seen})
    other = {**TYPED, "body": {"text": "Order 4712"}}
    trajectory = library.add("As it is now", WAIT, CLICK, other, DRAG)
    reader.go(f"/trajectories/{trajectory}")
    page = reader.page
    compare = page.get_by_role("button", name="Compare with the last approved")
    compare.click()
    expect(page.get_by_text("Nothing else of this workflow is approved")).to_be_visible()
    compare.click()
    reader.go(f"/trajectories/{approved}")
    expect(page.get_by_role("heading", name="Approved")).to_be_visible()
    decide(page, "a")
    expect(page.get_by_role("heading", name="As it is now")).to_be_visible()
    page.keyboard.press("c")
    expect(page.get_by_text("3 differences: Approved")).to_be_visible()
    differences = page.get_by_role("list", name="Differences").get_by_role("listitem")
    expect(differences).to_have_text(
        [
            "+ 1Added Wait 1 s",
            "\N{NOT EQUAL TO} 3Changed Text Order 4712body.text: Order 4711 \N{RIGHTWARDS ARROW} "
            "Order 4712",
            "\N{MINUS SIGN} 3Removed Keys ctrl+a",
        ]
    )
    assert violations(page, [(DESKTOP, "light"), (PHONE, "dark")]) == []
    differences.nth(1).get_by_role("button").click()
    expect(page.get_by_text("Step 3 of 4")).to_be_visible()
    change(page, "x")
    expect(page.get_by_text("Step 3 of 3")).to_be_visible()
    expect(differences.nth(1)).to_have_text("\N{MINUS SIGN} 2Removed Text Order 4711")
