"""What a client says, as bytes."""

import struct

from machine_client.desktop.vnc.rfb.clipboard import LATIN_1

RAW, COPY_RECT, ZLIB, ZRLE = 0, 1, 6, 16
DESKTOP_SIZE, LAST_RECT, POINTER_POSITION = -223, -224, -232
EXTENDED_DESKTOP_SIZE, FENCE = -308, -312
CURSOR_POSITION = 0x574D5666
"""Of VMware, and of TigerVNC, which tells by it that others have moved the pointer."""
EXTENDED_CLIPBOARD = -1063131698
POINTER_KIND, KEY_CODES = -257, -258
"""Of QEMU: by the first, which it alone has, it tells whether its guest's mouse knows places (see
`NO_STEP`), and by the second that it has read our encodings, each time."""

TOLD = (
    *(LAST_RECT, DESKTOP_SIZE, EXTENDED_DESKTOP_SIZE, POINTER_POSITION, CURSOR_POSITION),
    *(FENCE, EXTENDED_CLIPBOARD, POINTER_KIND, KEY_CODES),
)
"""What is asked for beside pictures.  Not the cursor: so the server draws it into them."""

FENCE_REQUEST, FENCE_BLOCK_BEFORE, FENCE_KNOWN = 1 << 31, 1 << 0, 0b111

CLIENT_INIT_SHARED = b"\x01"

NO_STEP = (0x7FFF, 0x7FFF)
"""What leaves a mouse where it is that QEMU has told to know no places: it reads steps then."""

PIXELS = struct.pack(">BxxxBBBBHHHBBBxxx", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
"""SetPixelFormat: blue, green, red and a byte that says nothing."""


def encodings(pictures: tuple[int, ...]) -> bytes:
    """SetEncodings: those of pictures, the best first, and all that is told beside them."""
    numbers = (*pictures, *TOLD)
    return struct.pack(f">BxH{len(numbers)}i", 2, len(numbers), *numbers)


def update_request(x: int, y: int, width: int, height: int, *, incremental: bool) -> bytes:
    """FramebufferUpdateRequest."""
    return struct.pack(">BBHHHH", 3, incremental, x, y, width, height)


def key_event(keysym: int, *, down: bool) -> bytes:
    """KeyEvent."""
    return struct.pack(">BBxxI", 4, down, keysym)


def pointer_event(buttons: int, x: int, y: int) -> bytes:
    """PointerEvent: the buttons that are down from now on, the lowest bit the left one."""
    return struct.pack(">BBHH", 5, buttons, x, y)


def cut_text(text: str) -> bytes:
    """ClientCutText; raises UnicodeEncodeError for what is not Latin-1."""
    data = text.encode(LATIN_1)
    return struct.pack(">BxxxI", 6, len(data)) + data


def extended_cut_text(payload: bytes) -> bytes:
    """The same with a payload of `clipboard`."""
    return struct.pack(">Bxxxi", 6, -len(payload)) + payload


def fence(flags: int, payload: bytes) -> bytes:
    """ClientFence."""
    return struct.pack(">BxxxIB", 248, flags, len(payload)) + payload
