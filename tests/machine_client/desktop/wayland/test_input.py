"""Pointer and keyboard where a compositor has not all that they need, or has it no longer."""

from pathlib import Path

import pytest

from machine_client.desktop.base import InjectionUnavailable
from machine_client.desktop.wayland.desktop import WaylandDesktop
from machine_client.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import MoveMouse, PressKeys
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor, fake_compositor

POINTER = "zwlr_virtual_pointer_manager_v1"
KEYBOARD = "zwp_virtual_keyboard_manager_v1"


@pytest.mark.parametrize("lacking", [(POINTER,), (KEYBOARD,), (POINTER, KEYBOARD)])
def test_compositor_that_lacks_a_part_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: tuple[str, ...]
) -> None:
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "GNOME")
    monkeypatch.delenv("DISPLAY", raising=False)
    with (
        fake_compositor(tmp_path / "w", *lacking) as compositor,
        pytest.raises(InjectionUnavailable) as refused,
    ):
        WaylandDesktop(compositor.name).open_input()
    said = str(refused.value)
    assert [each in said for each in (POINTER, KEYBOARD)] == [
        each in lacking for each in (POINTER, KEYBOARD)
    ]
    assert "(GNOME)" in said
    assert "Xwayland" not in said


def test_where_there_is_xwayland_it_is_named_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    with (
        fake_compositor(tmp_path / "w", POINTER) as compositor,
        pytest.raises(InjectionUnavailable, match=r"under Xwayland alone .*--desktop x11"),
    ):
        WaylandDesktop(compositor.name).open_input()


@pytest.mark.parametrize("withdrawn", [POINTER, KEYBOARD, "wl_seat"])
@pytest.mark.parametrize("body", [MoveMouse(x=5, y=6), PressKeys(text="ctrl+x")])
def test_protocol_that_is_withdrawn_fails_the_input_and_ends_the_desktop(
    fake: FakeCompositor, withdrawn: str, body: MoveMouse | PressKeys
) -> None:
    injector = DesktopInjector(WaylandDesktop(fake.name))
    begin = injector.prepare(body)
    fake.withdraw(withdrawn)
    with pytest.raises(InjectionFailed, match=f"has withdrawn {withdrawn}") as failed:
        begin()
    assert (failed.value.code, failed.value.injected_at_least) == ("display_lost", 0)
    assert injector.is_lost
    with pytest.raises(InjectionUnavailable):
        injector.prepare(body)
    injector.close()


def test_refusal_in_the_middle_is_told_with_its_reason(fake: FakeCompositor) -> None:
    injector = DesktopInjector(WaylandDesktop(fake.name))
    begin = injector.prepare(PressKeys(text="x"))
    fake.refuse("keys are forbidden")
    with pytest.raises(InjectionFailed, match="keys are forbidden"):
        begin()
    injector.close()
