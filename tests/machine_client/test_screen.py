"""The displays of a real X server."""

from typing import Any, ClassVar, Self

import pytest

from machine_client import screen
from machine_client.desktop import DesktopError
from schemas.wire import Display


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


def test_the_environment_names_the_display_where_nobody_else_does(
    display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    assert screen.displays() == screen.displays(display)
