"""A stream in pieces of any size is the same conversation."""

import pytest

from machine_client.desktop.vnc.rfb.parsing import Parser, ProtocolError, Skip, StartTls, Steps


def listen(heard: list[bytes]) -> Steps:
    heard.append((yield 3))
    yield Skip(5)
    heard.append((yield 0))
    while True:
        heard.append((yield 2))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pieces_do_not_matter_and_what_is_skipped_is_not_heard(size: int) -> None:
    heard: list[bytes] = []
    parser = Parser(listen(heard))
    data = b"abc-----deFG!"
    for begin in range(0, len(data), size):
        parser.feed(data[begin : begin + size])
    assert heard == [b"abc", b"", b"de", b"FG"]


def test_nothing_is_kept_of_what_is_skipped() -> None:
    def skip_much() -> Steps:
        yield Skip(10_000_000)
        yield 1

    parser = Parser(skip_much())
    for _ in range(9):
        parser.feed(bytes(1_000_000))
        assert len(parser._buffer) == 0


def test_tls_begins_with_nothing_left_over() -> None:
    def encrypted(heard: list[bytes]) -> Steps:
        yield 1
        yield StartTls(verified=True)
        heard.append((yield 2))
        yield 1

    heard: list[bytes] = []
    parser = Parser(encrypted(heard))
    parser.feed(b"x")
    assert parser.tls == StartTls(verified=True)
    parser.resume()
    assert parser.tls is None
    parser.feed(b"yz")
    assert heard == [b"yz"]
    with pytest.raises(ProtocolError, match="without the encryption"):
        Parser(encrypted(heard)).feed(b"x plain")
