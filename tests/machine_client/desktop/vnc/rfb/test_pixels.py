"""Rectangles of pixels, in each encoding that is asked for; bad ones in test_connection."""

import random
import struct
import tracemalloc
import zlib

import pytest

from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb.canvas import Canvas
from machine_client.desktop.vnc.rfb.parsing import Parser, ProtocolError
from machine_client.desktop.vnc.rfb.pixels import BAND_BYTES, PixelReader
from tests.machine_client.desktop.vnc.rfb.steps import ended


def read(
    reader: PixelReader,
    encoding: int,
    place: tuple[int, int, int, int],
    data: bytes,
    canvas: Canvas,
) -> None:
    Parser(ended(reader.read(encoding, place, canvas))).feed(data)


def test_raw_pixels_are_painted_in_bands_as_they_come() -> None:
    width, height = 300, BAND_BYTES // 1200 * 2 + 5
    data = random.Random(1).randbytes(4 * width * height)
    canvas = Canvas(width + 3, height + 2)
    parser = Parser(ended(PixelReader().read(ours.RAW, (2, 1, width, height), canvas)))
    parser.feed(data[:-1200])
    assert len(parser._buffer) < BAND_BYTES
    parser.feed(data[-1200:])
    assert canvas.cut(2, 1, width, height) == data


def test_packed_pixels_are_one_stream() -> None:
    packing, reader, canvas = zlib.compressobj(), PixelReader(), Canvas(8, 8)
    draw = random.Random(2)
    for place in ((0, 0, 8, 8), (1, 2, 3, 4)):
        pixels = draw.randbytes(4 * place[2] * place[3])
        packed = packing.compress(pixels) + packing.flush(zlib.Z_SYNC_FLUSH)
        read(reader, ours.ZLIB, place, struct.pack(">I", len(packed)) + packed, canvas)
        assert canvas.cut(*place) == pixels


def test_rectangle_is_copied_from_the_screen_and_from_nowhere_else() -> None:
    canvas = Canvas(4, 4)
    canvas.paint(0, 0, 1, b"blue")
    read(PixelReader(), ours.COPY_RECT, (3, 3, 1, 1), bytes(4), canvas)
    assert canvas.cut(3, 3, 1, 1) == b"blue"
    with pytest.raises(ProtocolError):
        read(PixelReader(), ours.COPY_RECT, (0, 0, 2, 1), struct.pack(">HH", 3, 0), canvas)


def test_without_a_canvas_pixels_are_forgotten() -> None:
    parser = Parser(ended(PixelReader().read(ours.RAW, (0, 0, 5000, 5000), None)))
    parser.feed(bytes(1_000_000))
    assert not parser._buffer


def test_bomb_is_not_unpacked() -> None:
    bomb = zlib.compress(bytes(64 * 1024 * 1024), 9)[:9000]
    data = struct.pack(">I", len(bomb)) + bomb
    canvas = Canvas(64, 48)
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError):
            read(PixelReader(), ours.ZLIB, (0, 0, 64, 48), data, canvas)
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()
