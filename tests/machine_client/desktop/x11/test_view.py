"""What mss tells of X displays that no virtual server has, and what it cannot tell."""

from typing import Any, ClassVar, Self

import pytest
from mss.exception import ScreenShotError

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.x11 import view as view_module
from machine_client.desktop.x11.view import MissingLibraryError, X11View, displays
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from tests.desktop import grabbed, resize_screen, somebody_else, virtual_display


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
    monkeypatch.setattr(view_module, "MSS", ManyScreens)
    assert displays(None) == [
        Display(x=0, y=0, width=640, height=480),
        Display(x=640, y=0, width=800, height=600),
    ]


def test_screens_that_the_system_does_not_tell_apart_are_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ManyScreens, "monitors", ManyScreens.monitors[:1])
    monkeypatch.setattr(view_module, "MSS", ManyScreens)
    assert displays(None) == [Display(x=0, y=0, width=1440, height=600)]


def test_without_a_display_each_part_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str | None) -> None:
        raise InjectionUnavailable("there is none")

    # python-xlib itself leaves a socket behind where nobody listens.
    monkeypatch.setattr(view_module, "open_display", refuse)
    view = X11View(":4999")
    for look, code in (
        (view.displays, "display_unknown"),
        (view.pointer, "display_unknown"),
        (view.capture, "screen_unavailable"),
    ):
        with pytest.raises(DesktopError) as caught:
            look()
        assert caught.value.code == code
    view.close()


@pytest.mark.parametrize(
    "error", [ValueError("NULL pointer access"), AssertionError(), OSError("gone")], ids=repr
)
def test_server_that_ends_while_it_is_looked_at_is_an_error_of_ours(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(**_: Any) -> None:
        raise error

    monkeypatch.setattr(view_module, "MSS", end)
    view = X11View(":0")
    for look in (view.displays, view.capture):
        with pytest.raises(DesktopError):
            look()


@pytest.mark.parametrize(
    ("library", "package"), [("libxcb", "libxcb1"), ("libxcb-render", "libxcb-render0")]
)
def test_library_that_is_missing_is_named_with_its_package(
    library: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> None:
        raise ScreenShotError(f"Library {library}.so not found")

    monkeypatch.setattr(view_module, "MSS", refuse)
    with pytest.raises(MissingLibraryError, match=rf"{library}\.so .*apt-get install {package}\)$"):
        displays(None)


def test_the_environment_names_the_display_where_nobody_else_does(
    display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    assert displays(None) == displays(display)


def test_displays_that_change_are_seen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "LOOK_ANEW_SECONDS", 0.0)
    with virtual_display() as display:
        view = X11View(display)
        assert view.capture().size == (1280, 800)
        resize_screen(display, 640, 480)
        assert view.capture().size == (640, 480)
        view.close()


def test_screen_of_few_colours_is_refused_in_words() -> None:
    with virtual_display("640x480x8") as display, pytest.raises(DesktopError, match="depth"):
        X11View(display).capture()


def test_pointer_is_told_while_a_program_has_grabbed_the_server(display: str) -> None:
    somebody_else(display, "mousemove", "5", "6")
    view = X11View(display)
    assert view.pointer() == Point(x=5, y=6)
    with grabbed(display):
        assert view.pointer() == Point(x=5, y=6)
    view.close()
