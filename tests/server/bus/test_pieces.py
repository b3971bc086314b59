import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bus.pieces import MAX_HEADER_BYTES, PIECE_BYTES, pieces_of, place_of


@given(st.integers(1, 5 * PIECE_BYTES))
def test_pieces_are_the_message(size: int) -> None:
    message = bytes(size)
    pieces = list(pieces_of(message))
    assert b"".join(piece for _, piece in pieces) == message
    assert all(0 < len(piece) <= PIECE_BYTES for _, piece in pieces)
    places = [place_of(header) for header, _ in pieces]
    assert places == [(number, len(pieces)) for number in range(1, len(pieces) + 1)]


def test_no_header_is_longer_than_is_promised() -> None:
    header = b"NATS/1.0\r\nFarhand-Piece: 99999/99999\r\n\r\n"
    assert place_of(header) == (99999, 99999)
    assert len(header) <= MAX_HEADER_BYTES


@pytest.mark.parametrize("place", ["0/1", "1/0", "-1/2", "1", "1/2/3", "a/b", "1/100000", "01/2"])
def test_header_that_says_no_place_is_none(place: str) -> None:
    assert place_of(f"NATS/1.0\r\nFarhand-Piece: {place}\r\n\r\n".encode()) is None
    assert place_of(b"NATS/1.0 503\r\n\r\n") is None
