"""A phone in a person's hand: fingers on the picture of a machine, and the phone's own keyboard."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.hands import Hands
from tests.browser.rig import Desk, Visit, stop_the_clock

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}

Point = tuple[float, float]


class Phone(Hands):
    """Fingers over the picture, and what has arrived at the machine since."""

    def __init__(self, visit: Visit, desk: Desk) -> None:
        visit.page.clock.install()
        visit.sign_in(f"/machines/{desk.machine}")
        expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
        super().__init__(visit.page, desk)
        self._session = visit.page.context.new_cdp_session(visit.page)

    def new(self) -> list[str]:
        """What has arrived; a witness presses a button of its own to see that it is there."""
        return [line for line in super().new() if "button 10" not in line]

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """All that is done is done in one moment to the page, however busy the browser is."""
        stop_the_clock(self.page)
        yield
        self.page.clock.resume()

    def touch(self, kind: str, *points: Point) -> None:
        """Fingers are there now; none at the end."""
        places = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self._session.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": places}
        )

    def put(self, *points: Point) -> None:
        """Put fingers down one after another, as people do."""
        for count in range(1, len(points) + 1):
            self.touch("Start", *points[:count])

    def lift(self) -> None:
        self.touch("End")

    def tap(self, point: Point, milliseconds: int = 0) -> None:
        """Touch for so long."""
        with self.at_once():
            self.put(point)
            self.page.clock.run_for(milliseconds)
            self.lift()

    def slide(self, *points: Point) -> None:
        """Move one finger from place to place, and lift it."""
        self.put(points[0])
        for point in points[1:]:
            self.touch("Move", point)
        self.lift()

    def pinch(self, middle: Point, before: float, after: float, steps: int = 5) -> None:
        """Move two fingers, one left and one right of a place, so far apart."""

        def pair(apart: float) -> tuple[Point, Point]:
            x, y = middle
            return (x - apart / 2, y), (x + apart / 2, y)

        self.put(*pair(before))
        for step in range(1, steps + 1):
            self.touch("Move", *pair(before + (after - before) * step / steps))
        self.lift()

    def compose(self, text: str) -> None:
        """The phone's keyboard shows a word that it is still about."""
        self._key()
        end = {"selectionStart": len(text), "selectionEnd": len(text)}
        self._session.send("Input.imeSetComposition", {"text": text, **end})

    def commit(self, text: str) -> None:
        """The phone's keyboard is done with a word, or writes a text."""
        self._key()
        self._session.send("Input.insertText", {"text": text})

    def take_back(self) -> None:
        """Backspace on the phone's keyboard, which names no key."""
        self._session.send(
            "Input.dispatchKeyEvent",
            {"type": "rawKeyDown", "key": "Unidentified", "commands": ["deleteBackward"]},
        )

    def _key(self) -> None:
        said = {"type": "rawKeyDown", "key": "Unidentified", "windowsVirtualKeyCode": 229}
        self._session.send("Input.dispatchKeyEvent", said)

    def box(self) -> dict[str, float]:
        """Where all of the picture is, also what is out of sight."""
        box = self.page.locator(".stage canvas").bounding_box()
        assert box is not None
        return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def button(page: Page, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)
