"""What a client says, byte by byte (RFC 6143, section 7.5)."""

import pytest

from machine_client.desktop.vnc.rfb import client_messages as ours


def test_messages_are_those_of_the_rfc() -> None:
    assert len(ours.PIXELS) == 20
    assert ours.PIXELS[:8] == bytes((0, 0, 0, 0, 32, 24, 0, 1))
    asked = ours.update_request(1, 2, 0x300, 4, incremental=True)
    assert asked == bytes((3, 1, 0, 1, 0, 2, 3, 0, 0, 4))
    assert ours.key_event(0xFFE1, down=True) == bytes((4, 1, 0, 0, 0, 0, 0xFF, 0xE1))
    assert ours.pointer_event(5, 1, 0x102) == bytes((5, 5, 0, 1, 1, 2))
    assert ours.cut_text("é") == bytes((6, 0, 0, 0, 0, 0, 0, 1, 0xE9))
    assert ours.extended_cut_text(b"abcd") == bytes((6, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFC)) + b"abcd"
    assert ours.fence(1, b"xy") == bytes((248, 0, 0, 0, 0, 0, 0, 1, 2)) + b"xy"
    with pytest.raises(UnicodeEncodeError):
        ours.cut_text("€")


def test_encodings_of_pictures_come_first() -> None:
    said = ours.encodings((ours.COPY_RECT, ours.RAW))
    assert said[:4] == bytes((2, 0, 0, 2 + len(ours.TOLD)))
    assert said[4:12] == bytes((0, 0, 0, 1, 0, 0, 0, 0))
    assert len(said) == 4 + 4 * (2 + len(ours.TOLD))
