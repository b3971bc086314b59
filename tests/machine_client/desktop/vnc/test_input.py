"""What an input of a VNC server knows and says; all it must do is in the contract."""

from contextlib import closing
from pathlib import Path

import pytest

from machine_client.desktop.base import Refusal
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import ClickMouse, MoveMouse, PressKeys, TypeText
from schemas.inputs.outcomes import Point
from tests.desktop import Terminal, Witness, set_layout, somebody_else
from tests.machine_client.desktop.vnc.plain_server import (
    ONE_PIXEL,
    plain_server,
    rectangle,
)
from tests.machine_client.desktop.vnc.xvnc import xvnc
from tests.machine_client.desktop.x11.rig import X11Witness
from tests.machine_client.desktop.x11.somebody import pressed
from tests.machine_client.pressing import killed_while_pressing


@pytest.fixture
def witness(vnc_witness: Witness) -> Witness:
    vnc_witness.take()
    return vnc_witness


def test_more_than_that_the_server_has_read_it_is_not_said() -> None:
    with plain_server() as server:
        injector = DesktopInjector(VncDesktop(VncServer("127.0.0.1", server.port)))
        assert injector.effect == "delivered"
        assert injector.take_released() is None
        injector.close()


def test_what_may_be_pressed_is_released_at_the_beginning_where_the_pointer_is() -> None:
    told = rectangle(7, 8, 0, 0, ours.POINTER_POSITION, b"")
    for first, place in ((ONE_PIXEL, (32, 24)), (told, (7, 8))):
        with plain_server(first) as server:
            VncDesktop(VncServer("127.0.0.1", server.port)).open_input().close()
            said = list(server.said)
        assert ours.pointer_event(0, *place) in said
        ups = {message for message in said if message[0] == 4}
        assert ours.key_event(0xFFE3, down=False) in ups
        assert not any(message[1] for message in ups)


def test_pointer_that_the_server_moves_is_told_and_used() -> None:
    told = rectangle(40, 30, 0, 0, ours.CURSOR_POSITION, b"")
    with plain_server(ONE_PIXEL, ONE_PIXEL, ONE_PIXEL, told) as server:
        desktop = VncDesktop(VncServer("127.0.0.1", server.port))
        with closing(DesktopInjector(desktop)) as injector:
            assert injector.prepare(MoveMouse(x=1, y=2))() == Point(x=1, y=2)
            assert injector.prepare(PressKeys(text="a"))() == Point(x=40, y=30)
            injector.prepare(ClickMouse())()
            assert ours.pointer_event(1, 40, 30) in server.said


def test_place_that_is_told_before_our_move_was_read_is_older_than_it() -> None:
    told = rectangle(40, 30, 0, 0, ours.CURSOR_POSITION, b"")
    with plain_server(ONE_PIXEL, ONE_PIXEL, told) as server:
        desktop = VncDesktop(VncServer("127.0.0.1", server.port))
        with closing(DesktopInjector(desktop)) as injector:
            assert injector.prepare(MoveMouse(x=1, y=2))() == Point(x=1, y=2)


def test_characters_have_a_bound_for_the_life_of_the_desktop() -> None:
    with plain_server() as server:
        desktop = VncDesktop(VncServer("127.0.0.1", server.port, characters=2))
        with closing(DesktopInjector(desktop)) as injector:
            injector.prepare(TypeText(text="äöäö"))()
        with closing(DesktopInjector(desktop)) as injector:
            with pytest.raises(Refusal) as caught:
                injector.prepare(TypeText(text="secret ü"))
            assert caught.value.outcome.code == "character_not_typeable"
            assert caught.value.outcome.ctx == {"position": 8}
            assert "secret" not in caught.value.outcome.message
            injector.prepare(TypeText(text="plain ö"))()


def test_named_keys_that_the_layout_lacks_leave_less_room_for_characters(tmp_path: Path) -> None:
    names = [
        "break",
        "browser_stop",
        "browser_refresh",
        *(f"f{number}" for number in range(13, 25)),
    ]
    with xvnc() as (display, port, _):
        injector = DesktopInjector(VncDesktop(VncServer("127.0.0.1", port)))
        with closing(Witness(display)) as events:
            injector.prepare(PressKeys(text=" ".join(names)))()
            with closing(X11Witness(display, events, tmp_path)) as witness:
                downs = [event for event in witness.take() if event.action == "down"]
            # The first is the Shift that is tapped before them.
            assert len(downs) == 1 + len(names)
            for name, event in zip(names, downs[1:], strict=True):
                assert name in event.names
        with Terminal.open(display, tmp_path) as terminal:
            injector.prepare(TypeText(text="ж."))()
            assert terminal.typed_before(".") == "ж"
            with pytest.raises(Refusal, match="no unused key is left"):
                injector.prepare(TypeText(text="漢"))
            injector.prepare(TypeText(text="Ж."))()
            assert terminal.typed_before(".") == "Ж"
        injector.close()


@pytest.mark.parametrize(
    ("body", "presses"),
    [
        (ClickMouse(x=30, y=40), 1),
        (ClickMouse(x=30, y=40, button="right", clicks=3), 2),
        (PressKeys(text="ctrl+a"), 2),
        (PressKeys(text="shift", down=True), 1),
        (TypeText(text="aБ"), 2),
    ],
)
def test_client_killed_between_press_and_release_leaves_nothing_after_the_next_start(
    vnc: tuple[str, int],
    witness: Witness,
    body: ClickMouse | PressKeys | TypeText,
    presses: int,
) -> None:
    display, port = vnc
    killed_while_pressing(f"127.0.0.1:{port}", body, presses=presses, kind="vnc")
    seen = [str(event) for event in witness.take()]
    assert sum("Press" in event for event in seen) >= presses
    injector = DesktopInjector(VncDesktop(VncServer("127.0.0.1", port)))
    assert pressed(display) == (set(), set())
    witness.take()
    injector.prepare(ClickMouse(x=50, y=60))()
    clicked = [str(event) for event in witness.take() if event.kind != "MotionNotify"]
    assert clicked == ["ButtonPress 1", "ButtonRelease 1"]
    injector.close()


def test_what_others_hold_is_not_known_and_not_claimed(
    vnc: tuple[str, int], witness: Witness
) -> None:
    """The press of a button that is down is none, and the result says no more than "delivered"."""
    somebody_else(vnc[0], "mousedown", "1")
    try:
        injector = DesktopInjector(VncDesktop(VncServer("127.0.0.1", vnc[1])))
        injector.prepare(ClickMouse(x=5, y=5))()
        assert injector.effect == "delivered"
        injector.close()
    finally:
        somebody_else(vnc[0], "mouseup", "1")
    assert pressed(vnc[0]) == (set(), set())


def test_interrupted_input_says_what_was_read() -> None:
    with plain_server() as server:
        desktop = VncDesktop(VncServer("127.0.0.1", server.port))
        with closing(DesktopInjector(desktop)) as injector:
            begin = injector.prepare(PressKeys(text=" ".join(["x"] * 2000)))
            down = ours.key_event(0x78, down=True)

            def interrupt_soon(_: bytes) -> None:
                if server.said.count(down) > 5:
                    injector.interrupt()

            server.heard = interrupt_soon
            with pytest.raises(InjectionFailed) as caught:
                begin()
            server.heard = lambda _: None
            assert caught.value.code == "interrupted"
            downs = server.said.count(down)
            assert caught.value.injected_at_least == 2 * downs < 4000
            injector.release_all()


def test_first_foreign_characters_of_a_new_server_are_not_taken_for_one_another(
    tmp_path: Path,
) -> None:
    with xvnc() as (display, port, _), Terminal.open(display, tmp_path) as terminal:
        injector = DesktopInjector(VncDesktop(VncServer("127.0.0.1", port)))
        for text in ("漢字", "かな"):
            injector.prepare(TypeText(text=text + "."))()
            assert terminal.typed_before(".") == text
        set_layout(display, "us")
        injector.prepare(TypeText(text="ж漢."))()
        assert terminal.typed_before(".") == "ж漢"
        injector.close()
