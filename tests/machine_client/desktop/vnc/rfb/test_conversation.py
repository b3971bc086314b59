"""What is known of a server after it has said something; bad servers in test_connection."""

import itertools
import struct
import zlib
from typing import Any

import pytest

from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb import clipboard
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


def cut(payload: bytes) -> bytes:
    return struct.pack(">Bxxxi", 3, -len(payload)) + payload


def packed_text(data: bytes) -> bytes:
    """A text as the clipboard's extension provides it, however it unpacks."""
    head = struct.pack(">I", clipboard.PROVIDE | clipboard.TEXT)
    return cut(head + zlib.compress(struct.pack(">I", len(data)) + data))


def painted(*rectangles: tuple[int, int], copied: bool = False, of: int = 1) -> bytes:
    """An update in which ``of`` rectangles of each of these sizes come."""
    encoding = ours.COPY_RECT if copied else ours.RAW
    update = struct.pack(">BxH", 0, len(rectangles) * of)
    for width, height in rectangles:
        pixels = bytes(4 if copied else 4 * width * height)
        update += (struct.pack(">HHHHi", 0, 0, width, height, encoding) + pixels) * of
    return update


LARGE = (8000, 4000)
SMALL = (8, 6)
MANY_SCREENS = screens(*[(0, 0, 8, 6)] * 255)

FLOODS: dict[str, tuple[tuple[int, int], bytes, float]] = {
    "bells": (SMALL, b"\x02", 200_000),
    "fences that ask": (SMALL, struct.pack(">BxxxIB", 248, ours.FENCE_REQUEST, 1) + b"a", 60_000),
    "fences that answer nothing": (SMALL, struct.pack(">BxxxIB", 248, 0, 1) + b"a", 60_000),
    "empty updates": (SMALL, struct.pack(">BxH", 0, 0), 60_000),
    "places of the pointer": (SMALL, rectangle(1, 1, 0, 0, ours.POINTER_POSITION, b""), 40_000),
    "words of QEMU": (SMALL, rectangle(1, 1, 0, 0, ours.KEY_CODES, b""), 40_000),
    "screens": (SMALL, rectangle(0, 0, 8, 6, ours.EXTENDED_DESKTOP_SIZE, MANY_SCREENS), 300),
    "texts": (SMALL, struct.pack(">BxxxI", 3, 1) + b"a", 40_000),
    "long texts": (SMALL, struct.pack(">BxxxI", 3, 2**21) + b"\n" * 2**21, 60),
    "texts that are nothing when unpacked": (SMALL, packed_text(bytes(2**21)), 60),
    "texts of line ends": (SMALL, packed_text(b"\r" * 2**21), 30),
    "texts that are no UTF-8": (SMALL, packed_text(b"\xff" * 2**21), 20),
    "sizes": (
        SMALL,
        rectangle(0, 0, *LARGE, ours.DESKTOP_SIZE, b"")
        + rectangle(0, 0, *SMALL, ours.DESKTOP_SIZE, b""),
        5,
    ),
    "the whole screen, copied": (LARGE, painted(LARGE, copied=True), 4),
    "much of the screen, copied": (LARGE, painted((7999, 4000), copied=True), 4),
    "a column, copied": (LARGE, painted((1, 4000), copied=True), 100),
    "a pixel, painted": (SMALL, painted((1, 1)), 40_000),
    "a column, painted": (LARGE, painted((1, 4000)), 100),
    "all of a small screen, painted": ((800, 600), painted((800, 600)), 400),
}
"""What a server could keep a processor busy with: on a screen of which size, what it says again and
again, and how often in a second a slow processor gets through that."""

SECONDS_OF_A_FLOOD = 6


def flooded(size: tuple[int, int], said: bytes, rate: float, asked: int = 0) -> None:
    """Have a server say something for some seconds, as quickly as that can be read."""
    moment = 0.0
    listening = Conversation(Credentials(), (ours.COPY_RECT, ours.RAW), lambda: moment)
    listening.receive(GREETING[: -len(server_init(*SMALL))] + server_init(*size))
    for _ in range(round(SECONDS_OF_A_FLOOD * rate)):
        if asked:
            listening.asked_for_updates(asked)
        listening.receive(said)
        listening.take_outgoing()
        moment += 1 / rate


@pytest.mark.parametrize("kind", FLOODS)
def test_server_that_says_too_much_unasked_is_heard_no_more(kind: str) -> None:
    with pytest.raises(ProtocolError, match="a server may say unasked"):
        flooded(*FLOODS[kind])


def test_answer_is_bounded_too() -> None:
    with pytest.raises(ProtocolError, match="a server may say unasked"):
        flooded(SMALL, painted((1, 1), of=60_000), 1, asked=1)


def test_answers_to_requests_are_heard() -> None:
    flooded((800, 600), painted((800, 600)), 30, asked=1)


def test_text_of_ours_is_not_packed_again_and_again() -> None:
    said = opened()
    said.offered = "x" * 2**20
    with pytest.raises(ProtocolError, match="a server may say unasked"):
        said.receive(cut(clipboard.request()) * 40)


@pytest.mark.parametrize("encoding", [ours.COPY_RECT, ours.ZLIB])
def test_pixels_in_an_encoding_that_was_not_offered_are_not_read(encoding: int) -> None:
    said = opened()
    with pytest.raises(ProtocolError, match=f"in the encoding {encoding}, which was not asked for"):
        said.receive(rectangle(0, 0, 1, 1, encoding, bytes(4)))


def test_server_that_is_busy_for_long_is_heard() -> None:
    moments = itertools.count(0.0, 1 / 1000)
    said = Conversation(Credentials(), (), lambda: next(moments))
    said.receive(GREETING)
    for number in range(10_000):
        payload = b"%d" % number
        said.unanswered_fences.add(payload)
        said.asked_for_updates(1)
        said.receive(struct.pack(">BxxxIB", 248, 0, len(payload)) + payload)
        said.receive(rectangle(1, 1, 0, 0, ours.POINTER_POSITION, b""))
        said.receive(rectangle(0, 0, 8, 6, ours.RAW, bytes(4 * 8 * 6)))
    assert said.painted == 10_000


def test_colours_bells_and_ends_of_updates_say_nothing() -> None:
    said = opened()
    said.receive(b"\x02\x96" + struct.pack(">BxHH", 1, 0, 2) + bytes(12))
    said.receive(rectangle(0, 0, 1, 1, ours.RAW, bytes(4)))
    assert said.updates == 1


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
