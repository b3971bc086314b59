"""Pointer and keyboard where a compositor has not all that they need, or has it no longer."""

from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from machine_client.desktop.base import InjectionUnavailable
from machine_client.desktop.wayland.desktop import WaylandDesktop
from machine_client.desktop.wayland.wire import connection as connection_module
from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import ClickMouse, MoveMouse, PressKeys
from tests.machine_client.desktop.contract.rig import saw
from tests.machine_client.desktop.wayland.compositor import sway
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor, fake_compositor
from tests.machine_client.desktop.wayland.rig import WaylandWitness
from tests.waiting import eventually

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


def test_what_a_compositor_that_stood_still_was_asked_does_not_happen_and_is_let_go(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it has not read when it is given up never happens; what it has, is released."""
    with (
        sway() as compositor,
        closing(WaylandWitness(compositor, tmp_path)) as witness,
        ExitStack() as ending,
    ):
        desktop = WaylandDesktop(compositor.name)
        injector = ending.enter_context(closing(DesktopInjector(desktop)))
        injector.prepare(ClickMouse(x=5, y=6, button="right", down=True))()
        injector.prepare(PressKeys(text="x", down=True))()
        begin = injector.prepare(ClickMouse(x=7, y=8))
        compositor.freeze()
        with monkeypatch.context() as impatient:
            impatient.setattr(connection_module, "ANSWER_SECONDS", 0.2)
            with pytest.raises(InjectionFailed, match="has not answered") as failed:
                begin()
        assert (failed.value.code, failed.value.injected_at_least) == ("display_lost", 0)
        assert injector.is_lost
        compositor.thaw()
        eventually(lambda: witness.held() == {"right"}, "the keys of who is gone are let go of")
        after = ending.enter_context(closing(DesktopInjector(desktop)))
        assert witness.held() == frozenset()
        injector.close()
        after.prepare(ClickMouse(x=9, y=9))()
        saw(
            witness.take(),
            *("move", "down right", "down x", "up x"),
            # The left one is on record too: nobody knows that it was never read of.
            *("up left", "up right"),
            *("move", "down left", "up left"),
        )
