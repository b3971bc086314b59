"""The pointer is put where it belongs, and seen there; Windows is played."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopError, DesktopLost
from machine_client.desktop.windows import api
from machine_client.desktop.windows.holding import Holding, Record
from machine_client.desktop.windows.mouse import Mouse, is_down, pointer
from machine_client.desktop.windows.sending import ButtonEvent, Event, Motion, Turn
from tests.machine_client.desktop.windows.fakes import BUTTON_CODES, FakeSession, FakeStream


class Moving(FakeStream):
    """A stream that moves the pointer of a session, by ``off`` too far."""

    def __init__(self, session: FakeSession) -> None:
        super().__init__()
        self.session = session
        self.off = 0

    def send(self, *events: Event) -> None:
        super().send(*events)
        for event in events:
            if isinstance(event, Motion) and self.session.pointer_moves:
                self.session.pointer = (event.x + self.off, event.y)


@pytest.fixture
def stream(windows: FakeSession) -> Moving:
    return Moving(windows)


@pytest.fixture
def mouse(stream: Moving, tmp_path: Path) -> Mouse:
    record = Record(tmp_path, "boot/1")
    return Mouse(stream, Holding(stream, record, stream.is_down, BUTTON_CODES.__getitem__))


def test_pointer_that_is_there_already_is_left_alone(mouse: Mouse, stream: Moving) -> None:
    mouse.move(500, 300)
    assert stream.take() == []
    mouse.move(1, 2)
    assert stream.take() == [Motion(1, 2)]


def test_pointer_that_came_out_beside_is_put_right(
    mouse: Mouse, stream: Moving, windows: FakeSession
) -> None:
    stream.off = 1
    mouse.move(7, 8)
    assert windows.pointer == (7, 8)


def test_pointer_that_does_not_move_is_an_error(mouse: Mouse, windows: FakeSession) -> None:
    windows.pointer_moves = False
    with pytest.raises(DesktopError) as caught:
        mouse.move(1, 2)
    assert caught.value.code == "input_not_taken"
    windows.shown = False
    with pytest.raises(DesktopLost, match="locked"):
        mouse.move(1, 2)


@pytest.mark.parametrize("is_there", [True, False], ids=["on a screen", "between screens"])
def test_pointer_that_is_kept_elsewhere_is_an_error_where_it_could_be(
    mouse: Mouse, stream: Moving, windows: FakeSession, is_there: bool
) -> None:
    """As by a game that keeps it in its window."""
    stream.off, windows.pointer_can_be_put, windows.is_on_a_screen = 5, False, is_there
    with pytest.raises(DesktopError) if is_there else nullcontext() as caught:
        mouse.move(7, 8)
    assert windows.pointer == (12, 8)
    if caught is not None:
        assert caught.value.code == "input_not_taken"


def test_buttons_are_held_until_they_are_released(mouse: Mouse, stream: Moving) -> None:
    mouse.press("left")
    mouse.press("right")
    mouse.scroll("up")
    mouse.release("middle")
    mouse.release_all()
    mouse.release_all()
    assert stream.take() == [
        *(ButtonEvent("left", True), ButtonEvent("right", True), Turn("up")),
        *(ButtonEvent("right", False), ButtonEvent("left", False)),
    ]


def test_button_that_others_hold_is_refused(mouse: Mouse, stream: Moving) -> None:
    stream.down.add(BUTTON_CODES["left"])
    with pytest.raises(DesktopError, match="the left button of the mouse") as caught:
        mouse.check_button("left")
    assert caught.value.code == "already_down"
    mouse.check_button("right")


def test_nothing_is_pressed_on_a_window_with_higher_rights(
    mouse: Mouse, stream: Moving, windows: FakeSession
) -> None:
    windows.levels[10], windows.window = 0x3000, 10
    with pytest.raises(DesktopError, match="higher rights"):
        mouse.press("left")
    with pytest.raises(DesktopError, match="higher rights"):
        mouse.scroll("up")
    assert stream.take() == []


def test_pointer_that_is_not_told_has_its_reason(
    windows: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "get_cursor_pos", lambda _: False)
    with pytest.raises(DesktopError, match="does not say where"):
        pointer()
    windows.state = 4
    with pytest.raises(DesktopLost, match="disconnected"):
        pointer()


def test_what_is_down_is_the_highest_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    states = {1: -32768, 2: 1, 4: 0}
    monkeypatch.setattr(api, "get_async_key_state", states.__getitem__)
    assert [is_down(code) for code in states] == [True, False, False]
