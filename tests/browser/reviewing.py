"""How long reviews by keyboard take: until a step is shown, and the next one is there.

``python -m tests.browser.reviewing`` looks through 50 trajectories of 20 steps, each step with a
picture of its own, and approves or rejects each with two keys; everything is real.
"""

import argparse
import io
import random
import tempfile
from functools import partial
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect

from tests.browser.library import SIZE, Library, somebody
from tests.browser.rig import Site, Visit, chromium, served
from tests.end_to_end.hand import row
from tests.processes import until

WATCH = """() => {
    const prototype = CanvasRenderingContext2D.prototype;
    const { drawImage } = prototype;
    let pressed = 0;
    window.shown = [];
    prototype.drawImage = function (...rest) {
        drawImage.apply(this, rest);
        if (!pressed || !this.canvas.closest('.viewer')) return;
        window.shown.push(performance.now() - pressed);
        pressed = 0;
    };
    const heard = (event) => { if (event.key === 'j') pressed = event.timeStamp; };
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


def fill(site: Site, trajectories: int, steps: int) -> str:
    """Trajectories of one workflow that wait for a review; the oldest one's id."""
    workflow = site.api.call("POST", "/v1/workflows", {"name": "To review"}).json["id"]
    library, first = Library(site, workflow), ""
    for number in range(trajectories):
        made = []
        for step in range(steps):
            content = picture(number * steps + step)
            sent = site.api.call("POST", "/v1/pictures", content, {"Content-Type": "image/jpeg"})
            body = {"x": 20 + step, "y": 20 + number}
            made.append({"operation": "mouse.click", "body": body, "picture": sent.json["id"]})
        added = library.add(f"Number {number}", *made)
        first = first or added
    return first


def has_shown(page: Page, steps: int) -> bool:
    """Whether so many were shown after their key."""
    return bool(page.evaluate("window.shown.length") >= steps)


def review(page: Page, trajectories: int, steps: int) -> tuple[list[float], list[float]]:
    """Milliseconds until each step was shown, and from a decision to the next one's heading."""
    shown: list[float] = []
    decided: list[float] = []
    for number in range(trajectories):
        expect(page.get_by_role("heading", name=f"Number {number}", exact=True)).to_be_visible()
        expect(page.locator(".viewer canvas")).to_be_visible()
        for step in range(1, steps):
            page.keyboard.press("j")
            until(partial(has_shown, page, step), f"step {step + 1} is shown")
        shown += page.evaluate("window.shown.splice(0)")
        page.keyboard.press("r" if number % 5 == 4 else "a")
        expect(page.get_by_label("Comment")).to_be_focused()
        began = page.evaluate("performance.now()")
        page.keyboard.press("Enter")
        name = f"Number {number + 1}" if number + 1 < trajectories else f"Number {number}"
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        decided.append(page.evaluate("performance.now()") - began)
    return shown, decided


def main() -> None:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.reviewing")
    parser.add_argument("--trajectories", type=int, default=50)
    parser.add_argument("--steps", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, served(Path(directory)) as site:
        first = fill(site, asked.trajectories, asked.steps)
        token = somebody(site)
        with chromium() as browser, Visit.begun(browser, site) as visit:
            visit.page.add_init_script(f"({WATCH})()")
            visit.sign_in(f"/trajectories/{first}", token)
            shown, decided = review(visit.page, asked.trajectories, asked.steps)
    print(f"{'milliseconds':44} {'median':>7} {'95 %':>7} {'most':>7}")
    print(row("from a key to the step's picture", shown))
    print(row("from a decision to the next one", decided))


if __name__ == "__main__":
    main()
