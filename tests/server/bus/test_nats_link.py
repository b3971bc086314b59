"""What comes from NATS, however it is cut on its way."""

import pytest

from server.bus.nats_link import NatsLink

Taken = list[tuple[int, bytes, bytes, bytes, bytes]]

HEADER = b"NATS/1.0 503\r\n\r\n"
MESSAGES: Taken = [
    (1, b"_INBOX.a.1", b"", b"a reply", b""),
    (22, b"farhand.x.link", b"_INBOX.b.2", b"MSG 1 1 3\r\n", b""),
    (1, b"_INBOX.a.2", b"", b"", HEADER),
    (1, b"_INBOX.a.3", b"", b"", b""),
    (1, b"_INBOX.a.4", b"", b"\r\n", b""),
]
STREAM = b"".join(
    (
        b"MSG _INBOX.a.1 1 7\r\na reply\r\n",
        b"PING\r\n",
        b"MSG farhand.x.link 22 _INBOX.b.2 11\r\nMSG 1 1 3\r\n\r\n",
        b"HMSG _INBOX.a.2 1 %d %d\r\n%b\r\n" % (len(HEADER), len(HEADER), HEADER),
        b"MSG _INBOX.a.3 1 0\r\n\r\n",
        b'INFO {"version":"2.10.0"}\r\n',
        b"MSG _INBOX.a.4 1 2\r\n\r\n\r\n",
    )
)


def taken_of(*chunks: bytes) -> tuple[Taken, NatsLink]:
    """The messages that a link takes of what comes."""
    taken: Taken = []
    link = NatsLink(lambda *message: taken.append(message))
    for chunk in chunks:
        link._arrived(chunk)
    return taken, link


async def test_messages_are_the_same_wherever_they_are_cut() -> None:
    for cut in range(len(STREAM)):
        taken, link = taken_of(STREAM[:cut], STREAM[cut:])
        assert taken == MESSAGES, cut
        assert not link.end.done()


async def test_messages_are_the_same_byte_by_byte() -> None:
    taken, _ = taken_of(*(STREAM[at : at + 1] for at in range(len(STREAM))))
    assert taken == MESSAGES


@pytest.mark.parametrize("nonsense", [b"MSG a b c\r\n", b"MSGX a 1 1\r\nx\r\n", b"\x00\r\n"])
async def test_nonsense_ends_the_connection_and_nothing_behind_it_is_taken(nonsense: bytes) -> None:
    first = STREAM.partition(b"PING")[0]
    taken, link = taken_of(first + nonsense + first, first)
    assert taken == MESSAGES[:1]
    assert link.end.result() == "protocol error"
