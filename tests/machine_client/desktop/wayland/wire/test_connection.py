"""One connection: objects, events, and every way in which a compositor can break it off."""

import socket
import struct
from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopLost, InjectionUnavailable
from machine_client.desktop.wayland.wire import connection as connection_module
from machine_client.desktop.wayland.wire.connection import WaylandConnection, socket_path
from machine_client.desktop.wayland.wire.protocols import CALLBACK, KEYBOARD
from tests.machine_client.desktop.wayland.compositor import Sway, sway
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor


def test_socket_is_found_by_name_by_path_and_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert socket_path(None) == "/run/user/7/wayland-0"
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-3")
    assert socket_path(None) == "/run/user/7/wayland-3"
    assert socket_path("wayland-5") == "/run/user/7/wayland-5"
    assert socket_path("/somewhere/else") == "/somewhere/else"
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    with pytest.raises(InjectionUnavailable, match="XDG_RUNTIME_DIR"):
        socket_path("wayland-5")


def test_where_nobody_listens_there_is_no_connection(tmp_path: Path) -> None:
    with pytest.raises(InjectionUnavailable, match="No such file"):
        WaylandConnection(str(tmp_path / "none"))


def test_objects_are_used_again_and_do_not_grow_in_number(compositor: Sway) -> None:
    connection = WaylandConnection(compositor.name)
    for _ in range(50):
        connection.round_trip()
    assert connection.create(CALLBACK).id <= 5
    connection.close()


def test_compositor_that_ends_is_lost_from_then_on(fake: FakeCompositor) -> None:
    connection = WaylandConnection(fake.name)
    connection.round_trip()
    fake.close()
    for call in (connection.round_trip, connection.hear, connection.flush):
        with pytest.raises(DesktopLost, match="ended"):
            call()
    connection.close()
    connection.close()


def test_compositor_that_refuses_says_why(fake: FakeCompositor) -> None:
    connection = WaylandConnection(fake.name)
    connection.round_trip()
    fake.refuse("not you")
    for _ in range(2):
        with pytest.raises(DesktopLost, match="refused a request to wl_registry: not you"):
            connection.round_trip()
    connection.close()


def test_real_compositor_that_refuses_says_why(compositor: Sway) -> None:
    connection = WaylandConnection(compositor.name)
    connection.send(connection.create(KEYBOARD), "destroy")
    with pytest.raises(DesktopLost, match="invalid object"):
        connection.round_trip()
    connection.close()


@pytest.mark.parametrize(
    "nonsense",
    [
        struct.pack("=IHH", 1, 0, 3),
        struct.pack("=IHHI", 1, 0, 12, 5),
        struct.pack("=IHHII", 2, 9, 16, 5, 5),
        struct.pack("=IHHIII", 1, 0, 20, 1, 1, 2**32 - 1),
    ],
)
def test_bytes_that_are_no_message_end_the_connection(
    fake: FakeCompositor, nonsense: bytes
) -> None:
    connection = WaylandConnection(fake.name)
    connection.round_trip()
    fake.send(nonsense)
    with pytest.raises(DesktopLost, match="no message"):
        connection.round_trip()
    connection.close()


def test_event_of_an_object_that_nobody_knows_is_nothing(fake: FakeCompositor) -> None:
    connection = WaylandConnection(fake.name)
    connection.round_trip()
    fake.tell(4711, 3, b"12345678")
    connection.round_trip()
    connection.close()


def test_waiting_ends_in_time_and_says_that_it_was_in_vain(fake: FakeCompositor) -> None:
    connection = WaylandConnection(fake.name)
    assert not connection.wait_for(lambda: False, 0.05)
    connection.close()


def test_descriptors_are_not_left_open(compositor: Sway) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        connection = WaylandConnection(compositor.name)
        connection.round_trip()
        connection.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_compositor_that_does_not_answer_is_given_up_and_finds_nothing_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with sway() as compositor:
        connection = WaylandConnection(compositor.name)
        connection.round_trip()
        compositor.freeze()
        monkeypatch.setattr(connection_module, "ANSWER_SECONDS", 0.2)
        for _ in range(2):
            with pytest.raises(DesktopLost, match=r"has not answered for 0\.2 s"):
                connection.round_trip()
        assert connection.is_lost
        compositor.thaw()
        connection.close()


def test_compositor_that_lets_nobody_in_is_not_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "full")
    with socket.socket(socket.AF_UNIX) as full, socket.socket(socket.AF_UNIX) as first:
        full.bind(path)
        full.listen(0)
        first.connect(path)
        with pytest.raises(InjectionUnavailable, match="cannot be opened"):
            WaylandConnection(path)


def test_compositor_that_takes_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "ANSWER_SECONDS", 0.2)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "deaf"))
        deaf.listen()
        connection = WaylandConnection(str(tmp_path / "deaf"))
        keyboard = connection.create(KEYBOARD)
        for _ in range(200_000):
            connection.send(keyboard, "modifiers", 0, 0, 0, 0)
        with pytest.raises(DesktopLost, match="has not answered"):
            connection.flush()
        connection.close()
