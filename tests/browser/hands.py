"""Hands on the picture of a machine, and what has arrived there."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.rig import Desk
from tests.processes import until

WIDTH, HEIGHT = 1280, 800


class Hands:
    """A mouse over the picture, and what has arrived at the machine since."""

    def __init__(self, page: Page, desk: Desk) -> None:
        self.page = page
        self._desk = desk
        self._seen = len(desk.arrived())

    def take(self) -> None:
        """Take control, and wait until it is given."""
        self.page.get_by_role("button", name="Take control").click()
        expect(self.page.get_by_text("You are in control of")).to_be_visible()

    def over(self, x: int, y: int) -> tuple[float, float]:
        """Where a place of the machine's screen is in the browser's window."""
        canvas = self.page.locator(".stage canvas")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        return (
            box["x"] + (x + 0.5) * box["width"] / WIDTH,
            box["y"] + (y + 0.5) * box["height"] / HEIGHT,
        )

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for something; meanwhile what the page tells of its requests is heard."""

        def looked() -> object:
            self.page.wait_for_timeout(10)
            return condition()

        try:
            until(looked, what)
        except AssertionError as failure:
            failure.add_note(f"arrived: {self.new()}, said: {self.said()}")
            raise

    def said(self) -> str:
        """What the page says of the inputs."""
        return self.page.locator(".said").text_content() or ""

    def new(self) -> list[str]:
        return self._desk.arrived()[self._seen :]

    def arrive(self, *lines: str) -> None:
        """Wait until just this has arrived, within a pixel where there are places."""
        self.until(lambda: len(self.new()) >= len(lines), f"{lines} arrives")
        for got, wanted in zip(self.new(), lines, strict=True):
            assert is_near(got, wanted), f"{self.new()}, and not {list(lines)}"


def is_near(got: str, wanted: str) -> bool:
    """Whether two lines differ by two pixels at most: the picture is smaller than the screen."""

    def parts(line: str) -> list[Any]:
        words = line.replace(",", " ").split(" ")
        return [int(word) if word.lstrip("-").isdigit() else word for word in words]

    pairs = list(zip(parts(got), parts(wanted), strict=False))
    return len(parts(got)) == len(parts(wanted)) and all(
        abs(a - b) <= 2 if isinstance(a, int) and isinstance(b, int) else a == b for a, b in pairs
    )
