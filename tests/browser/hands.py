"""Hands on the picture of a machine, and what has arrived there."""

import json
import re
from collections.abc import Callable
from typing import Any, Protocol

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.processes import until

WIDTH, HEIGHT = 1280, 800
LEAVING = "Control+Alt+Shift+Q"


class Arrivals(Protocol):
    """Knows what has arrived at a machine, line by line."""

    def arrived(self) -> list[str]: ...


class Hands:
    """A mouse over the picture, and what has arrived at the machine since."""

    def __init__(self, page: Page, desk: Arrivals) -> None:
        self.page = page
        self._desk = desk
        self._seen = len(desk.arrived())

    def take(self) -> None:
        """Take control, and wait until it is given."""
        self.page.get_by_role("button", name="Take control").click()
        expect(self.page.get_by_text("You are in control of")).to_be_visible()

    def open(self, panel: str) -> None:
        """Open ``Keys`` or ``Clipboard`` beside the picture."""
        opener = self.page.get_by_role("button", name=panel, exact=True)
        opener.click()
        expect(opener).to_have_attribute("aria-expanded", "true")

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
        return " ".join(
            self.page.locator(".outcomes :is(.lost, .said)").all_text_contents()
        ).strip()

    def come_back(self, wire: "Wire") -> None:
        """Let a connection that was cut come back, and wait until something can be sent on it."""
        before = len(wire.urls)
        wire.is_held = wire.is_dead = False
        self.until(lambda: len(wire.urls) > before, "it comes back")
        # Until then the page says that the connection was lost.
        expect(self.page.locator(".said")).to_have_text("")

    def new(self) -> list[str]:
        return self._desk.arrived()[self._seen :]

    def arrive(self, *lines: str) -> None:
        """Wait until just this has arrived, within a pixel where there are places."""
        self.until(lambda: len(self.new()) >= len(lines), f"{lines} arrives")
        new = self.new()
        assert len(new) == len(lines), f"{new}, and not {list(lines)}"
        for got, wanted in zip(new, lines, strict=True):
            assert is_near(got, wanted), f"{new}, and not {list(lines)}"


class Wire:
    """The websocket of the hands on a page, which a test can hold up and cut; made before it."""

    def __init__(self, page: Page) -> None:
        self.heard: list[Any] = []
        self.answered = 0
        self.urls: list[str] = []
        self.tries: list[str] = []
        self.is_held = self.is_dead = False
        self._waiting: list[str | bytes] = []
        self._routes: list[tuple[WebSocketRoute, WebSocketRoute]] = []
        page.route_web_socket(re.compile("/hand$"), self._open)

    def release(self) -> None:
        """Let what was held up go, and all that comes."""
        self.is_held = False
        for message in self._waiting:
            self._routes[-1][1].send(message)
        self._waiting.clear()

    def cut(self) -> None:
        """Close it as a network does that goes, and let it not come back for now."""
        self.is_dead = True
        self._waiting.clear()
        page, server = self._routes[-1]
        page.close(code=4999, reason="")
        server.close()

    def answer(self, message: dict[str, Any]) -> None:
        """Say something in the server's place."""
        self._routes[-1][0].send(json.dumps(message))

    @property
    def events(self) -> list[Any]:
        """What the page has done, but for where the pointer was."""
        done = [event for message in self.heard for event in message["events"]]
        return [event for event in done if event["type"] != "move"]

    @property
    def is_answered(self) -> bool:
        """Whether all that the page has done has its end, as far as the page knows."""
        return bool(self.answered == self.heard[-1]["sequence"])

    def _open(self, page: WebSocketRoute) -> None:
        self.tries.append(page.url)
        if self.is_dead:
            page.close(code=4000, reason="")
            return
        server = page.connect_to_server()
        self.urls.append(page.url)
        self._routes.append((page, server))
        page.on_message(self._take)
        server.on_message(lambda message: self._pass_on(page, message))

    def _pass_on(self, page: WebSocketRoute, message: str | bytes) -> None:
        said = json.loads(message)
        if said["type"] == "acknowledged":
            self.answered = said["sequence"]
        page.send(message)

    def _take(self, message: str | bytes) -> None:
        self.heard.append(json.loads(message))
        if self.is_held:
            self._waiting.append(message)
        else:
            self._routes[-1][1].send(message)


def is_near(got: str, wanted: str) -> bool:
    """Whether two lines differ by two pixels at most: the picture is smaller than the screen."""

    def parts(line: str) -> list[Any]:
        words = line.replace(",", " ").split(" ")
        return [int(word) if word.lstrip("-").isdigit() else word for word in words]

    pairs = list(zip(parts(got), parts(wanted), strict=False))
    return len(parts(got)) == len(parts(wanted)) and all(
        abs(a - b) <= 2 if isinstance(a, int) and isinstance(b, int) else a == b for a, b in pairs
    )
