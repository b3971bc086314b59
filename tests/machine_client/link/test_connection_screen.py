"""The screen on a real websocket: pictures go out in pieces, and inputs go first."""

import random
from pathlib import Path
from typing import Any

import pytest

from machine_client.desktop.base import DesktopError
from schemas.link.messages import (
    Ack,
    DesktopQuery,
    DesktopSeen,
    RequestFailed,
    ScreenCredit,
    Screenshot,
    ScreenStart,
)
from schemas.link.picture_frames import FRAME_BYTES, WINDOW_BYTES, PictureKind, read_frame
from schemas.values.pictures import Size
from tests.machine_client.fakes import DISPLAY, HERE, FakeView
from tests.machine_client.scripted import Line, move, now, played
from tests.pictures import decoded
from tests.store import async_test


def screenshot(request: int = 1) -> Screenshot:
    return Screenshot(request=request, format="png", quality=70, server_time=now())


def noisy() -> FakeView:
    """A view whose picture is much larger than what may be on its way."""
    view = FakeView()
    view.size = Size(320, 200)
    view.pixels = bytearray(random.Random(1).randbytes(320 * 200 * 4))
    return view


async def frame(line: Line) -> bytes:
    received = await line.websocket.recv()
    assert isinstance(received, bytes)
    return received


async def test_acknowledgement_does_not_wait_for_a_picture(tmp_path: Path) -> None:
    async def script(line: Line) -> None:
        await line.greet()
        await line.say(screenshot())
        content, received = b"", 0
        for _ in range(WINDOW_BYTES // FRAME_BYTES):
            head, offset, part = read_frame(await frame(line))
            assert (head.kind, offset) == (PictureKind.SCREENSHOT, len(content))
            content += part
        assert head.total > 2 * WINDOW_BYTES
        command = move()
        await line.say(command)
        acknowledged = await line.hear()
        assert isinstance(acknowledged, Ack)
        assert acknowledged.command_id == command.command_id
        while len(content) < head.total:
            if len(content) - received >= WINDOW_BYTES:
                received = len(content)
                await line.say(ScreenCredit(received=received, server_time=now()))
            content += read_frame(await frame(line))[2]
        assert decoded(content).size == (320, 200)

    await played(tmp_path, script, open_view=noisy().open)


async def test_live_screen_is_sent_when_it_has_changed(tmp_path: Path) -> None:
    view = FakeView()

    async def script(line: Line) -> None:
        hello = await line.greet()
        assert hello.screen.available
        await line.say(ScreenStart(stream=3, quality=70, rate=30, server_time=now()))
        received = 0
        for colour in (0, 90, 180):
            view.colour = colour
            head, _, part = read_frame(await frame(line))
            assert (head.kind, head.number, head.total) == (PictureKind.LIVE, 3, len(part))
            assert abs(head.captured_at - now()) < 60_000
            received += len(part)
            await line.say(ScreenCredit(received=received, server_time=now()))

    await played(tmp_path, script, open_view=view.open)


async def test_desktop_is_told_and_a_view_that_fails_is_too(tmp_path: Path) -> None:
    view = FakeView()

    async def script(line: Line) -> None:
        await line.greet()
        await line.say(DesktopQuery(request=1, server_time=now()))
        assert await line.hear() == DesktopSeen(request=1, displays=[DISPLAY], pointer=HERE)
        view.failure = DesktopError("display_lost", "the display is gone")
        await line.say(screenshot(2))
        assert await line.hear() == RequestFailed(request=2, reason="the display is gone")

    await played(tmp_path, script, open_view=view.open)


@pytest.mark.parametrize(
    ("settings", "failure", "words"),
    [
        ({"screen": False}, None, "its owner lets nobody look"),
        ({}, DesktopError("screen_unavailable", "it is dark"), "it is dark"),
    ],
)
def test_screen_that_cannot_be_seen_is_said_in_hello(
    tmp_path: Path, settings: dict[str, Any], failure: Exception | None, words: str
) -> None:
    view = FakeView()
    view.failure = failure

    async def script(line: Line) -> None:
        hello = await line.greet()
        assert hello.input.available
        assert not hello.screen.available
        assert words in (hello.screen.reason or "")

    @async_test
    async def run() -> None:
        await played(tmp_path, script, open_view=view.open, **settings)

    run()
    assert view.captures == (failure is not None)
