"""How long it takes from a key in a browser until the picture there shows it.

``python -m tests.browser.delay --count 100`` measures it on loopback, and everything is real: the
browser's event, the hand's websocket, server and machine client, a window on its desktop, the
picture's way back, and what is drawn on the page.  The floor is the same key in the same window by
X11 alone: pressed, and looked for as often as X11 answers.
"""

import argparse
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import Xlib.display
from playwright.sync_api import Page, expect
from Xlib import X
from Xlib.ext import xtest

from tests.browser.hands import HEIGHT, WIDTH, Hands
from tests.browser.rig import Desk, Visit, chromium, served
from tests.end_to_end.hand import row

KEYS = "abcdefghijklmnopqrstuvwxyz"
"""In turn: the window shows the latest ones, and never twice the same."""
ASIDE = 5
"""So many first ones do not count."""
PAUSE_SECONDS = 0.3
"""Between two keys, and as much again at random: never in step with the pictures."""

WATCH = """() => {
    const canvas = document.querySelector('.stage canvas');
    const prototype = CanvasRenderingContext2D.prototype;
    const { drawImage } = prototype;
    let before = 0;
    let pressed = 0;
    window.delays = [];
    prototype.drawImage = function (...rest) {
        drawImage.apply(this, rest);
        if (this.canvas !== canvas) return;
        const now = performance.now();
        const { data } = this.getImageData(0, 0, canvas.width, canvas.height);
        let sum = 0;
        for (let at = 0; at < data.length; at += 4) sum = (sum * 31 + data[at]) | 0;
        if (pressed && sum !== before) {
            window.delays.push(now - pressed);
            pressed = 0;
        }
        before = sum;
    };
    addEventListener('keydown', (event) => { pressed = event.timeStamp; }, true);
}"""


def rest() -> None:
    time.sleep(PAUSE_SECONDS * (1 + random.random()))


def of_the_console(hands: Hands, count: int) -> list[float]:
    """Milliseconds from each key to the first picture after it that differs."""
    page = hands.page
    page.evaluate(WATCH)
    page.wait_for_timeout(1000)
    for number in range(count + ASIDE):
        page.keyboard.press(KEYS[number % len(KEYS)])
        hands.until(partial(shows, page, number), "the picture shows it")
        page.wait_for_timeout(PAUSE_SECONDS * (1 + random.random()) * 1000)
    return [float(delay) for delay in page.evaluate("window.delays")][ASIDE:]


def shows(page: Page, before: int) -> bool:
    """Whether there is one more than so many."""
    return int(page.evaluate("window.delays.length")) > before


class Floor:
    """The same by X11 alone."""

    def __init__(self, display: str) -> None:
        self._display: Any = Xlib.display.Display(display)
        self._root: Any = self._display.screen().root

    def picture(self) -> bytes:
        data: bytes = self._root.get_image(0, 0, WIDTH, HEIGHT, X.ZPixmap, 0xFFFFFFFF).data
        return data

    def type(self, key: str) -> None:
        keycode = self._display.keysym_to_keycode(ord(key))
        for kind in (X.KeyPress, X.KeyRelease):
            xtest.fake_input(self._display, kind, keycode)
        self._display.sync()

    def delays(self, count: int) -> list[float]:
        """Milliseconds from each key until X11 shows it."""
        taken = []
        for number in range(count + ASIDE):
            rest()
            before = self.picture()
            began_at = time.perf_counter()
            self.type(KEYS[number % len(KEYS)])
            while self.picture() == before:
                pass
            taken.append((time.perf_counter() - began_at) * 1000)
        return taken[ASIDE:]


def measured(desk: Desk, visit: Visit, count: int) -> tuple[list[float], list[float]]:
    """Of the console, and the floor."""
    floor = Floor(desk.display)
    visit.sign_in(f"/machines/{desk.machine}")
    expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
    hands = Hands(visit.page, desk)
    hands.take()
    delays = of_the_console(hands, count)
    return delays, floor.delays(count)


def main() -> int:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.delay")
    parser.add_argument("--count", type=int, default=100)
    count = parser.parse_args().count
    with (
        tempfile.TemporaryDirectory() as name,
        served(Path(name)) as site,
        site.desk() as desk,
        chromium() as browser,
        Visit.begun(browser, site) as visit,
    ):
        delays, floor = measured(desk, visit, count)
    print(f"{'milliseconds':44} {'median':>7} {'95 %':>7} {'most':>7}")
    print(row("from a key to its picture", delays))
    print(row("the floor: the same by X11 alone", floor))
    return 0


if __name__ == "__main__":
    sys.exit(main())
