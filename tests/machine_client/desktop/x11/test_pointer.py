"""The pointer of a real X server, looked at from beside."""

import pytest

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.x11 import pointer as pointer_module
from machine_client.desktop.x11.pointer import X11Pointer
from schemas.inputs.outcomes import Point
from tests.desktop import grabbed, somebody_else, virtual_display


def test_pointer_is_told_where_it_is(display: str) -> None:
    pointer = X11Pointer(display)
    for x, y in ((0, 0), (1279, 799), (17, 42)):
        somebody_else(display, "mousemove", str(x), str(y))
        assert pointer.place() == Point(x=x, y=y)
    pointer.close()
    pointer.close()


def test_display_that_cannot_be_opened_is_an_error_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: str | None) -> None:
        raise InjectionUnavailable("there is none")

    # python-xlib itself leaves a socket behind where nobody listens.
    monkeypatch.setattr(pointer_module, "open_display", refuse)
    with pytest.raises(DesktopError, match="there is none") as caught:
        X11Pointer(":4999")
    assert caught.value.code == "display_unknown"


def test_display_that_ends_is_an_error_of_ours() -> None:
    with virtual_display() as display:
        pointer = X11Pointer(display)
    with pytest.raises(DesktopError) as caught:
        pointer.place()
    assert caught.value.code == "display_lost"
    pointer.close()


def test_pointer_is_told_while_a_program_has_grabbed_the_server(display: str) -> None:
    somebody_else(display, "mousemove", "5", "6")
    pointer = X11Pointer(display)
    with grabbed(display):
        assert pointer.place() == Point(x=5, y=6)
    pointer.close()
