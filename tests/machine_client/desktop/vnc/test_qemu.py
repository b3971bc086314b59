"""What QEMU's own VNC server makes of keys and places, as the machine behind it has them."""

import itertools
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from machine_client.desktop.base import InjectionUnavailable, Refusal
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from machine_client.desktop.vnc.input import NO_PLACES
from machine_client.desktop.vnc.keyboard import TAKEN_FOR_OTHERS
from machine_client.desktop.vnc.qemu import KeyQueue, check_keys
from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import ClickMouse, MoveMouse, PressKeys, ScrollMouse, TypeText
from schemas.inputs.key_combinations import KEY_TABLE, parse_combination
from schemas.inputs.texts import chords_of
from schemas.values.pictures import Size
from tests.certificates import self_signed
from tests.machine_client.desktop.contract.rig import pixel, saw
from tests.machine_client.desktop.vnc.qemu import PAINTED, RED, SIZE, Qemu, qemu
from tests.waiting import eventually

ASCII = "".join(map(chr, range(0x20, 0x7F)))
DROPPED = {"break", "help", "undo", "redo", "find", "cancel", *(f"f{n}" for n in range(13, 25))}
ELSEWHERE = ("volume_", "media_", "browser_")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Qemu]:
    with qemu(tmp_path_factory.mktemp("qemu")) as machine:
        yield machine


@pytest.fixture
def injector(machine: Qemu) -> Iterator[DesktopInjector]:
    with closing(DesktopInjector(VncDesktop(VncServer("127.0.0.1", machine.port)))) as injector:
        machine.take()
        yield injector


MARKS = itertools.count()


def mark(machine: Qemu, injector: DesktopInjector) -> str:
    """Type something that was never typed before; all that the program has read, up to that."""
    typed = f"#{next(MARKS)}"
    injector.prepare(TypeText(text=f"{typed}\n"))()
    eventually(lambda: machine.typed().endswith(f"{typed}\r") or None, "the program has read it")
    return machine.typed().removesuffix(f"{typed}\r")


def test_each_event_in_the_queue_has_its_time_and_an_answer_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: done.append(f"{seconds} s"))
    queue = KeyQueue(lambda: done.append("answer"))
    queue.drain()
    assert done == []
    queue.note()
    queue.note()
    queue.drain()
    queue.drain()
    assert done == ["0.01 s", "answer"] * 2


@pytest.mark.parametrize("text", ["\uff1b", "\uff08", "\U00010041", "\u06c1"])
def test_character_that_would_press_another_key_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_keys(chords_of("a" + text))
    assert caught.value.outcome.code == "character_not_typeable"


def test_key_that_would_press_another_one_or_none_is_refused_and_all_others_are_not() -> None:
    for key in KEY_TABLE:
        if key.name in DROPPED or key.name.startswith(ELSEWHERE):
            with pytest.raises(Refusal) as caught:
                check_keys(parse_combination(key.name))
            assert caught.value.outcome.code == "key_not_typeable"
        else:
            check_keys(parse_combination(key.name))
    check_keys(chords_of(ASCII + "äЖ漢€"))


def test_keys_arrive_by_their_names_or_are_refused(
    machine: Qemu, injector: DesktopInjector
) -> None:
    names = [
        *(key.name for key in KEY_TABLE if key.character is None or key.name == "space"),
        *("caps_lock", "num_lock", "scroll_lock"),
    ]
    lacks = {*DROPPED, *TAKEN_FOR_OTHERS}
    refused = [name for name in names if name in lacks or name.startswith(ELSEWHERE)]
    for name in refused:
        with pytest.raises(Refusal):
            injector.prepare(PressKeys(text=name))
    sent = [name for name in names if name not in refused]
    injector.prepare(PressKeys(text=" ".join(sent)))()
    pressed = [name for each in machine.take() if each.action == "down" for name in each.names]
    arrived = ["alt_r" if name == "altgr" else name for name in sent]
    # It changes NumLock itself as well, as the keypad asks for.
    without = [name for name in pressed if name != "num_lock"]
    assert without == [name for name in arrived if name != "num_lock"]
    assert machine.held() == frozenset()


def test_text_longer_than_its_queue_arrives_whole_and_before_the_click_after_it(
    machine: Qemu, injector: DesktopInjector
) -> None:
    mark(machine, injector)
    before = len(machine.typed())
    text = ASCII + "LOST:" * 10
    injector.prepare(TypeText(text=text + "\n"))()
    injector.prepare(ClickMouse(x=9, y=9))()
    saw(machine.take()[-4:], "up enter", "move", "down left", "up left")
    eventually(lambda: machine.typed().endswith("\r") or None, "the program has read the end")
    assert machine.typed()[before:] == text + "\r"


def test_what_its_keyboard_lacks_is_pressed_as_nothing(
    machine: Qemu, injector: DesktopInjector
) -> None:
    mark(machine, injector)
    before = machine.typed()
    machine.take()
    injector.prepare(TypeText(text="漢é"))()
    assert injector.effect == "delivered"
    names = {name for each in machine.take() for name in each.names}
    assert names == {"shift", "unmapped"}
    assert mark(machine, injector) == before


def test_mouse_that_takes_steps_is_not_used_until_it_knows_places_again(
    machine: Qemu, injector: DesktopInjector
) -> None:
    injector.prepare(ClickMouse(x=20, y=30, down=True))()
    injector.prepare(PressKeys(text="ctrl+s"))()
    eventually(lambda: (machine.seen(), not machine.knows_places)[1] or None, "steps")
    machine.take()
    for body in (MoveMouse(x=1, y=1), ClickMouse(), ScrollMouse(direction="up", amount=1)):
        with pytest.raises(InjectionFailed) as caught:
            injector.prepare(body)()
        assert caught.value.code == "pointer_unavailable"
        assert "usb-tablet" in caught.value.message
    injector.release_all()
    saw(machine.take(), "up left")
    assert NO_PLACES in VncDesktop(VncServer("127.0.0.1", machine.port)).checks()[1].look()
    again = DesktopInjector(VncDesktop(VncServer("127.0.0.1", machine.port)))
    again.prepare(PressKeys(text="x"))()
    again.close()
    saw(machine.take(), "down x", "up x")
    assert machine.steps == []
    injector.prepare(PressKeys(text="ctrl+q"))()
    eventually(lambda: (machine.seen(), machine.knows_places)[1] or None, "places")
    machine.take()
    injector.prepare(MoveMouse(x=40, y=50))()
    assert machine.pointer() == (40, 50)


def test_picture_is_what_it_shows_and_follows_its_size(
    machine: Qemu, injector: DesktopInjector
) -> None:
    with closing(VncDesktop(VncServer("127.0.0.1", machine.port)).open_view()) as view:
        first = view.capture()
        assert first.size == Size(*SIZE)
        injector.prepare(TypeText(text="seen"))()
        eventually(lambda: view.capture().pixels != first.pixels or None, "a text on it")
        injector.prepare(PressKeys(text="ctrl+p"))()
        painted = Size(*PAINTED)
        eventually(lambda: view.capture().size == painted or None, "another size")
        eventually(lambda: pixel(view.capture(), 639, 399) == RED or None, "it is painted")
        assert {pixel(view.capture(), x, y) for x, y in ((0, 0), (320, 200), (639, 0))} == {RED}
        (display,) = injector.displays()
        assert (display.width, display.height) == PAINTED
        with pytest.raises(Refusal):
            injector.prepare(MoveMouse(x=700, y=1))


PASSWORD = ",password=on"


@pytest.mark.parametrize(
    ("options", "vnc", "encrypts"),
    [
        ((), PASSWORD, False),
        (("-object", "tls-creds-anon,id=tls,endpoint=server"), ",tls-creds=tls", True),
        (("-object", "tls-creds-anon,id=tls,endpoint=server"), PASSWORD + ",tls-creds=tls", True),
        (
            (
                "-object",
                "tls-creds-x509,id=tls,endpoint=server,dir=.,verify-peer=off,sanity-check=off",
            ),
            PASSWORD + ",tls-creds=tls",
            True,
        ),
    ],
    ids=["password", "TLS", "TLS and password", "certificate and password"],
)
def test_password_and_tls_let_in(
    tmp_path: Path, options: tuple[str, ...], vnc: str, encrypts: bool
) -> None:
    certificate, key = self_signed(tmp_path)
    for name, file in (("server-key", key), ("server-cert", certificate), ("ca-cert", certificate)):
        (tmp_path / f"{name}.pem").write_bytes(file.read_bytes())
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / "wrong").write_text("Secret\n")
    with qemu(tmp_path, *options, vnc=vnc) as machine:

        def injector(password: str) -> DesktopInjector:
            file = tmp_path / password
            server = VncServer("127.0.0.1", machine.port, file, certificate)
            return DesktopInjector(VncDesktop(server))

        if PASSWORD in vnc:
            machine.tell("set_password", protocol="vnc", password="secret")
            with pytest.raises(InjectionUnavailable, match="does not let us in"):
                injector("wrong")
        with closing(injector("password")) as let_in:
            let_in.prepare(PressKeys(text="A"))()
            saw(machine.take()[-4:], "down shift", "down a", "up a", "up shift")
            desktop_input = let_in._input
            tls = desktop_input._connection._channel._tls  # type: ignore[attr-defined]
            assert (tls is not None) == encrypts
