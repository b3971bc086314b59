"""Letting in: which security is chosen, and what is said for it; bad servers in test_connection."""

import pytest

from machine_client.desktop.vnc.rfb.parsing import AccessError, Parser, ProtocolError, StartTls
from machine_client.desktop.vnc.rfb.security import (
    Credentials,
    Version,
    agree_on_version,
    answer_to,
    let_in,
)
from tests.machine_client.desktop.vnc.rfb.steps import ended

PASSWORD = Credentials(b"secret")


@pytest.mark.parametrize(
    ("line", "minor"),
    [
        *((b"RFB 003.003\n", 3), (b"RFB 003.005\n", 3), (b"RFB 003.007\n", 7)),
        *((b"RFB 003.008\n", 8), (b"RFB 003.889\n", 8), (b"RFB 005.000\n", 8)),
    ],
)
def test_version_is_the_newest_that_both_speak(line: bytes, minor: int) -> None:
    assert agree_on_version(line) == Version(minor)
    assert Version(minor).greeting == b"RFB 003.00%d\n" % minor


def test_what_is_no_version_is_no_vnc_server() -> None:
    with pytest.raises(ProtocolError):
        agree_on_version(b"HTTP/1.1 400")


def said(server: bytes, credentials: Credentials, minor: int = 8) -> tuple[bytes, StartTls | None]:
    sent = bytearray()
    parser = Parser(ended(let_in(Version(minor), credentials, sent.extend)))
    parser.feed(server)
    return bytes(sent), parser.tls


def test_without_a_password_none_is_chosen_and_its_result_read_where_there_is_one() -> None:
    assert said(b"\x02\x01\x02" + bytes(4), Credentials()) == (b"\x01", None)
    assert said(b"\x01\x01", Credentials(), minor=7) == (b"\x01", None)
    assert said(b"\x00\x00\x00\x01", Credentials(), minor=3) == (b"", None)


def test_password_answers_a_challenge() -> None:
    challenge = bytes(range(16))
    answer = answer_to(challenge, b"secret")
    for minor, hello in ((8, b"\x02\x01\x02"), (3, b"\x00\x00\x00\x02")):
        sent, _ = said(hello + challenge + bytes(4), PASSWORD, minor)
        assert sent.removeprefix(b"\x02" if minor == 8 else b"") == answer
    assert answer_to(challenge, b"12345678") == answer_to(challenge, b"123456789")
    assert answer_to(challenge, b"1234567") != answer_to(challenge, b"12345678")


def test_wrong_password_is_said() -> None:
    with pytest.raises(AccessError, match="is the password right"):
        said(b"\x01\x02" + bytes(16) + b"\x00\x00\x00\x01", PASSWORD, minor=7)


@pytest.mark.parametrize("offered", [(1,), (2,), (1, 2), ()])
def test_vencrypt_that_offers_nothing_encrypted_is_left(offered: tuple[int, ...]) -> None:
    kinds = b"".join(each.to_bytes(4, "big") for each in offered)
    with pytest.raises(AccessError, match="it offers the security nothing alone"):
        said(b"\x03\x01\x02\x13\x00\x02\x00" + bytes([len(offered)]) + kinds + b"\x01", PASSWORD)


@pytest.mark.parametrize(
    ("credentials", "offered", "chosen", "verified"),
    [
        (Credentials(), (257, 260), 260, True),
        (Credentials(), (257, 256), 257, False),
        (PASSWORD, (258, 257, 261, 260), 261, True),
        (PASSWORD, (258, 257), 258, False),
    ],
)
def test_vencrypt_is_preferred_and_in_it_a_certificate(
    credentials: Credentials, offered: tuple[int, ...], chosen: int, verified: bool
) -> None:
    kinds = b"".join(each.to_bytes(4, "big") for each in offered)
    server = b"\x03\x01\x02\x13\x00\x02\x00" + bytes([len(offered)]) + kinds + b"\x01"
    sent, tls = said(server, credentials)
    assert sent == b"\x13\x00\x02" + chosen.to_bytes(4, "big")
    assert tls == StartTls(verified=verified)
