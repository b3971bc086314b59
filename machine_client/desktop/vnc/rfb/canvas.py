"""The pixels that a server has sent so far: rows of blue, green, red and a byte that is nothing."""

from machine_client.desktop.vnc.rfb.parsing import ProtocolError

PIXEL_BYTES = 4
MAX_PIXELS = 2**25
"""The largest screen that is taken: 8K, of 134 MB, fits in."""


class Canvas:
    """A picture to be painted on, as large as the server says its screen is."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.pixels = bytearray(PIXEL_BYTES * width * height)

    def paint(self, x: int, y: int, width: int, rows: bytes | bytearray) -> None:
        """Put whole rows of a rectangle of some width where they belong."""
        row_bytes = PIXEL_BYTES * width
        if width == self.width:
            begin = row_bytes * y
            self.pixels[begin : begin + len(rows)] = rows
            return
        place = PIXEL_BYTES * (y * self.width + x)
        for begin in range(0, len(rows), row_bytes):
            self.pixels[place : place + row_bytes] = rows[begin : begin + row_bytes]
            place += PIXEL_BYTES * self.width

    def copy(self, from_x: int, from_y: int, x: int, y: int, width: int, height: int) -> None:
        """Copy a rectangle to another place of the picture; the two may overlap."""
        stride, row_bytes = PIXEL_BYTES * self.width, PIXEL_BYTES * width
        source, target = stride * from_y + PIXEL_BYTES * from_x, stride * y + PIXEL_BYTES * x
        if width == self.width:
            row_bytes, height = row_bytes * height, 1
        # What is copied over what is yet to be copied is copied last.
        rows = range(height) if y <= from_y else reversed(range(height))
        with memoryview(self.pixels) as pixels:
            for begin in (stride * row for row in rows):
                from_here = pixels[source + begin : source + begin + row_bytes]
                pixels[target + begin : target + begin + row_bytes] = from_here

    def cut(self, x: int, y: int, width: int, height: int) -> bytearray:
        """The pixels of a rectangle."""
        if (x, width) == (0, self.width):
            stride = PIXEL_BYTES * width
            return self.pixels[stride * y : stride * (y + height)]
        cut = bytearray()
        for row in range(y, y + height):
            place = PIXEL_BYTES * (row * self.width + x)
            cut += self.pixels[place : place + PIXEL_BYTES * width]
        return cut


def check_size(width: int, height: int) -> None:
    """Raise ProtocolError where a screen is larger than any that is taken, or has no pixel."""
    if not 0 < width * height <= MAX_PIXELS:
        raise ProtocolError(f"it says that its screen has {width} x {height} pixels")


def check_within(size: tuple[int, int], x: int, y: int, width: int, height: int) -> None:
    """Raise ProtocolError where a rectangle is not on the screen."""
    if x + width > size[0] or y + height > size[1]:
        raise ProtocolError(
            f"it paints {width} x {height} pixels at ({x}, {y}), beyond its screen of "
            f"{size[0]} x {size[1]}"
        )
