"""How long reviews by keyboard take: from a key until the picture that it asks for is painted.

``python -m tests.browser.reviewing`` looks through 50 trajectories of 20 steps, each with a picture
before and after, and approves or rejects each with two keys.  Everything is real, and each key
comes as soon as the picture before it was painted.
"""

import argparse
import io
import os
import random
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect

from tests.browser.library import SIZE, Library, somebody
from tests.browser.rig import Visit, chromium, served
from tests.processes import until

SOON = 100.0
"""Milliseconds within which a step is to be shown."""

WATCH = """() => {
    const prototype = CanvasRenderingContext2D.prototype;
    const { drawImage } = prototype;
    const painted = new MessageChannel();
    let pressed = 0;
    window.shown = [];
    painted.port1.onmessage = ({ data }) => window.shown.push(performance.now() - data);
    prototype.drawImage = function (...rest) {
        drawImage.apply(this, rest);
        if (!pressed || !this.canvas.closest('.viewer')) return;
        const since = pressed;
        pressed = 0;
        // What is posted before the browser paints is heard once it has painted.
        requestAnimationFrame(() => painted.port2.postMessage(since));
    };
    const showing = ['j', 'f', 'Enter'];
    const heard = ({ key, timeStamp }) => { if (showing.includes(key)) pressed = timeStamp; };
    addEventListener('keydown', heard, true);
}"""


def picture(number: int) -> bytes:
    """A screen full of text, another one each time."""
    image = Image.new("RGB", (SIZE["width"], SIZE["height"]), "white")
    draw = ImageDraw.Draw(image)
    chance = random.Random(number)
    for top in range(0, SIZE["height"], 12):
        words = " ".join(str(chance.randrange(10**6)) for _ in range(24))
        draw.text((4, top), words, fill="black")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=75)
    return file.getvalue()


def fill(library: Library, trajectories: int, steps: int) -> str:
    """Trajectories of one workflow that wait for a review; the oldest one's id."""
    first = ""
    for number in range(trajectories):
        # As of a recording: what one step leaves is what the next one finds.
        contents = (picture(number * (steps + 1) + each) for each in range(steps + 1))
        ids = [library.keep(each, "image/jpeg") for each in contents]
        made = [
            {
                "operation": "mouse.click",
                "body": {"x": 20 + step, "y": 20 + number},
                "picture": ids[step],
                "picture_after": ids[step + 1],
            }
            for step in range(steps)
        ]
        added = library.add(f"Number {number}", *made)
        first = first or added
    return first


@dataclass
class Times:
    """Milliseconds from a key until what it asked for was painted."""

    steps: list[float] = field(default_factory=list)
    afters: list[float] = field(default_factory=list)
    nexts: list[float] = field(default_factory=list)


def has_painted(page: Page) -> bool:
    return bool(page.evaluate("window.shown.length"))


def timed(page: Page, key: str) -> float:
    """Press a key, and wait for the picture that it asks for."""
    page.keyboard.press(key)
    until(partial(has_painted, page), f"{key} shows a picture")
    (taken,) = page.evaluate("window.shown.splice(0)")
    return float(taken)


def review(page: Page, trajectories: int, steps: int) -> Times:
    """Look at each step, before and after, and decide about each trajectory with two keys."""
    times = Times()
    for number in range(trajectories):
        name = f"Number {number}"
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        expect(page.locator(".viewer canvas")).to_be_visible()
        for step in range(steps):
            if step:
                times.steps.append(timed(page, "j"))
            times.afters.append(timed(page, "f"))
        page.keyboard.press("r" if number % 5 == 4 else "a")
        expect(page.get_by_label("Comment")).to_be_focused()
        if number + 1 < trajectories:
            times.nexts.append(timed(page, "Enter"))
        else:
            page.keyboard.press("Enter")
            expect(page.get_by_text("No other trajectory waits")).to_be_visible()
    return times


def told(name: str, taken: list[float]) -> str:
    parts = quantiles(taken, n=100)
    soon = sum(each <= SOON for each in taken) / len(taken)
    figures = (median(taken), parts[94], parts[98], max(taken))
    return f"{name:44} {' '.join(f'{each:7.1f}' for each in figures)} {soon:7.1%}"


def main() -> None:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.reviewing")
    parser.add_argument("--trajectories", type=int, default=50)
    parser.add_argument("--steps", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, served(Path(directory)) as site:
        workflow = site.api.call("POST", "/v1/workflows", {"name": "To review"}).json["id"]
        first = fill(Library(site, workflow), asked.trajectories, asked.steps)
        token = somebody(site)
        with chromium() as browser, Visit.begun(browser, site) as visit:
            visit.page.add_init_script(f"({WATCH})()")
            visit.sign_in(f"/trajectories/{first}", token)
            times = review(visit.page, asked.trajectories, asked.steps)
    heads = ("median", "95 %", "99 %", "most", f"<= {SOON:g}")
    print(f"{'milliseconds':44} {' '.join(f'{each:>7}' for each in heads)}")
    print(told("from J to the next step's picture", times.steps))
    print(told("from F to the picture after the step", times.afters))
    print(told("from Enter to the next one's first picture", times.nexts))
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
