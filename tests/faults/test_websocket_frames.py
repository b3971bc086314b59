"""What the fault proxy sees of a websocket, with frames that the real library makes."""

import json

import pytest
from websockets.frames import Frame, Opcode

from tests.faults.websocket_frames import FrameReader

HEAD = b"GET /v1/machines/connect HTTP/1.1\r\nHost: here\r\n\r\n"
LENGTHS = [0, 1, 90, 125, 126, 4000, 65535, 65536, 200_000]


def message(name: str, length: int = 0) -> bytes:
    return json.dumps({"type": name, "filler": "x" * length}).encode()


def frame(payload: bytes, *, mask: bool, opcode: Opcode = Opcode.TEXT, fin: bool = True) -> bytes:
    return Frame(opcode, payload, fin).serialize(mask=mask)


def reader_after_head() -> FrameReader:
    reader = FrameReader()
    assert [piece.name for piece in reader.feed(HEAD)] == ["head"]
    return reader


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("length", LENGTHS)
def test_message_of_any_length_is_named_by_its_type(length: int, *, mask: bool) -> None:
    data = frame(message("input", length), mask=mask)
    (piece,) = reader_after_head().feed(data)
    assert (piece.name, piece.data) == ("input", data)


@pytest.mark.parametrize("mask", [True, False])
def test_stream_in_any_cut_comes_out_as_it_came_in(*, mask: bool) -> None:
    frames = [frame(message(name, 130), mask=mask) for name in ("welcome", "input", "resolve")]
    frames.append(frame(b"", mask=mask, opcode=Opcode.PING))
    stream = HEAD + b"".join(frames)
    for step in (1, 7, 100, len(stream)):
        reader = FrameReader()
        pieces = [
            piece
            for start in range(0, len(stream), step)
            for piece in reader.feed(stream[start : start + step])
        ]
        assert [piece.name for piece in pieces] == ["head", "welcome", "input", "resolve", "ping"]
        assert b"".join(piece.data for piece in pieces) == stream


def test_message_in_fragments_is_named_at_its_last() -> None:
    text = message("report", 50)
    reader = reader_after_head()
    pieces = [
        *reader.feed(frame(text[:20], mask=True, fin=False)),
        *reader.feed(frame(b"", mask=True, opcode=Opcode.PONG)),
        *reader.feed(frame(text[20:], mask=True, opcode=Opcode.CONT)),
    ]
    assert [piece.name for piece in pieces] == ["", "pong", "report"]


def test_what_is_no_message_has_no_name() -> None:
    reader = reader_after_head()
    for payload in (b"not JSON", b'["type"]', b'{"type": 5}', b"\xff"):
        (piece,) = reader.feed(frame(payload, mask=True, opcode=Opcode.BINARY))
        assert piece.name == ""


def test_close_is_named() -> None:
    closing = frame(b"\x0f\xa0bye", mask=False, opcode=Opcode.CLOSE)
    assert [piece.name for piece in reader_after_head().feed(closing)] == ["close"]
