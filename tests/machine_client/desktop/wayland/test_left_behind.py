"""What a client that died had pressed is found by the next one, and by nobody else."""

import os
from pathlib import Path

from machine_client.desktop.wayland.left_behind import LeftBehind


def died(record: LeftBehind) -> None:
    """What a kill does: the file is closed, and stays as it is."""
    assert record._file is not None
    os.close(record._file)
    record._file = None


def test_what_was_held_is_found_once(tmp_path: Path) -> None:
    socket = tmp_path / "wayland-1"
    socket.touch()
    first = LeftBehind(str(socket))
    assert first.found == frozenset()
    first.write(["left", "right"])
    died(first)
    second = LeftBehind(str(socket))
    assert second.found == {"left", "right"}
    died(second)  # before it could release anything
    third = LeftBehind(str(socket))
    assert third.found == {"left", "right"}
    third.write([])
    died(third)
    assert LeftBehind(str(socket)).found == frozenset()


def test_what_a_living_client_holds_is_its_own(tmp_path: Path) -> None:
    socket = tmp_path / "wayland-1"
    socket.touch()
    first, second = LeftBehind(str(socket)), None
    first.write(["left"])
    second = LeftBehind(str(socket))
    assert second.found == frozenset()
    second.write(["middle"])
    died(second)
    died(first)
    third = LeftBehind(str(socket))
    assert third.found == {"left", "middle"}
    third.close(is_released=True)
    third.close(is_released=True)
    assert LeftBehind(str(socket)).found == frozenset()


def test_another_compositor_at_the_same_place_has_nothing_pressed(tmp_path: Path) -> None:
    socket = tmp_path / "wayland-1"
    socket.touch()
    first = LeftBehind(str(socket))
    first.write(["left"])
    died(first)
    (tmp_path / "another").touch()
    (tmp_path / "another").rename(socket)
    assert LeftBehind(str(socket)).found == frozenset()


def test_where_no_record_can_be_kept_the_rest_works(tmp_path: Path) -> None:
    record = LeftBehind(str(tmp_path / "no" / "such" / "place"))
    record.write(["left"])
    assert record.found == frozenset()
    record.close(is_released=True)
