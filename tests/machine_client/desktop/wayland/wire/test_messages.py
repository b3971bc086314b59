"""Messages as bytes, and back."""

import struct

import pytest

from machine_client.desktop.wayland.wire.messages import (
    Interface,
    WireError,
    header,
    packed,
    unpacked,
)


def no_descriptor() -> int:
    raise WireError("none")


def test_interface_is_declared_by_its_messages_in_order() -> None:
    thing = Interface.declared("thing", "move:uff frame", "offer:s data:n=gift")
    assert thing.numbers == {"move": 0, "frame": 1}
    assert thing.requests[0].arguments == "uff"
    assert (thing.events[1].name, thing.events[1].creates) == ("data", "gift")


def test_message_is_words_in_the_machines_order() -> None:
    data = packed(7, 3, "iufsoh", (-1, 2, -1.5, "ab", 9, 5))
    assert data == struct.pack("=IHHiIiI4sI", 7, 3, 32, -1, 2, -384, 3, b"ab\0\0", 9)
    assert header(data, 0) == (7, 3, 32)


def test_message_is_read_as_it_was_written() -> None:
    values = (-5, 6, 2.25, "ä漢", None, b"12345", 8)
    data = packed(1, 0, "iufssao", values)
    assert tuple(unpacked("iufssao", data, 8, len(data), no_descriptor)) == values


def test_descriptors_come_beside_the_bytes() -> None:
    data = packed(1, 0, "shu", ("a", 12, 3))
    assert unpacked("shu", data, 8, len(data), lambda: 44) == ["a", 44, 3]


@pytest.mark.parametrize("size", [0, 4, 7, 13])
def test_length_that_no_message_has_is_an_error(size: int) -> None:
    with pytest.raises(WireError):
        header(struct.pack("=IHH", 1, 0, size), 0)


@pytest.mark.parametrize(
    ("arguments", "body"),
    [("u", b""), ("uu", b"1234"), ("s", struct.pack("=I", 2**31)), ("a", struct.pack("=II", 9, 0))],
)
def test_event_that_ends_too_early_is_an_error(arguments: str, body: bytes) -> None:
    with pytest.raises(WireError):
        unpacked(arguments, body, 0, len(body), no_descriptor)


def test_values_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(ValueError, match="2 arguments"):
        packed(1, 0, "uu", (1,))
    with pytest.raises(ValueError, match="longer"):
        packed(1, 0, "s", ("x" * 70_000,))
