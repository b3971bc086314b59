"""What a wait looks for is checked before anybody waits, and what a machine shows is judged."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from schemas.link.messages import FrameJudged, FrameShown, Look, RequestFailed, Screenshot
from schemas.link.picture_frames import PictureKind
from schemas.resources.tokens import Scope
from server.vision import vision
from server.vision.picture_sizes import NoPictureError, size_of
from tests.screens import Desk, connected
from tests.service import Service
from tests.signs import base64_png, drawn, png
from tests.store import entered

WAIT = "/v1/computer/desk-1/wait"
TEXTS = "/v1/computer/desk-1/display/texts"


@pytest.fixture
def desk(io_loop: IOLoop, service: Service) -> Iterator[Desk]:
    with entered(io_loop, connected(service)) as desk:
        yield desk


def png_head(width: int, height: int) -> bytes:
    """The beginning of a picture of this size, whose pixels are a few bytes of zeros."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + bytes(4) for kind, content in chunks
    )


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        (b64encode(png_head(20_000, 20_000)).decode(), "20000 x 20000 pixels"),
        (b64encode(png_head(1024, 1024)).decode(), "1024 x 1024 pixels"),
        (b64encode(png_head(0, 9)).decode(), "does not say how large"),
        (b64encode(bytes(100)).decode(), "does not begin like one"),
        (b64encode(b"\xff\xd8\xff\xe0").decode(), "breaks off"),
        (b64encode(bytes(65_537)).decode(), "65536 bytes at most"),
        ("not base64!", "in Base64"),
        ("0" * 64, "no picture with this id"),
    ],
    ids=lambda value: value if " " in value else "",
)
async def test_picture_that_cannot_be_sought_is_refused_before_it_is_unpacked(
    service: Service, picture: str, why: str
) -> None:
    reply = await service.post(WAIT, {"any": [{"still": 1}, {"picture": picture}]})
    ((place, kind),) = reply.faults
    assert (place, kind) == (["body", "any", "1", "picture"], "picture_invalid")
    assert why in reply.json["detail"][0]["msg"]


async def test_kept_picture_needs_the_scope_to_read_it(service: Service) -> None:
    token = await service.new_token(Scope.SCREEN_READ)
    reply = await service.post(WAIT, {"any": [{"picture": "0" * 64}]}, token=token)
    assert reply.status == 403


@pytest.mark.parametrize("size", [(20, 30), (1024, 256)])
def test_size_is_what_a_picture_says(size: tuple[int, int]) -> None:
    assert size_of(png_head(*size)) == size
    with pytest.raises(NoPictureError):
        size_of(b"")


async def test_without_what_it_needs_the_remedy_is_501(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vision, "MODULES", ("no_such_module",))
    asked: list[Any] = [
        await service.get(TEXTS),
        await service.post(WAIT, {"any": [{"text": "Saved"}]}),
        await service.post(WAIT, {"any": [{"picture": base64_png(drawn("a"))}]}),
    ]
    for reply in asked:
        assert (reply.status, reply.json["type"]) == (501, "/problems/not-installed")
        assert "vision" in reply.json["detail"]


async def test_frame_of_a_wait_is_judged_and_its_texts_are_told(
    service: Service, desk: Desk
) -> None:
    background = service.server.services.background
    body = {"any": [{"still": 9}, {"text": "Saved"}], "timeout": 60}
    waiting = background.start(service.post(WAIT, body), "a client of the test")
    look = await desk.heard(Look)
    for number, (text, matched) in enumerate((("Failed", None), ("Saved", 1)), start=1):
        image = drawn(text, (64, 40))
        await desk.link.say(FrameShown(number=number, request=look.request, conditions=(1,)))
        await desk.shows(png(image), kind=PictureKind.FRAME, number=number, form="png")
        judged = await desk.heard(FrameJudged)
        assert (judged.number, judged.matched, judged.failed) == (number, matched, None)
    waiting.cancel()


async def test_texts_are_those_of_a_picture_that_the_machine_takes(
    service: Service, desk: Desk
) -> None:
    background = service.server.services.background
    reading = background.start(service.get(TEXTS), "a client of the test")
    shot = await desk.heard(Screenshot)
    assert not shot.pointer
    # Desktops may draw the pointer themselves.
    failed = {"reason": "it draws it", "code": "pointer_drawn", "field": "pointer"}
    await desk.link.say(RequestFailed(request=shot.request, **failed))
    shot = await desk.heard(Screenshot)
    assert shot.pointer
    image = drawn("OK", (64, 40))
    await desk.shows(png(image), kind=PictureKind.SCREENSHOT, number=shot.request, form="png")
    assert [each["text"] for each in (await reading).json["texts"]] == ["OK"]
