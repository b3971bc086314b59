"""The two requests of the X Input Extension that injecting needs; python-xlib lacks them.

The core protocol tells of five buttons, and merges what all devices hold.  Layouts of the requests
and replies: "X11 Input Extension Protocol Specification", version 1.x.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from Xlib.protocol import rq

from machine_client.desktop.x11.packed import QueryDeviceState

EXTENSION = "XInputExtension"

_MASK_OFFSET, _MASK_BYTES = 4, 32


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
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(2), rq.RequestLength())
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Pad(1),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Card8("count"),
        rq.Pad(23),
        rq.Binary("content", pad=0),
    )


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
