"""A connection to a VNC server: a good one, a plain one, and bad ones, which end only it."""

import gc
import socket
import struct
import threading
import weakref
import zlib
from collections.abc import Callable
from contextlib import closing

import pytest

from machine_client.desktop.base import DesktopError, DesktopLost, InjectionUnavailable
from machine_client.desktop.vnc import connection as module
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.connection import VncConnection
from machine_client.desktop.vnc.desktop import VncDesktop
from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb import clipboard
from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import MoveMouse
from tests.machine_client.desktop.vnc.plain_server import (
    ONE_PIXEL,
    exactly,
    next_message,
    plain_server,
    rectangle,
    server_init,
    shake_hands,
)
from tests.waiting import eventually


def connect(port: int, *pictures: int) -> VncConnection:
    return VncConnection(VncServer("127.0.0.1", port), pictures, told=True)


def refused(port: int) -> str:
    with pytest.raises(InjectionUnavailable) as caught:
        connect(port).close()
    assert f"127.0.0.1:{port}" in str(caught.value)
    return str(caught.value)


def test_server_with_fences_answers_them_and_one_without_is_asked_for_a_pixel(
    vnc: tuple[str, int],
) -> None:
    with closing(connect(vnc[1])) as connection:
        assert connection.said.has_fences
        connection.confirm()
        assert connection.said.unanswered_fences == set()
    with plain_server() as server, closing(connect(server.port)) as connection:
        assert not connection.said.has_fences
        connection.send(ours.key_event(0x61, down=True))
        connection.confirm()
        # What was said before has been read when that returns.
        assert ours.key_event(0x61, down=True) in server.said


def test_nobody_there_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert "cannot be reached: Connection refused" in refused(port)


def test_server_that_says_nothing_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPEN_SECONDS", 0.05)
    end = threading.Event()

    def say_nothing(_connection: socket.socket) -> None:
        end.wait(10)

    with plain_server(talk=say_nothing) as server:
        assert "says nothing, or not enough" in refused(server.port)
        end.set()


def says(data: bytes) -> Callable[[socket.socket], None]:
    """A server that says something at once, and then hears out whatever comes."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(data)
        while connection.recv(4096):
            pass

    return talk


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not begin as a VNC server does"),
        (b"RFB 003.002\n", "too old"),
        (b"RFB 003.008\n\x02\x05\x63", "the security RA2, type 99 alone"),
        (b"RFB 003.008\n\x01\x02", "--vnc-password-file"),
        (b"RFB 003.008\n\x00\x00\x00\x00\x04busy", "does not let us in: busy"),
        (b"RFB 003.008\n\x00\x7f\xff\xff\xff", "a reason of 2147483647 bytes"),
        (b"RFB 003.003\n\x00\x00\x00\x13", "the security nothing alone"),
        (b"RFB 003.008\n\x01\x13\x00\x01", "version 0.1 of VeNCrypt"),
        (b"RFB 003.008\n\x01\x13\x00\x02\x00\x01\x00\x00\x01\x00", "the security Plain alone"),
        (b"RFB 003.008\n\x01\x01\x00\x00\x00\x01\x00\x00\x00\x02no", "does not let us in: no"),
        (b"RFB 003.008\n\x01\x01" + bytes(4) + server_init(65535, 65535), "65535 x 65535 pixels"),
        (b"RFB 003.008\n\x01\x01" + bytes(4) + server_init(0, 9), "0 x 9 pixels"),
        (
            b"RFB 003.008\n\x01\x01" + bytes(4) + server_init()[:20] + b"\xff\xff\xff\xff",
            "a name of 4294967295 bytes",
        ),
    ],
)
def test_server_that_cannot_be_used_is_named_with_the_reason(data: bytes, reason: str) -> None:
    with plain_server(talk=says(data)) as server:
        assert reason in refused(server.port)


BOMB = zlib.compress(bytes(64 * 1024 * 1024), 9)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (rectangle(60, 0, 5, 1, ours.RAW, bytes(20)), "5 x 1 pixels at (60, 0), beyond its screen"),
        (rectangle(0, 47, 1, 2, ours.RAW, bytes(8)), "beyond its screen of 64 x 48"),
        (rectangle(0, 0, 1, 1, 7, b""), "in the encoding 7"),
        (
            rectangle(0, 0, 64, 48, ours.ZLIB, struct.pack(">I", len(BOMB)) + BOMB),
            "bytes for 64 x 48 pixels",
        ),
        (
            rectangle(0, 0, 64, 48, ours.ZLIB, struct.pack(">I", 9000) + BOMB[:9000]),
            "are not 64 x 48 pixels",
        ),
        (rectangle(0, 0, 1, 1, ours.ZLIB, struct.pack(">I", 4) + b"junk"), "cannot be unpacked"),
        (rectangle(0, 0, 60000, 60000, ours.DESKTOP_SIZE, b""), "60000 x 60000 pixels"),
        (b"\x63", "message of the type 99"),
    ],
)
def test_what_must_not_be_believed_ends_the_connection_with_the_reason(
    answer: bytes, reason: str
) -> None:
    with (
        plain_server(ONE_PIXEL, answer) as server,
        closing(connect(server.port, ours.ZLIB)) as connection,
    ):
        for _ in range(2):
            with pytest.raises(DesktopLost) as caught:
                connection.confirm()
            assert reason in str(caught.value)


def test_input_whose_server_goes_mad_fails_truly_and_another_is_opened() -> None:
    bad = rectangle(64, 0, 1, 1, ours.RAW, bytes(4))
    with plain_server(ONE_PIXEL, ONE_PIXEL, bad) as server:
        desktop = VncDesktop(VncServer("127.0.0.1", server.port))
        injector = DesktopInjector(desktop)
        with pytest.raises(InjectionFailed) as caught:
            injector.prepare(MoveMouse(x=1, y=2))()
        assert (caught.value.code, caught.value.injected_at_least) == ("display_lost", 0)
        assert "beyond its screen" in caught.value.message
        assert injector.is_lost
        injector.close()
        again = DesktopInjector(desktop)
        assert again.prepare(MoveMouse(x=1, y=2))().x == 1
        again.close()


def cut_text(length: int, payload: bytes) -> bytes:
    return struct.pack(">Bxxxi", 3, length) + payload


def test_clipboard_of_100_mib_fills_no_memory_and_is_told_as_too_long() -> None:
    length = 100 * 1024 * 1024

    def talk(connection: socket.socket) -> None:
        shake_hands(connection)
        for number in range(3):
            while next_message(connection)[0] != 3:
                pass
            if number == 1:
                connection.sendall(cut_text(length, b""))
                for _ in range(100):
                    connection.sendall(bytes(length // 100))
            connection.sendall(ONE_PIXEL)
        connection.recv(1)

    with plain_server(talk=talk) as server, closing(connect(server.port)) as connection:
        connection.confirm()
        assert connection.said.copied.too_long
        assert len(connection.said._parser._buffer) < 1024 * 1024
        connection.confirm()


def test_clipboard_that_is_a_bomb_is_too_long_or_nothing() -> None:
    long = struct.pack(">I", 2**31) + bytes(64 * 1024 * 1024)
    message = struct.pack(">I", clipboard.PROVIDE | clipboard.TEXT) + zlib.compress(long, 9)
    bomb = cut_text(-len(message), message) + ONE_PIXEL
    with plain_server(ONE_PIXEL, bomb) as server, closing(connect(server.port)) as connection:
        connection.confirm()
        assert connection.said.copied.too_long


def test_server_that_stops_answering_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def talk(connection: socket.socket) -> None:
        shake_hands(connection)
        while next_message(connection)[0] != 3:
            pass
        connection.sendall(ONE_PIXEL)
        exactly(connection, 10_000)

    with plain_server(talk=talk) as server, closing(connect(server.port)) as connection:
        monkeypatch.setattr(connection, "wait_for", _impatient(connection))
        with pytest.raises(DesktopLost, match=r"has not answered for 0\.05 s"):
            connection.confirm()


def _impatient(connection: VncConnection) -> Callable[..., None]:
    wait_for = connection.wait_for
    return lambda comes, _seconds=0: wait_for(comes, 0.05)


def test_server_that_sends_no_pixels_is_said() -> None:
    sizes = [rectangle(0, 0, 64, 48, ours.EXTENDED_DESKTOP_SIZE, bytes(4)) for _ in range(10)]
    with plain_server(ONE_PIXEL, *sizes) as server:
        address = VncServer("127.0.0.1", server.port)
        with closing(VncConnection(address, (ours.RAW,), told=False)) as connection:
            with pytest.raises(DesktopError, match="sends no pixels"):
                connection.ask_for_pixels(everything=True)
            connection.confirm()


def test_nobody_listens_any_more_after_the_end() -> None:
    before = {thread for thread in threading.enumerate() if thread.name == "vnc"}
    with plain_server() as server:
        connection = connect(server.port)
        (listening,) = {each for each in threading.enumerate() if each.name == "vnc"} - before
        connection.close()
        connection.close()
    listening.join(10)
    assert not listening.is_alive()
    with pytest.raises(DesktopLost):
        connection.confirm()


def test_picture_is_let_go_of_with_its_connection_by_no_collector() -> None:
    with plain_server() as server, closing(connect(server.port, ours.RAW)) as connection:
        assert connection.said.canvas is not None
        picture = weakref.ref(connection.said.canvas)
        gc.disable()
        try:
            connection.close()
            eventually(lambda: picture() is None, "the end of the picture")
        finally:
            gc.enable()


def test_event_is_confirmed_once_its_fence_is_answered_and_not_before() -> None:
    asked, may_answer = threading.Event(), threading.Event()

    def talk(connection: socket.socket) -> None:
        shake_hands(connection)
        connection.sendall(struct.pack(">BxxxIB", 248, ours.FENCE_REQUEST, 0))
        moved = False
        while True:
            message = next_message(connection)
            moved = moved or message == ours.pointer_event(0, 1, 2)
            if message[0] == 3 and not message[1]:
                connection.sendall(ONE_PIXEL)
            elif message[0] == 248 and message[8]:
                if moved:
                    asked.set()
                    may_answer.wait(10)
                connection.sendall(message[:4] + bytes(4) + message[8:])

    with plain_server(talk=talk) as server:
        input_ = VncDesktop(VncServer("127.0.0.1", server.port)).open_input()
        input_.move(1, 2)
        waiting = threading.Thread(target=input_.confirm)
        waiting.start()
        assert asked.wait(10)
        assert (input_.confirmed, waiting.is_alive()) == (0, True)
        may_answer.set()
        waiting.join(10)
        assert (input_.confirmed, waiting.is_alive()) == (1, False)
        input_.close()
