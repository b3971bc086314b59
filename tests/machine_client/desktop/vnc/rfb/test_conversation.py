"""What is known of a server after it has said something; bad servers in test_connection."""

import itertools
import struct
from typing import Any

import pytest

from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb import clipboard, noise
from machine_client.desktop.vnc.rfb.conversation import Conversation, Screen
from machine_client.desktop.vnc.rfb.parsing import ProtocolError
from machine_client.desktop.vnc.rfb.security import Credentials
from tests.machine_client.desktop.vnc.plain_server import rectangle, server_init

GREETING = b"RFB 003.008\n\x01\x01" + bytes(4) + server_init(8, 6)


def opened(*pictures: int) -> Conversation:
    said = Conversation(Credentials(), pictures, lambda: 0.0)
    said.receive(GREETING)
    assert said.take_outgoing().startswith(b"RFB 003.008\n\x01\x01")
    return said


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_greeting_in_pieces_opens(size: int) -> None:
    said = Conversation(Credentials(), (ours.RAW,), lambda: 0.0)
    assert not said.is_open
    for begin in range(0, len(GREETING), size):
        said.receive(GREETING[begin : begin + size])
    assert said.is_open
    assert said.take_outgoing().endswith(ours.PIXELS + ours.encodings((ours.RAW,)))
    assert (said.size, said.screens) == ((8, 6), (Screen(0, 0, 8, 6),))


def test_pixels_are_kept_where_somebody_looks_and_counted_in_any_case() -> None:
    pixels = bytes(range(48))
    for said in (opened(ours.RAW), opened()):
        said.receive(rectangle(1, 2, 4, 3, ours.RAW, pixels))
        assert (said.updates, said.painted) == (1, 1)
        assert said.canvas is None or said.canvas.cut(1, 2, 4, 3) == pixels


def test_update_can_end_before_its_number_of_rectangles() -> None:
    said = opened()
    said.receive(struct.pack(">BxHHHHHi", 0, 0xFFFF, 0, 0, 0, 0, ours.LAST_RECT))
    assert said.updates == 1


def screens(*each: tuple[int, int, int, int]) -> bytes:
    told = b"".join(struct.pack(">IHHHHI", 7, *screen, 0) for screen in each)
    return bytes((len(each), 0, 0, 0)) + told


def test_size_and_screens_change_and_those_beyond_it_are_not_believed() -> None:
    said: Any = opened(ours.RAW)
    said.canvas_is_new = False
    told = screens((0, 0, 10, 9), (10, 0, 10, 9), (19, 0, 2, 9), (0, 0, 0, 9))
    said.receive(rectangle(0, 0, 20, 9, ours.EXTENDED_DESKTOP_SIZE, told))
    assert said.screens == (Screen(0, 0, 10, 9), Screen(10, 0, 10, 9))
    assert (said.size, said.canvas_is_new) == ((20, 9), True)
    said.receive(rectangle(1, 3, 5, 5, ours.EXTENDED_DESKTOP_SIZE, screens((0, 0, 5, 5))))
    assert said.size == (20, 9)
    said.receive(rectangle(0, 0, 5, 5, ours.DESKTOP_SIZE, b""))
    assert said.screens == (Screen(0, 0, 5, 5),)
    assert said.painted == 0


@pytest.mark.parametrize("encoding", [ours.POINTER_POSITION, ours.CURSOR_POSITION])
def test_pointer_is_where_the_server_says(encoding: int) -> None:
    said: Any = opened()
    assert said.pointer_told == 0
    said.receive(rectangle(3, 4, 0, 0, encoding, b""))
    assert said.pointer == (3, 4)
    assert said.pointer_told == 1


def test_fences_are_answered_and_ours_are_heard() -> None:
    said = opened()
    said.receive(struct.pack(">BxxxIB", 248, ours.FENCE_REQUEST | 0b1011, 3) + b"abc")
    assert said.take_outgoing() == ours.fence(0b011, b"abc")
    assert said.has_fences
    said.unanswered_fences |= {b"me", b"you"}
    for payload in (b"me", b"nobody's"):
        said.receive(struct.pack(">BxxxIB", 248, 1, len(payload)) + payload)
    assert said.unanswered_fences == {b"you"}


FLOODS = {
    "bells": b"\x02",
    "fences that ask": struct.pack(">BxxxIB", 248, ours.FENCE_REQUEST, 1) + b"a",
    "fences that answer nothing": struct.pack(">BxxxIB", 248, 0, 1) + b"a",
    "empty updates": struct.pack(">BxH", 0, 0),
    "places of the pointer": rectangle(1, 1, 0, 0, ours.POINTER_POSITION, b""),
    "words of QEMU": rectangle(1, 1, 0, 0, ours.KEY_CODES, b""),
    "texts": struct.pack(">BxxxI", 3, 1) + b"a",
    "sizes": rectangle(0, 0, 8000, 4000, ours.DESKTOP_SIZE, b"")
    + rectangle(0, 0, 8, 6, ours.DESKTOP_SIZE, b""),
}


@pytest.mark.parametrize("kind", FLOODS)
def test_server_that_says_too_much_unasked_is_heard_no_more(kind: str) -> None:
    said = opened()
    with pytest.raises(ProtocolError, match="a server may say unasked"):
        said.receive(FLOODS[kind] * (noise.BURST + 1))
    assert not said.unanswered_fences


def test_server_that_is_busy_for_long_is_heard() -> None:
    moments = itertools.count(0.0, 1 / 1000)
    said = Conversation(Credentials(), (), lambda: next(moments))
    said.receive(GREETING)
    for number in range(10_000):
        payload = b"%d" % number
        said.unanswered_fences.add(payload)
        said.receive(struct.pack(">BxxxIB", 248, 0, len(payload)) + payload)
        said.receive(FLOODS["places of the pointer"])
        said.receive(rectangle(0, 0, 8, 6, ours.RAW, bytes(4 * 8 * 6)))
    assert said.painted == 10_000


def test_colours_bells_and_ends_of_updates_say_nothing() -> None:
    said = opened()
    said.receive(b"\x02\x96" + struct.pack(">BxHH", 1, 0, 2) + bytes(12))
    said.receive(rectangle(0, 0, 1, 1, ours.RAW, bytes(4)))
    assert said.updates == 1


def cut(payload: bytes) -> bytes:
    return struct.pack(">Bxxxi", 3, -len(payload)) + payload


def test_old_clipboard_is_latin_1() -> None:
    said: Any = opened()
    said.offered = "ours"
    said.receive(struct.pack(">BxxxI", 3, 4) + b"\xe9\r\nx")
    assert (said.copied.text, said.copied.changes, said.offered) == ("é\nx", 1, None)


def test_extended_clipboard_is_asked_and_answered() -> None:
    said: Any = opened()
    said.receive(cut(clipboard.our_capabilities()))
    assert said.has_extended_clipboard
    assert said.take_outgoing() == ours.extended_cut_text(clipboard.our_capabilities())
    said.receive(cut(clipboard.request()))
    assert said.take_outgoing() == b""
    said.offered = "漢"
    said.receive(cut(clipboard.request()))
    assert said.take_outgoing() == ours.extended_cut_text(clipboard.provide("漢"))
    said.receive(cut(struct.pack(">I", clipboard.PEEK)))
    assert said.take_outgoing() == ours.extended_cut_text(clipboard.notify(has_text=True))
    said.receive(cut(clipboard.provide("asked for before")))
    assert said.offered == "漢"
    said.receive(cut(clipboard.notify(has_text=True)))
    assert (said.offered, said.copied.is_waiting) == (None, True)
    said.receive(cut(clipboard.provide("theirs")))
    assert (said.copied.text, said.copied.is_waiting) == ("theirs", False)
    said.receive(cut(clipboard.notify(has_text=False)))
    assert (said.copied.text, said.copied.changes) == ("", 3)


def test_qemu_tells_what_its_mouse_is_and_that_it_has_read_which_answers_no_request() -> None:
    said = opened()
    assert (said.is_qemu, said.mouse_knows_places) == (False, True)
    said.receive(rectangle(0, 0, 8, 6, ours.POINTER_KIND, b""))
    assert (said.is_qemu, said.mouse_knows_places) == (True, False)
    said.receive(rectangle(1, 0, 8, 6, ours.POINTER_KIND, b""))
    assert said.mouse_knows_places
    said.receive(rectangle(0, 0, 8, 6, ours.KEY_CODES, b""))
    assert (said.encodings_answered, said.updates) == (1, 0)
