"""Streams of server-sent events, cut anywhere."""

import pytest

from farhand._events import MAX_EVENT_BYTES, EventDecoder
from farhand.errors import NotFarhand

STREAM = (
    b"retry: 1000\nid: 7-1\n\n"
    b': a comment\r\nid: 7-2\r\nevent: command\r\ndata: {"a":\r\ndata: 1}\r\n\r\n'
    b"event: reset\ndata:{}\n\nid: 7-9\n\ndata: 1"
)


@pytest.mark.parametrize("size", [1, 2, 7, len(STREAM)])
def test_events_are_the_same_however_they_are_cut(size: int) -> None:
    decoder = EventDecoder()
    pieces = (STREAM[start : start + size] for start in range(0, len(STREAM), size))
    events = [event for piece in pieces for event in decoder.feed(piece)]
    assert [(each.id, each.type, each.data) for each in events] == [
        ("7-2", "command", {"a": 1}),
        ("7-2", "reset", {}),
    ]
    assert decoder.last_id == "7-9"


@pytest.mark.parametrize(
    "stream", [b"data: <html>\n\n", b"x" * (MAX_EVENT_BYTES + 1), b"data: aaaaaaaa\n" * 200_000]
)
def test_what_is_no_such_stream_is_seen(stream: bytes) -> None:
    with pytest.raises(NotFarhand, match=r"stream of events|not JSON"):
        list(EventDecoder().feed(stream))
