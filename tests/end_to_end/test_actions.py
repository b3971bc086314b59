"""Several actions in one request, from HTTP to the X server and back."""

import contextlib
import threading
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
import Xlib.display
import Xlib.error
from Xlib import X

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.pictures import decoded
from tests.processes import ServedApi, ServerProcess


@pytest.fixture(scope="module")
def desk(
    shared_server: ServerProcess,
    api: ServedApi,
    display: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workstation]:
    """A machine that stays connected for all tests here."""
    workstation = Workstation.added(
        shared_server.url, api, display, tmp_path_factory.mktemp("desk")
    )
    with workstation.joined():
        yield workstation


def test_actions_happen_once_in_their_order(desk: Workstation, witness: Witness) -> None:
    actions: list[dict[str, Any]] = [
        {"operation": "mouse.click", "x": 100, "y": 200},
        {"operation": "wait", "seconds": 0.1},
        {"operation": "keyboard.key", "text": "ctrl+a"},
        {"operation": "keyboard.type", "text": "b"},
    ]
    first = desk.act(actions, key="once")
    assert first.status == 200, first.body
    assert [each["status"] for each in first.json["actions"]] == ["completed"] * 4
    assert (first.json["status"], first.json["screenshot"]) == ("completed", None)
    assert first.json["pointer"] == {"x": 100, "y": 200}
    done = presses(witness.take())
    assert done[:2] == ["ButtonPress 1", "ButtonRelease 1"]
    assert len(done) == 8

    again = desk.act(actions, key="once")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.body == first.body
    assert presses(witness.take()) == []


def test_gestures_are_actions_too(desk: Workstation, witness: Witness) -> None:
    actions: list[dict[str, Any]] = [
        {"operation": "mouse.click", "x": 5, "y": 5, "in": {"width": 128, "height": 80}},
        {"operation": "mouse.click", "button": "back", "modifiers": ["ctrl"]},
        {"operation": "keyboard.key", "text": "f5", "hold": 0.1, "repeat": 2},
    ]
    answer = desk.act(actions, key="gestures")
    assert answer.status == 200, answer.body
    assert answer.json["pointer"] == {"x": 55, "y": 55}
    kinds = [each.partition(" ")[0] for each in presses(witness.take())]
    assert kinds == [
        *("ButtonPress", "ButtonRelease"),
        *("KeyPress", "ButtonPress", "ButtonRelease", "KeyRelease"),
        *("KeyPress", "KeyRelease") * 2,
    ]


def test_point_outside_is_refused_at_its_place_and_nothing_happens(
    desk: Workstation, witness: Witness
) -> None:
    path = [{"x": 1, "y": 1}, {"x": 1, "y": 800}]
    drag = {"operation": "mouse.drag", "start_x": 1, "start_y": 1, "to_x": 2, "to_y": 2}
    answer = desk.act(
        [{"operation": "mouse.click", "x": 1, "y": 1}, {**drag, "path": path}], key="outside"
    )
    assert answer.status == 422
    (entry,) = answer.json["detail"]
    assert entry["loc"] == ["body", "actions", "1", "path", "1", "y"]
    assert witness.take() == []


class Painted:
    """A window that is one colour, until a click paints it in another."""

    def __init__(self, display: str) -> None:
        self._display: Any = Xlib.display.Display(display)
        screen = self._display.screen()
        self._window = screen.root.create_window(
            *(300, 200, 400, 300, 0, screen.root_depth, X.InputOutput),
            override_redirect=True,
            background_pixel=0xFF0000,
            event_mask=X.ButtonPressMask,
        )
        self._window.map()
        self._display.sync()
        self._thread = threading.Thread(target=self._paint_at_each_click, daemon=True)
        self._thread.start()

    def _paint_at_each_click(self) -> None:
        with contextlib.suppress(Xlib.error.ConnectionClosedError, OSError, TypeError):
            while True:
                if self._display.next_event().type == X.ButtonPress:
                    self._window.change_attributes(background_pixel=0x0000FF)
                    self._window.clear_area()
                    self._display.flush()

    def close(self) -> None:
        self._window.destroy()
        self._display.sync()


@pytest.fixture
def painted(display: str) -> Iterator[Painted]:
    window = Painted(display)
    yield window
    window.close()


@pytest.mark.usefixtures("painted")
def test_click_is_seen_to_change_the_screen_and_the_picture_shows_it(desk: Workstation) -> None:
    answer = desk.act(
        [
            {"operation": "wait_for", "any": [{"still": 0.2}]},
            {"operation": "screenshot", "format": "jpeg"},
            {"operation": "mouse.click", "x": 400, "y": 300},
            {"operation": "wait_for", "any": [{"changed": True}], "timeout": 5},
        ],
        key="seen",
        screenshot={"settle": 0.2, "region": {"x": 300, "y": 200, "width": 400, "height": 300}},
    )
    assert answer.status == 200, answer.body
    still, before, _, changed = answer.json["actions"]
    assert still["matched"] == 0
    assert changed["at"] == {"x": 300, "y": 200, "width": 400, "height": 300}
    assert (before["picture"]["format"], before["picture"]["width"]) == ("jpeg", 1280)
    after = answer.json["screenshot"]
    assert (after["format"], after["width"], after["height"]) == ("png", 400, 300)
    image = decoded(b64decode(after["content"]))
    assert image.getpixel((300, 250)) == (0, 0, 255)

    again = desk.act(
        [
            {"operation": "wait_for", "any": [{"still": 0.2}]},
            {"operation": "screenshot", "format": "jpeg"},
            {"operation": "mouse.click", "x": 400, "y": 300},
            {"operation": "wait_for", "any": [{"changed": True}], "timeout": 5},
        ],
        key="seen",
        screenshot={"settle": 0.2, "region": {"x": 300, "y": 200, "width": 400, "height": 300}},
    )
    assert again.json["screenshot"] is None
    assert again.json["actions"][1]["picture"] is None
    assert again.json["actions"][3] == changed


def test_what_is_not_seen_stops_the_rest(desk: Workstation, witness: Witness) -> None:
    answer = desk.act(
        [
            {"operation": "mouse.move", "x": 10, "y": 10},
            {"operation": "wait_for", "any": [{"changed": True}], "timeout": 0.3},
            {"operation": "mouse.click", "x": 20, "y": 20},
        ],
        key="unseen",
    )
    assert answer.status == 409
    assert answer.json["type"] == "/problems/actions-stopped"
    assert answer.json["completed"] == 1
    ends = [each["status"] for each in answer.json["actions"]]
    assert ends == ["completed", "not_seen", "not_begun"]
    assert presses(witness.take()) == []


def test_what_is_held_for_actions_that_never_come_is_released(
    desk: Workstation, witness: Witness
) -> None:
    answer = desk.act(
        [
            {"operation": "mouse.click", "x": 20, "y": 20, "down": True},
            {"operation": "keyboard.key", "text": "ctrl+shift", "down": True},
            {"operation": "keyboard.key", "text": "alt", "down": True},
            {"operation": "keyboard.key", "text": "alt", "down": False},
            {"operation": "wait_for", "any": [{"changed": True}], "timeout": 0.2},
            {"operation": "keyboard.key", "text": "ctrl+shift", "down": False},
        ],
        key="held",
    )
    assert answer.json["type"] == "/problems/actions-stopped"
    done = presses(witness.take())
    assert len(done) == 8
    assert [each.split()[0] for each in done[-3:]] == ["KeyRelease", "KeyRelease", "ButtonRelease"]
    for press in (each for each in done if "Press" in each):
        assert press.replace("Press", "Release") in done
