"""A machine of Windows in the console: its screen in a real browser, and hands that work there."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.rig import Site, Visit, chromium, served
from tests.processes import until
from tests.wine.interpreter import WINE
from tests.wine.machines import Machine
from tests.wine.programs import PICTURE_FILE, WineDesktop

DESKTOP = {"width": 1280, "height": 800}
TEXT = "Grüße von hier: Straße, Ёлка, naïve\n"

PICTURE = """(canvas) => {
    const { width, height } = canvas;
    const pixels = new Uint32Array(
        canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer);
    let sum = 0;
    for (const pixel of pixels) sum = (sum * 31 + pixel) % 1000000007;
    return { width, height, sum, colours: new Set(pixels).size };
}"""


@pytest.fixture
def notepad(desktop: WineDesktop) -> Iterator[None]:
    """Wine's own, as somebody has it open."""
    program = subprocess.Popen(
        [WINE, "notepad"],
        env=desktop.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield
    program.kill()
    program.wait()


@dataclass(frozen=True)
class Looking:
    """Somebody who looks at a machine in the console."""

    visit: Visit
    machine: Machine

    @property
    def canvas(self) -> Locator:
        return self.visit.page.locator(".stage canvas")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path / "server") as site:
        yield site


@pytest.fixture
def looking(machine: Machine, site: Site, notepad: None) -> Iterator[Looking]:
    name, token = site.add_machine("Bookkeeping", "bookkeeping")
    machine = replace(machine, name=name, token=token, api=site.api, server=site.server)
    with machine.joined() as client, chromium() as browser:
        client.says("connected to")
        machine.is_online()
        with Visit.begun(browser, site, viewport=DESKTOP, color_scheme="light") as visit:
            visit.sign_in(f"/machines/{name}")
            expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
            yield Looking(visit, machine)


def test_screen_of_a_windows_machine_is_seen_and_changes(looking: Looking) -> None:
    assert_is_screen(looking)
    before = looking.canvas.evaluate(PICTURE)["sum"]
    for number in range(4):
        answer = looking.machine.send("keyboard/type", text=f"{number + 1}. {TEXT}")
        assert answer.status == 200, answer.body
    until(lambda: looking.canvas.evaluate(PICTURE)["sum"] != before, "the picture changes")
    expect(looking.visit.page.locator("dl")).to_contain_text("Windows-10")
    if file := os.environ.get(PICTURE_FILE):
        expect(looking.visit.page.get_by_text("Completed")).to_have_count(4)
        looking.visit.page.wait_for_timeout(1000)  # for the last line's picture
        looking.visit.page.screenshot(path=file, animations="disabled")


def test_hands_in_the_console_write_into_a_program_of_windows(looking: Looking) -> None:
    assert_is_screen(looking)
    page, machine = looking.visit.page, looking.machine
    page.get_by_role("button", name="Take control").click()
    expect(page.get_by_text("You are in control")).to_be_visible()
    looking.canvas.click(position={"x": 200, "y": 200})
    page.keyboard.type("From the console: Gr\u00fc\u00dfe")
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    until(lambda: machine.get("clipboard").json.get("text"), "it is copied")
    assert machine.get("clipboard").json == {"text": "From the console: Gr\u00fc\u00dfe"}
    page.close()


def assert_is_screen(looking: Looking) -> None:
    """What the console shows has the screen's shape, and is not of one colour."""

    def is_drawn() -> bool:
        colours: int = looking.canvas.evaluate(PICTURE)["colours"]
        return colours > 16  # a window with a menu

    until(is_drawn, "the picture is not blank")
    seen = looking.canvas.evaluate(PICTURE)
    assert seen["width"] / seen["height"] == pytest.approx(1280 / 800, abs=0.01)
