"""Requests to an X server that python-xlib lacks, or takes too long for.

It lacks those of the X Input Extension that injecting needs: the core protocol tells of five
buttons, and merges what all devices hold.  Layouts of requests and replies: "X11 Input Extension
Protocol Specification", version 1.x.

Those of the hot path are packed by `struct`: python-xlib describes each request as a structure of
fields that is walked anew every time, which takes 20 µs more; an X server that is not busy answers
a round trip in not much more.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from Xlib import Xatom
from Xlib.protocol import rq

EXTENSION = "XInputExtension"

_FAKE_INPUT = struct.Struct("=BBHBB2xII8xhh8x")
_CHANGE_PROPERTY = struct.Struct("=BBHIIIB3xI")
_DELETE_PROPERTY = struct.Struct("=BxHII")
_QUERY_DEVICE_STATE = struct.Struct("=BBHB3x")
_REPLY_HEAD = struct.Struct("=2xH4xB")
_REPLY_BYTES = 32
_MASK_OFFSET, _MASK_BYTES = 4, 32


def request_of(number: int, *fields: rq.Field) -> rq.Struct:
    """The structure of an extension's request by its number."""
    return rq.Struct(rq.Card8("opcode"), rq.Opcode(number), rq.RequestLength(), *fields)


def reply_of(first: rq.Field, *fields: rq.Field) -> rq.Struct:
    """The structure of a reply, whose first field is one byte long."""
    return rq.Struct(rq.ReplyCode(), first, rq.Card16("sequence_number"), rq.ReplyLength(), *fields)


class PackedRequest:
    """A request without a reply, put into python-xlib's queue; errors are reported as ever."""

    def __init__(self, display: Any, binary: bytes) -> None:
        self._binary = binary
        self._serial: int | None = None
        display.send_request(self, False)


def fake_input(display: Any, opcode: int, event_type: int, detail: int) -> None:
    """Have XTEST make an event of a key or button, at once."""
    PackedRequest(display, _FAKE_INPUT.pack(opcode, 2, 9, event_type, detail, 0, 0, 0, 0))


def change_property(display: Any, window: int, name: int, numbers: list[int]) -> None:
    """Replace a window's property by these cardinal numbers."""
    count = len(numbers)
    head = _CHANGE_PROPERTY.pack(18, 0, 6 + count, window, name, Xatom.CARDINAL, 32, count)
    PackedRequest(display, head + struct.pack(f"={count}I", *numbers))


def delete_property(display: Any, window: int, name: int) -> None:
    """Take a property from a window."""
    PackedRequest(display, _DELETE_PROPERTY.pack(19, 3, window, name))


class _PackedQuery:
    @staticmethod
    def to_binary(*, opcode: int, device: int) -> bytes:
        return _QUERY_DEVICE_STATE.pack(opcode, 30, 2, device)


class _UnparsedReply:
    @staticmethod
    def parse_binary(data: Any, *_: Any, **__: Any) -> tuple[dict[str, Any], bytes]:
        sequence_number, class_count = _REPLY_HEAD.unpack_from(data)
        reply = {
            "sequence_number": sequence_number,  # python-xlib looks for it
            "class_count": class_count,
            "content": bytes(data[_REPLY_BYTES:]),
        }
        return reply, b""


class QueryDeviceState(rq.ReplyRequest):
    """X Input's request of that name; the reply has ``class_count`` and ``content``."""

    _request = _PackedQuery
    _reply = _UnparsedReply


class Kind(IntEnum):
    """What of a device can be down; the numbers are the protocol's input classes."""

    KEYS = 0
    BUTTONS = 1


class Use(IntEnum):
    """What a device is for; the first two are those that all others feed."""

    POINTER = 0
    KEYBOARD = 1
    OTHER = 2
    SLAVE_KEYBOARD = 3
    SLAVE_POINTER = 4


@dataclass(frozen=True, slots=True)
class InputDevice:
    """A device of the X server, real or not."""

    id: int
    name: str
    use: int

    @property
    def is_of_xtest(self) -> bool:
        """Whether faked events come from it: the server makes one such keyboard and pointer."""
        return self.name.endswith(("XTEST pointer", "XTEST keyboard"))


class _ListInputDevices(rq.ReplyRequest):
    _request = request_of(2)
    _reply = reply_of(rq.Pad(1), rq.Card8("count"), rq.Pad(23), rq.Binary("content", pad=0))


class DeviceState:
    """What is down on a device: asked for at once, waited for when it is read."""

    def __init__(self, display: Any, opcode: int, device: int) -> None:
        self._request = QueryDeviceState(display=display, defer=True, opcode=opcode, device=device)

    def down(self, kind: Kind) -> frozenset[int]:
        """The keycodes or button numbers that are down; none where the device has no such."""
        self._request.reply()
        content: bytes = self._request.content
        offset = 0
        for _ in range(self._request.class_count):
            found, length = content[offset], content[offset + 1]
            if found == kind:
                mask = content[offset + _MASK_OFFSET :][:_MASK_BYTES]
                return frozenset(_bits(int.from_bytes(mask, "little")))
            offset += length
        return frozenset()


def list_devices(display: Any, opcode: int) -> list[InputDevice]:
    """All devices, such as keyboards that came since: one round trip."""
    reply = _ListInputDevices(display=display, opcode=opcode)
    return parse_devices(bytes(reply.content), reply.count)


def parse_devices(content: bytes, count: int) -> list[InputDevice]:
    """Parse what follows the first 32 bytes of a ListInputDevices reply."""
    heads = [content[start : start + 8] for start in range(0, 8 * count, 8)]
    offset = 8 * count
    for _ in range(sum(head[5] for head in heads)):
        offset += content[offset + 1]
    devices = []
    for head in heads:
        length = content[offset]
        name = content[offset + 1 : offset + 1 + length].decode(errors="replace")
        devices.append(InputDevice(id=head[4], name=name, use=head[6]))
        offset += 1 + length
    return devices


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
