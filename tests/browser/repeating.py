"""The run of ``farhand demo``, helped in a browser: at each look a picture may be taken."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, Position, expect

from tests.processes import Program, running

FIELD = (620, 322)
"""Where the form has the field Your reference."""

TOLD = ("with SIGKILL", "by another, at step", "verified: the form says")

DEMO_SECONDS = 180.0
"""On a machine with much else to do."""

Looks = Callable[[Page, str], None]
"""Is given the page, and the name of what it shows."""


@contextmanager
def staying_demo(directory: Path) -> Iterator[tuple[Program, str]]:
    """A demo that waits for a person, and the link that signs them in."""
    data = directory / "data"
    with running(directory / "demo.log", {}, "farhand", "demo", "--data-dir", str(data)) as demo:
        demo.says("Ctrl-C ends everything", DEMO_SECONDS)
        (link,) = re.findall(r"http://\S+/console/#token=fh_\S+", demo.output)
        yield demo, link


def help_the_run(page: Page, demo: Program, look: Looks) -> None:
    """As the demo says: point at the field, and see the run go on to its end."""
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("link", name="Enter an order").click()
    halt = page.get_by_role("region", name="Halted")
    expect(halt).to_contain_text("Halted at step 3")
    expect(halt.locator(".viewer canvas:not([hidden])")).to_have_count(2)
    look(page, "halted")
    halt.get_by_role("button", name="Point at it").click()
    expect(halt.get_by_role("option", name="Your reference")).to_be_attached()
    expect(halt.locator(".viewer canvas:not([hidden])")).to_have_count(2)
    picture = halt.get_by_label("The screen at the halt")
    box = picture.bounding_box()
    assert box is not None
    x, y = FIELD
    picture.click(position=Position(x=x * box["width"] / 1280, y=y * box["height"] / 800))
    expect(halt.get_by_text("text “Your reference”").last).to_be_visible()
    look(page, "pointed")
    halt.get_by_role("button", name="Do it here").press("Enter")
    expect(page.locator(".head .outcome")).to_contain_text("Success", timeout=DEMO_SECONDS * 1000)
    expect(page.locator('td[data-column="result"]')).to_have_text(["✓ Done"] * 5)
    expect(page.get_by_text("step 3 pointed at by console of the demo")).to_be_visible()
    look(page, "ended")
    demo.says("the repair waits for a review", DEMO_SECONDS)
    for told in TOLD:
        assert told in demo.output
    page.get_by_role("link", name="the proposed version").click()
    expect(page.get_by_text("Enter an order (repaired)").first).to_be_visible()
    page.keyboard.press("c")
    expect(
        page.get_by_text("target.element.name: Reference → Your reference").first
    ).to_be_visible()
    look(page, "proposed")
