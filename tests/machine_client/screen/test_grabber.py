"""The displays of a real X server."""

from typing import Any, ClassVar, Self

import pytest
from mss.exception import ScreenShotError

from machine_client.desktop.base import DesktopError
from machine_client.screen import grabber as screen
from schemas.link.messages import Display
from tests.desktop import eventually, running


def test_the_only_screen_is_told(display: str) -> None:
    assert screen.displays(display) == [Display(x=0, y=0, width=1280, height=800)]


class ManyScreens:
    """What mss tells of two screens, which no virtual X server has."""

    monitors: ClassVar[list[dict[str, Any]]] = [
        {"left": 0, "top": 0, "width": 1440, "height": 600},
        {"left": 0, "top": 0, "width": 640, "height": 480, "is_primary": True},
        {"left": 640, "top": 0, "width": 800, "height": 600},
    ]

    def __init__(self, **_: Any) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_screens_side_by_side_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "MSS", ManyScreens)
    assert screen.displays() == [
        Display(x=0, y=0, width=640, height=480),
        Display(x=640, y=0, width=800, height=600),
    ]


def test_screens_that_the_system_does_not_tell_apart_are_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ManyScreens, "monitors", ManyScreens.monitors[:1])
    monkeypatch.setattr(screen, "MSS", ManyScreens)
    assert screen.displays() == [Display(x=0, y=0, width=1440, height=600)]


def test_without_a_display_there_is_an_error_of_ours() -> None:
    with pytest.raises(DesktopError) as caught:
        screen.displays(":4999")
    assert caught.value.code == "display_unknown"


@pytest.mark.parametrize(
    ("library", "package"), [("libxcb", "libxcb1"), ("libxcb-render", "libxcb-render0")]
)
def test_library_that_is_missing_is_named_with_its_package(
    library: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> None:
        raise ScreenShotError(f"Library {library}.so not found")

    monkeypatch.setattr(screen, "MSS", refuse)
    with pytest.raises(
        screen.MissingLibraryError, match=rf"{library}\.so .*apt-get install {package}\)$"
    ):
        screen.displays()


def test_the_environment_names_the_display_where_nobody_else_does(
    display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    assert screen.displays() == screen.displays(display)


def test_screen_is_captured_as_it_is(display: str) -> None:
    with running("xterm", "-display", display, "-geometry", "80x24+0+0", "-bg", "red"):
        source = screen.Screen(display)

        def shows_red() -> bool:
            shot = source.capture()
            assert shot.region == (0, 0, *shot.size)
            return bytes(shot.pixels[4 * 300 + 4 * 1280 * 200 :][:3]) == b"\x00\x00\xff"

        eventually(lambda: shows_red() or None, "the red window is in the picture")
        source.close()


def test_screen_without_a_display_is_an_error_of_ours() -> None:
    with pytest.raises(DesktopError) as caught:
        screen.Screen(":4999")
    assert caught.value.code == "screen_unavailable"
