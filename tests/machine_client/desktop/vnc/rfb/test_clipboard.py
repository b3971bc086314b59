"""Texts of a clipboard, as they are packed."""

import random
import struct
import zlib

import pytest

from machine_client.desktop.vnc.rfb import clipboard
from machine_client.desktop.vnc.rfb.parsing import ProtocolError
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from tests.texts import any_text


def test_any_text_is_provided_and_read_but_for_its_line_ends() -> None:
    draw = random.Random(8)
    for text in ("", *(any_text(draw) for _ in range(200)), "\n" * MAX_CLIPBOARD_BYTES):
        message = clipboard.read_extended(clipboard.provide(text))
        assert message.has_text
        assert message.flags & clipboard.PROVIDE
        assert clipboard.text_of(clipboard.unpacked(message.rest)) == clipboard.plain_lines(text)


def test_lines_end_with_both_on_the_wire_and_with_one_here() -> None:
    unpacked = zlib.decompress(clipboard.provide("a\nb\r\nc\rd")[4:])
    assert unpacked == struct.pack(">I", 11) + b"a\r\nb\r\nc\r\nd\0"
    assert clipboard.plain_lines("a\nb\r\nc\rd") == "a\nb\nc\nd"


def test_actions_are_told_apart() -> None:
    assert clipboard.read_extended(clipboard.notify(has_text=True)).has_text
    assert not clipboard.read_extended(clipboard.notify(has_text=False)).has_text
    assert clipboard.read_extended(clipboard.request()).flags & clipboard.REQUEST
    assert clipboard.read_extended(clipboard.our_capabilities()).flags & clipboard.CAPS


def test_what_is_too_long_or_broken_is_not_unpacked() -> None:
    long = zlib.compress(struct.pack(">I", clipboard.MAX_TEXT_BYTES + 1) + bytes(100))
    with pytest.raises(clipboard.TooLongError):
        clipboard.unpacked(long)
    short = zlib.compress(struct.pack(">I", 100) + bytes(99))
    for broken in (b"junk", b"", zlib.compress(b"ab"), short):
        with pytest.raises(ProtocolError):
            clipboard.unpacked(broken)
    with pytest.raises(ProtocolError):
        clipboard.read_extended(b"abc")
