"""The picture of a machine stays where it is, whatever is said around it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.hands import Hands, Wire, is_near
from tests.browser.rig import Desk, Site, Visit, served
from tests.processes import ServedApi

LONG = "a name that is as long as names of programs are, and somewhat longer than that" * 2

WIDTHS: list[ViewportSize] = [
    {"width": 390, "height": 844},
    {"width": 1366, "height": 768},
    {"width": 1920, "height": 1080},
]


class Scene(NamedTuple):
    """Somebody in control of a machine, and a program that can disturb them."""

    page: Page
    wire: Wire
    hands: Hands
    desk: Desk
    site: Site
    robot: ServedApi

    @property
    def box(self) -> Any:
        """Where the picture is in the window."""
        return self.page.evaluate(
            "(({x, y, width, height}) => [x, y, width, height])"
            "(document.querySelector('.stage canvas').getBoundingClientRect())"
        )

    def change(self, **change: Any) -> None:
        """Change the machine, as somebody else does."""
        address = f"/v1/machines/{self.desk.machine}"
        assert self.site.api.call("PATCH", address, change).status == 200


Message = Callable[[Scene], None]


def says(page: Page, words: str) -> None:
    expect(page.get_by_text(words).first).to_be_visible()


def ask_for_control(scene: Scene) -> None:
    address = f"/v1/machines/{scene.desk.machine}/control/request"
    assert scene.robot.call("POST", address, {"note": "the nightly run waits " * 8}).status == 204
    says(scene.page, "asks you to hand over")


def pause_the_machine(scene: Scene) -> None:
    scene.change(paused=True)
    expect(scene.page.locator(".head")).to_contain_text("By administrator")
    scene.change(paused=False)
    expect(scene.page.locator(".head")).not_to_contain_text("By administrator")


def rename_the_machine(scene: Scene) -> None:
    scene.change(name="Reception, " + "second floor, left of the stairs, " * 4)
    says(scene.page, "second floor, left")
    scene.change(name="Reception")


def lose_the_hand(scene: Scene) -> None:
    scene.wire.cut()
    says(scene.page, "The connection was lost.")
    scene.page.keyboard.press("a")
    says(scene.page, "Not sent: 4 keys.")
    scene.hands.come_back(scene.wire)


def lose_the_machine(scene: Scene) -> None:
    scene.desk.client.kill()
    says(scene.page, "You keep control of Reception, which takes no input now")
    says(scene.page, "The machine is not connected")
    scene.page.keyboard.press("a")
    says(scene.page, "Not sent: ")


def lose_the_server(scene: Scene) -> None:
    scene.site.process.terminate()
    says(scene.page, "No connection to the server")
    scene.page.keyboard.press("a")
    says(scene.page, "Not sent: ")


def refuse_an_input(scene: Scene) -> None:
    refused = {"type": "refused", "sequence": 1, "problem": "input-failed", "detail": "it " * 60}
    undone = {"moves": 0, "presses": [], "notches": 0, "keys": 3, "characters": 0}
    scene.wire.answer({**refused, "not_sent": undone})
    says(scene.page, "Not sent: 3 keys.")


def lose_control(scene: Scene) -> None:
    address = f"/v1/machines/{scene.desk.machine}/control"
    assert scene.robot.call("POST", address, {"take_over": True}).status == 201
    says(scene.page, "Control has ended")
    scene.page.get_by_role("button", name="Take control").click()
    scene.page.get_by_role("button", name="Take over").click()
    says(scene.page, "You are in control of")


MESSAGES: list[Message] = [
    *(ask_for_control, pause_the_machine, rename_the_machine, refuse_an_input),
    *(lose_the_hand, lose_control),
]


@pytest.mark.parametrize("size", WIDTHS, ids=lambda size: size["width"])
def test_picture_stays_where_it_is_whatever_is_said(
    browser: Browser, tmp_path: Path, own_database: dict[str, str], size: ViewportSize
) -> None:
    with (
        served(tmp_path, **own_database) as site,
        site.desk("Reception") as desk,
        robot_of(site) as robot,
        Visit.begun(browser, site, viewport=size) as visit,
    ):
        wire = Wire(visit.page)
        visit.sign_in(f"/machines/{desk.machine}")
        says(visit.page, "Live. The picture changes")
        hands = Hands(visit.page, desk)
        before = Scene(visit.page, wire, hands, desk, site, robot).box
        hands.take()
        scene = Scene(visit.page, wire, hands, desk, site, robot)
        place = hands.over(320, 200)
        visit.page.mouse.move(*place)
        assert scene.box[2:] == before[2:]
        still = scene.box

        def click(number: int) -> None:
            """Click where the mouse was before anything was said."""
            visit.page.mouse.down()
            visit.page.mouse.up()
            hands.until(partial(arrived, hands, number), "a click arrives there")

        for number, message in enumerate(MESSAGES, 1):
            message(scene)
            assert scene.box == still, message.__name__
            if message is lose_control:
                visit.page.mouse.move(*place)
            click(number)
        lose_the_machine(scene)
        assert scene.box == still, "the machine is lost"
        with desk.join():
            says(visit.page, "You are in control of Reception")
            says(visit.page, "Live. The picture changes")
            assert scene.box == still, "the machine is back"
            click(len(MESSAGES) + 1)
            lose_the_server(scene)
            assert scene.box == still, "the server is lost"


@contextmanager
def robot_of(site: Site) -> Iterator[ServedApi]:
    """A program that may take control."""
    made = site.new_token("machines:control", "input:send", "machines:read", name=LONG)
    api = ServedApi(site.server.url, made["token"])
    yield api
    api.close()


def arrived(hands: Hands, clicks: int) -> bool:
    """Whether so many clicks arrived, all of them at the one place."""
    lines = [line for line in hands.new() if line.startswith("click")]
    return len(lines) == clicks and all(is_near(line, "click left 320,200") for line in lines)
