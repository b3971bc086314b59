"""Real processes that look: started when asked, replaced when they die, ended with the server."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvloop

from schemas.inputs.sights import PictureShown, TextShown
from schemas.link.picture_frames import Picture
from schemas.values.pictures import Region, Size
from server.tasks import Tasks
from server.vision import vision as vision_room
from server.vision.findings import Findings, Question
from server.vision.process import LookingProcess, ProcessEndedError
from server.vision.vision import Vision, VisionBusyError, VisionError, VisionMissingError
from tests.processes import LOOKING_SECONDS
from tests.signs import base64_png, drawn, png
from tests.store import async_test
from tests.waiting import until

MEMORY = 2 * 1024**3
SHOWN = Region(0, 0, 9, 9)
SAVED = ((3, TextShown(text="Saved")),)


def picture(text: str = "Saved") -> Picture:
    image = drawn(text)
    return Picture("png", png(image), Size(*image.size), Region(100, 50, *image.size), 0)


@asynccontextmanager
async def seeing(
    processes: int = 1, seconds: float = float(LOOKING_SECONDS)
) -> AsyncIterator[Vision]:
    background = Tasks()
    vision = Vision(processes, MEMORY, seconds, background)
    try:
        yield vision
    finally:
        await vision.close()
        await background.close(5)


def pids(vision: Vision) -> list[int]:
    return [process.pid for process in vision._idle]


@async_test
async def test_process_is_started_by_the_first_question_used_again_and_ended() -> None:
    async with seeing() as vision:
        assert pids(vision) == []
        found = await vision.judge("a", SAVED, picture())
        assert found.matched == 3
        assert found.at is not None
        assert found.at.x > 100
        first = pids(vision)
        assert (await vision.judge("a", SAVED, picture("Failed"))).seen == ("Failed",)
        assert pids(vision) == first
        assert os.getpriority(os.PRIO_PROCESS, first[0]) == 19
        assert os.getsid(first[0]) == os.getsid(0)
    with pytest.raises(ProcessLookupError):
        os.kill(first[0], 0)
    assert (vision.looks["found"], vision.failed) == (2, 0)


@async_test
async def test_process_that_was_killed_is_replaced() -> None:
    async with seeing() as vision:
        await vision.texts("a", picture())
        (first,) = pids(vision)
        os.kill(first, signal.SIGKILL)
        (text,) = await vision.texts("a", picture())
        assert text.text == "Saved"
        assert pids(vision) != [first]


def test_process_whose_pipe_is_closed_before_it_is_asked_has_ended() -> None:
    """Where the pipe tells of its end first, on the loop that the server runs on."""

    async def asked_after_its_end() -> None:
        process = await LookingProcess.start(MEMORY)
        os.kill(process.pid, signal.SIGKILL)
        pipe = process._process.stdin
        assert pipe is not None
        await until(pipe.is_closing)
        with pytest.raises(ProcessEndedError):
            await process.ask(Question(conditions=SAVED, region=SHOWN, size=Size(9, 9)), b"")
        await process.end()

    uvloop.run(asked_after_its_end())


@async_test
async def test_picture_that_ends_each_process_ends_two(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    async def dying(self: LookingProcess, *_: object) -> None:
        started.append(self.pid)
        raise ProcessEndedError("it has ended")

    monkeypatch.setattr(LookingProcess, "ask", dying)
    async with seeing() as vision:
        with pytest.raises(VisionError, match="failed: it has ended"):
            await vision.texts("a", picture())
        assert len(set(started)) == 2
        assert pids(vision) == []
        assert vision.failed == 1


@async_test
async def test_mistake_is_told_and_what_waits_behind_it_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = LookingProcess.ask

    async def mistaken(self: LookingProcess, question: Question, picture: bytes) -> Findings:
        if not picture:
            raise RuntimeError
        return await ask(self, question, picture)

    monkeypatch.setattr(LookingProcess, "ask", mistaken)
    wrong = Picture("png", b"", Size(1, 1), Region(0, 0, 1, 1), 0)
    async with seeing() as vision:
        first = asyncio.ensure_future(vision.texts("a", wrong))  # noqa: TID251
        second = asyncio.ensure_future(vision.texts("b", picture()))  # noqa: TID251
        with pytest.raises(VisionError, match=r"the server made a mistake \(RuntimeError\)"):
            await first
        assert len(await second) == 1


@async_test
async def test_picture_that_takes_too_long_ends_its_process() -> None:
    async with seeing(seconds=0.001) as vision:
        with pytest.raises(VisionError, match=r"not looked at within 0.001 s"):
            await vision.texts("a", picture())
        assert pids(vision) == []


@async_test
async def test_what_is_no_picture_is_refused_and_others_go_on() -> None:
    async with seeing() as vision:
        broken = Picture("png", b"no", Size(1, 1), Region(0, 0, 1, 1), 0)
        with pytest.raises(VisionError, match="cannot be looked at"):
            await vision.texts("a", broken)
        assert len(await vision.texts("a", picture())) == 1


@async_test
async def test_more_than_may_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vision_room, "MOST_OF_A_CALLER", 1)
    async with seeing() as vision:
        asking = [asyncio.ensure_future(vision.texts("a", picture())) for _ in range(3)]  # noqa: TID251
        ended = await asyncio.gather(*asking, return_exceptions=True)
        assert any(isinstance(each, VisionBusyError) for each in ended)
        assert any(isinstance(each, tuple) for each in ended)


@async_test
async def test_who_waits_is_told_that_the_server_stops() -> None:
    async with seeing() as vision:
        asking = asyncio.ensure_future(vision.texts("a", picture()))  # noqa: TID251
        await asyncio.sleep(0)
        await vision.close()
        with pytest.raises(VisionError, match="stopping"):
            await asking


@async_test
async def test_without_what_it_needs_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vision_room, "MODULES", ("no_such_module",))
    async with seeing() as vision:
        with pytest.raises(VisionMissingError, match="vision"):
            await vision.texts("a", picture())


@async_test
async def test_picture_is_looked_for_in_a_process_as_well() -> None:
    async with seeing() as vision:
        cut = drawn("Saved").crop((10, 30, 120, 70))
        sought = PictureShown(picture=base64_png(cut))
        found = await vision.judge("a", ((0, sought),), picture())
        assert found.at == Region(110, 80, 110, 40)
