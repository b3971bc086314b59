"""Real pictures for tests, the frames that carry them, and readers of what the server makes."""

import asyncio
import io
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from PIL import Image

from schemas.link.picture_frames import FRAME_BYTES, PictureHeader, PictureKind
from schemas.values.pictures import PictureFormat, Region, Size

CAPTURED_AT = 1_700_000_000_123
SIZE = Size(64, 40)
REGION = Region(0, 0, 1280, 800)


@cache
def picture(
    form: PictureFormat = "jpeg", width: int = 64, height: int = 40, shade: int = 0
) -> bytes:
    """A picture of one colour, which differs with the shade (0 to 255)."""
    return encoded(Image.new("RGB", (width, height), (shade, 100, 200)), form)


@cache
def noise(form: PictureFormat = "jpeg", width: int = 640, height: int = 400) -> bytes:
    """A picture that no encoder makes small."""
    return encoded(Image.effect_noise((width, height), 100).convert("RGB"), form, quality=95)


def encoded(image: Image.Image, form: str, **options: Any) -> bytes:
    """What Pillow writes of an image."""
    buffer = io.BytesIO()
    image.save(buffer, form.upper(), **options)
    return buffer.getvalue()


def decoded(content: bytes) -> Image.Image:
    """An image as Pillow reads it, in full."""
    image = Image.open(io.BytesIO(content))
    image.load()
    return image.convert("RGB")


def header(
    content: bytes | None = None,
    *,
    kind: PictureKind = PictureKind.LIVE,
    number: int = 1,
    form: PictureFormat = "jpeg",
    size: Size = SIZE,
    region: Region = REGION,
    total: int | None = None,
    captured_at: int = CAPTURED_AT,
) -> PictureHeader:
    """A header that fits `picture`, unless told otherwise."""
    length = len(picture() if content is None else content) if total is None else total
    return PictureHeader(kind, number, form, captured_at, region, size, length)


def frames_of(head: PictureHeader, content: bytes | None = None) -> list[bytes]:
    """The frames that carry a picture."""
    content = picture() if content is None else content
    return [
        head.frame(offset, content[offset : offset + FRAME_BYTES])
        for offset in range(0, len(content), FRAME_BYTES)
    ]


@dataclass(frozen=True)
class Part:
    """One picture of a stream."""

    headers: dict[str, str]
    content: bytes

    @property
    def size(self) -> tuple[int, ...]:
        return tuple(map(int, self.headers["Farhand-Picture-Size"].split(",")))


class PictureStream:
    """A viewer of a live screen, who reads as a browser does: no further than asked."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._chunk = self._boundary = b""
        self.status = 0
        self.headers: dict[str, str] = {}

    @classmethod
    async def open(cls, url: str, path: str, token: str, **options: Any) -> "PictureStream":
        """Ask for a stream; ``status`` and ``headers`` are there, and no picture is read yet."""
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port), **options)
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        stream = cls(reader, writer)
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        stream.status = int(status.split()[1])
        stream.headers = _headers(lines)
        if stream.status == 200:
            boundary = stream.headers["Content-Type"].partition("boundary=")[2]
            stream._boundary = f"--{boundary}\r\n".encode()
            assert await stream._until(b"\r\n") == stream._boundary
        return stream

    async def __aenter__(self) -> "PictureStream":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def part(self) -> Part | None:
        """The next picture; None at the stream's end."""
        head = await self._until(b"\r\n\r\n")
        if head is None:
            return None
        headers = _headers(head.decode().split("\r\n"))
        content = await self._exactly(int(headers["Content-Length"]))
        assert await self._exactly(2 + len(self._boundary)) == b"\r\n" + self._boundary
        return Part(headers, content)

    async def heard(self, text: bytes, times: int) -> None:
        """Wait until this has come so often, and leave it to be read."""
        while self._chunk.count(text) < times:
            assert await self._more(), f"the stream ended without {text!r}"

    async def ended(self) -> None:
        """Read on until the stream ends."""
        while await self.part() is not None:
            pass
        await self.close()

    async def close(self) -> None:
        """Leave."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _more(self) -> bool:
        """Read the next chunk of the transfer; whether there was one."""
        try:
            length = int((await self._reader.readuntil(b"\r\n")).strip(), 16)
            self._chunk += (await self._reader.readexactly(length + 2))[:-2]
        except (asyncio.IncompleteReadError, ConnectionError):
            return False
        return length > 0

    async def _until(self, end: bytes) -> bytes | None:
        while end not in self._chunk:
            if not await self._more():
                return None
        found, separator, self._chunk = self._chunk.partition(end)
        return found + separator

    async def _exactly(self, length: int) -> bytes:
        while len(self._chunk) < length:
            assert await self._more(), "the stream ended in the middle of a picture"
        found, self._chunk = self._chunk[:length], self._chunk[length:]
        return found


def _headers(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines if line)
    return {name.strip(): value.strip() for name, _, value in pairs}
