"""The client's side of RFB, from the first byte: bytes in, bytes out, and what is known then.

For one thread at a time.  What others want to send at any time they make with `client_messages`;
here is sent what the server waits for.
"""

import struct
from collections.abc import Callable, Generator
from dataclasses import dataclass

from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb import clipboard
from machine_client.desktop.vnc.rfb.canvas import Canvas, check_size, check_within
from machine_client.desktop.vnc.rfb.noise import PIXELS_OF_A_MESSAGE, Noise, Painting
from machine_client.desktop.vnc.rfb.parsing import Parser, ProtocolError, Skip, StartTls, Step
from machine_client.desktop.vnc.rfb.pixels import PixelReader
from machine_client.desktop.vnc.rfb.security import Credentials, agree_on_version, let_in

MAX_NAME_BYTES = 64 * 1024
MAX_SCREENS = 64

SENT_OF_A_MESSAGE = 64 * 1024
"""A text counts as one message more for each so many bytes of it that come, read or not."""

BYTES_OF_A_MESSAGE = 8 * 1024
"""One that is read counts so for each so many, which are more than came where it was packed."""

PACKED_OF_A_MESSAGE = 4 * 1024
"""One of ours counts so for each so many characters: it is packed anew for each request."""

_TOLD_UNASKED = frozenset(
    {
        *(ours.DESKTOP_SIZE, ours.EXTENDED_DESKTOP_SIZE, ours.POINTER_POSITION),
        *(ours.CURSOR_POSITION, ours.POINTER_KIND, ours.LAST_RECT),
    }
)
"""What rectangles tell that has no pixels, and answers nothing."""

Steps = Generator[Step, bytes, None]


@dataclass(frozen=True, slots=True)
class Screen:
    """One of the screens that the framebuffer is made of."""

    x: int
    y: int
    width: int
    height: int


@dataclass(slots=True)
class Copied:
    """What is known of the server's clipboard; ``changes`` counts what it has told of it.

    ``text`` is None where there is one that has yet to be asked for, or none that can be had:
    ``too_long`` says which it is not.
    """

    changes: int = 0
    text: str | None = ""
    is_waiting: bool = False
    too_long: bool = False


class Conversation:
    """What the server has said so far.

    ``is_open`` once it has let us in; ``size`` and ``screens`` are where it draws; ``pointer`` is
    where it said that the pointer is, and ``pointer_told`` counts how often.  ``is_qemu`` where it
    is the one that QEMU has in it, and ``mouse_knows_places`` unless that says otherwise of its
    guest's mouse.  ``updates`` counts framebuffer updates, and ``painted`` those rectangles in them
    that have pixels; `asked_for_updates` tells of each that is asked for.  ``unanswered_fences``
    has the payloads of ours, which whoever sends one puts there, and ``encodings_answered`` counts
    how often QEMU has read ``our_encodings``, of ``encodings_asked`` that it was asked for.
    """

    def __init__(
        self, credentials: Credentials, pictures: tuple[int, ...], clock: Callable[[], float]
    ) -> None:
        """``pictures`` are the encodings to ask for; without any nothing that is shown is kept.

        ``clock`` is seconds of a monotonic clock.
        """
        self.is_open = False
        self.size = (0, 0)
        self.screens: tuple[Screen, ...] = ()
        self.pointer: tuple[int, int] | None = None
        self.pointer_told = 0
        self.is_qemu = False
        self.mouse_knows_places = True
        self.updates = 0
        self.painted = 0
        self.has_fences = False
        self.unanswered_fences: set[bytes] = set()
        self.has_extended_clipboard = False
        self.copied = Copied()
        self.offered: str | None = None
        self.canvas: Canvas | None = None
        self.canvas_is_new = True
        self.our_encodings = ours.encodings(pictures or (ours.RAW,))
        self.encodings_asked = 0
        self.encodings_answered = 0
        self._pictures = pictures
        self._offered_pixels = {*pictures, ours.RAW}
        self._outgoing = bytearray()
        self._noise = Noise(clock)
        self._painting = Painting(self._noise)
        self._pixels = PixelReader()
        self._parser = Parser(self._speak(credentials))

    @property
    def tls(self) -> StartTls | None:
        """Set while the server waits for TLS to begin; `tls_begun` goes on."""
        return self._parser.tls

    def receive(self, data: bytes) -> None:
        """Take what the server sent.  Raises ProtocolError and AccessError, and is over then."""
        self._parser.feed(data)

    def tls_begun(self) -> None:
        """TLS is spoken from here on."""
        self._parser.resume()

    def asked_for_updates(self, requests: int) -> None:
        """So many are about to be asked for: what is painted without that is noise."""
        self._painting.asked += requests

    def close(self) -> None:
        """Let go of what was shown, once nothing is received any more.

        The conversation and its parser hold each other: the megabytes of a picture would stay until
        Python looks for such circles, and there may be many connections before it does.
        """
        self._parser.close()
        self.canvas = None

    def take_outgoing(self) -> bytes:
        """What must be sent now."""
        outgoing = bytes(self._outgoing)
        self._outgoing.clear()
        return outgoing

    def _send(self, data: bytes) -> None:
        self._outgoing += data

    def _speak(self, credentials: Credentials) -> Steps:
        version = agree_on_version((yield 12))
        self._send(version.greeting)
        yield from let_in(version, credentials, self._send)
        self._send(ours.CLIENT_INIT_SHARED)
        yield from self._read_server_init()
        self._send(ours.PIXELS + self.our_encodings)
        self.is_open = True
        while True:
            (kind,) = yield 1
            yield from self._message(kind)

    def _read_server_init(self) -> Steps:
        width, height = struct.unpack(">HH", (yield 4))
        yield Skip(16)
        (length,) = struct.unpack(">I", (yield 4))
        if length > MAX_NAME_BYTES:
            raise ProtocolError(f"it has a name of {length} bytes")
        yield Skip(length)
        self._resize(width, height, ())

    def _message(self, kind: int) -> Steps:
        match kind:
            case 0:
                yield from self._update()
            case 1:
                (count,) = struct.unpack(">3xH", (yield 5))
                self._noise.heard(1 + count)
                yield Skip(6 * count)
            case 2 | 150:
                # A bell, and the end of updates that were never asked for.
                self._noise.heard()
            case 3:
                yield from self._cut_text()
            case 248:
                yield from self._fence()
            case _:
                raise ProtocolError(f"it sends a message of the type {kind}, which nobody knows")

    def _update(self) -> Steps:
        (count,) = struct.unpack(">xH", (yield 3))
        is_answer = count == 0
        if is_answer:
            self._noise.heard()
        self._painting.begin()
        for _ in range(count):
            x, y, width, height, encoding = struct.unpack(">HHHHi", (yield 12))
            # Of these it tells by itself.
            is_answer |= encoding not in (ours.POINTER_KIND, ours.KEY_CODES)
            if encoding == ours.LAST_RECT:
                break
            yield from self._rectangle(encoding, x, y, width, height)
        self.updates += is_answer

    def _rectangle(self, encoding: int, x: int, y: int, width: int, height: int) -> Steps:
        if encoding in _TOLD_UNASKED:
            self._noise.heard()
        match encoding:
            case ours.DESKTOP_SIZE:
                self._resize(width, height, ())
            case ours.EXTENDED_DESKTOP_SIZE:
                yield from self._screens(y, width, height)
            case ours.POINTER_POSITION | ours.CURSOR_POSITION:
                self.pointer = (x, y)
                self.pointer_told += 1
            case ours.POINTER_KIND:
                self.is_qemu = True
                self.mouse_knows_places = x != 0
            case ours.KEY_CODES:
                self.encodings_answered += 1
                if self.encodings_answered > self.encodings_asked:
                    self._noise.heard()
            case _:
                check_within(self.size, x, y, width, height)
                if encoding not in self._offered_pixels:
                    raise ProtocolError(
                        f"it paints in the encoding {encoding}, which was not asked for"
                    )
                self._painting.painted(width, height, self.size)
                yield from self._pixels.read(encoding, (x, y, width, height), self.canvas)
                self.painted += 1

    def _screens(self, status: int, width: int, height: int) -> Steps:
        (count,) = yield 1
        self._noise.heard(count)
        yield Skip(3)
        screens = []
        for _ in range(count):
            screen = Screen(*struct.unpack(">4xHHHH4x", (yield 16)))
            if 0 < screen.width <= width - screen.x and 0 < screen.height <= height - screen.y:
                screens.append(screen)
        # Anything but 0 answers a client's wish for another size, and changes nothing.
        if status == 0:
            self._resize(width, height, tuple(screens[:MAX_SCREENS]))

    def _resize(self, width: int, height: int, screens: tuple[Screen, ...]) -> None:
        check_size(width, height)
        self.screens = screens or (Screen(0, 0, width, height),)
        if self.size != (width, height):
            self._noise.heard(width * height // PIXELS_OF_A_MESSAGE)
            self.size = (width, height)
            self.canvas_is_new = True
            self.canvas = Canvas(width, height) if self._pictures else None

    def _fence(self) -> Steps:
        flags, length = struct.unpack(">3xIB", (yield 8))
        payload = yield length
        self.has_fences = True
        if payload in self.unanswered_fences and not flags & ours.FENCE_REQUEST:
            self.unanswered_fences.remove(payload)
            return
        self._noise.heard()
        if flags & ours.FENCE_REQUEST:
            self._send(ours.fence(flags & ours.FENCE_KNOWN, payload))

    def _cut_text(self) -> Steps:
        (length,) = struct.unpack(">3xi", (yield 7))
        self._noise.heard(1 + abs(length) // SENT_OF_A_MESSAGE)
        if abs(length) > clipboard.MAX_MESSAGE_BYTES:
            yield Skip(abs(length))
            self._note_copied(None, too_long=True)
        elif length < 0:
            self._extended(clipboard.read_extended((yield -length)))
        else:
            self._noise.heard(length // BYTES_OF_A_MESSAGE)
            text = (yield length).decode(clipboard.LATIN_1)
            self._note_copied(clipboard.plain_lines(text))

    def _extended(self, message: clipboard.Extended) -> None:
        if message.flags & clipboard.CAPS:
            self.has_extended_clipboard = True
            self._send(ours.extended_cut_text(clipboard.our_capabilities()))
        elif message.flags & clipboard.REQUEST:
            if message.has_text and self.offered is not None:
                self._noise.heard(len(self.offered) // PACKED_OF_A_MESSAGE)
                self._send(ours.extended_cut_text(clipboard.provide(self.offered)))
        elif message.flags & clipboard.PEEK:
            has_text = self.offered is not None
            self._send(ours.extended_cut_text(clipboard.notify(has_text=has_text)))
        elif message.flags & clipboard.NOTIFY:
            self._note_copied(None if message.has_text else "", waits=message.has_text)
        elif message.flags & clipboard.PROVIDE and message.has_text and self.offered is None:
            # Else it was asked for before something was copied here.
            try:
                data = clipboard.unpacked(message.rest)
                self._noise.heard(len(data) // BYTES_OF_A_MESSAGE)
                self._note_copied(clipboard.text_of(data))
            except clipboard.TooLongError:
                self._note_copied(None, too_long=True)

    def _note_copied(
        self, text: str | None, *, waits: bool = False, too_long: bool = False
    ) -> None:
        # It is the server's now, and no longer ours.
        self.offered = None
        self.copied = Copied(self.copied.changes + 1, text, waits, too_long)
