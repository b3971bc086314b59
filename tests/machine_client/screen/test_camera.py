"""The camera on a real X server: what it sees, and what becomes of a display that changes."""

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.screen import camera as camera_module
from machine_client.screen.camera import open_camera
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from schemas.link.picture_frames import Region, Size
from tests.desktop import resize_screen, running, somebody_else, virtual_display


def test_camera_sees_pixels_displays_and_pointer(display: str) -> None:
    somebody_else(display, "mousemove", "321", "123")
    camera = open_camera(display)
    try:
        shot = camera.capture()
        assert (shot.region, shot.size) == (Region(0, 0, 1280, 800), Size(1280, 800))
        assert len(shot.pixels) == 1280 * 800 * 4
        assert shot.looks_like(camera.capture())
        assert camera.displays() == [Display(x=0, y=0, width=1280, height=800)]
        assert camera.pointer() == Point(x=321, y=123)
        somebody_else(display, "mousemove", "500", "123")
        assert camera.pointer() == Point(x=500, y=123)
    finally:
        camera.close()


def test_displays_that_change_are_seen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(camera_module, "LOOK_ANEW_SECONDS", 0.0)
    with virtual_display() as display:
        camera = open_camera(display)
        assert camera.capture().size == (1280, 800)
        resize_screen(display, 640, 480)
        assert camera.capture().size == (640, 480)
        camera.close()


def test_display_that_ends_is_an_error_of_ours() -> None:
    with virtual_display() as display:
        camera = open_camera(display)
        camera.pointer()
    with pytest.raises(DesktopError):
        camera.capture()
    with pytest.raises(DesktopError):
        camera.pointer()
    camera.close()
    with pytest.raises(DesktopError):
        open_camera(display)


def test_screen_of_few_colours_is_refused_in_words() -> None:
    with virtual_display("640x480x8") as display, pytest.raises(DesktopError, match="depth"):
        open_camera(display)


def test_pointer_is_in_the_picture(display: str) -> None:
    with running("xterm", "-display", display, "-geometry", "80x24+0+0"):
        camera = open_camera(display)
        try:
            somebody_else(display, "mousemove", "900", "700")
            before = camera.capture()
            somebody_else(display, "mousemove", "1000", "500")
            assert not camera.capture().looks_like(before)
        finally:
            camera.close()
