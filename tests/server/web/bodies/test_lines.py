"""Bodies of any length: read as fast as their lines are taken, and bounded while they wait."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from server.process import body_memory
from server.web.bodies import lines
from server.web.bodies.lines import WAITING_BYTES, LineBody
from tests.clock import Clock
from tests.imports import CHUNKED, REQUEST, answers, imported, kept, line, outcomes
from tests.raw_http import RawConnection, connection, head
from tests.service import PATIENCE_SECONDS, Service, until


def chunk(text: bytes) -> bytes:
    return f"{len(text):x}\r\n".encode() + text + b"\r\n"


END = b"0\r\n\r\n"


@asynccontextmanager
async def importing(service: Service, *lines: str) -> AsyncIterator[RawConnection]:
    """An import whose lines are still to come."""
    async with connection(service) as client:
        await client.say(head(service, REQUEST, *(lines or (CHUNKED,)), media="x-ndjson"))
        yield client


async def answered(client: RawConnection) -> list[dict[str, Any]]:
    """What the next chunk of the answer says."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        size = int(await client._reader.readuntil(b"\r\n"), 16)
        text = await client._reader.readexactly(size + 2)
    return answers(text[:-2])


async def test_slow_sender_has_each_answer_before_it_goes_on(service: Service) -> None:
    async with importing(service) as client:
        for number in range(1, 4):
            text = line()
            await client.say(chunk(text[:30]), chunk(text[30:]))
            if number == 1:
                status, headers, _ = await client.answer()
                assert (status, headers["content-type"]) == (200, "application/x-ndjson")
            (answer,) = await answered(client)
            assert (answer["line"], answer["outcome"]) == (number, "imported")
            assert len(await kept(service)) == number
        await client.say(chunk(b"wrong"), END)
        assert outcomes(await answered(client)) == ["wrong"]
        assert await answered(client) == []
        await client.say(head(service, "GET /v1/workflows"))
        assert (await client.answer())[0] == 200


async def test_fast_sender_is_held_back_while_its_lines_are_stored(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = service.server.services
    add, may_go_on = services.library.imports.add, asyncio.Event()

    async def slow(*arguments: Any, **options: Any) -> Any:
        await may_go_on.wait()
        return await add(*arguments, **options)

    monkeypatch.setattr(services.library.imports, "add", slow)
    text = line(trajectory_data=[{"text": "x" * 50_000}])
    many, sent = [line(trajectory_data=[{"text": "x" * 50_000}]) for _ in range(600)], 0
    async with importing(service, f"Content-Length: {600 * len(text)}") as client:

        async def send() -> None:
            nonlocal sent
            for each in many:
                await client.say(each)
                sent += 1

        sending = services.background.start(send(), "send")
        await until(lambda: services.operation.body_memory.used > WAITING_BYTES)
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.3)
        # What is in the sockets' own buffers comes on top, and is not the server's.
        assert sent < 400
        assert services.operation.body_memory.used < 4 * WAITING_BYTES
        # Whoever is held back is not late.
        assert not any(
            isinstance(body, LineBody) for body in services.operation.body_memory.receiving
        )
        may_go_on.set()
        await sending
        assert (await client.answer())[0] == 200
        seen: list[dict[str, Any]] = []
        while len(seen) < 600:
            seen += await answered(client)
    assert outcomes(seen) == ["imported"] * 600
    await until(lambda: services.operation.body_memory.used == 0)


@pytest.mark.parametrize("framing", [CHUNKED, "Content-Length: 1000000"])
async def test_of_a_broken_connection_the_whole_lines_count(service: Service, framing: str) -> None:
    first, second, cut = line(), line(), line()
    pieces = [first, second, cut.rstrip(b"\n")]
    if framing == CHUNKED:
        pieces = [chunk(piece) for piece in pieces]
    async with importing(service, framing) as client:
        await client.say(*pieces[:2])
        await until_kept(service, 2)
        await client.say(pieces[2])
    services = service.server.services
    await until(lambda: not services.operation.body_memory.receiving)
    await until(
        lambda: services.operation.body_memory.used == 0 and services.operation.under_way == 0
    )
    assert len(await kept(service)) == 2
    again = await imported(service, [first, second, cut])
    assert outcomes(again) == ["there_already", "there_already", "imported"]
    assert len(await kept(service)) == 3


async def until_kept(service: Service, count: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(await kept(service)) < count:  # noqa: ASYNC110 - only the database knows
            await asyncio.sleep(0.02)


async def test_sender_that_falls_silent_is_cut_off_and_no_slow_one(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, clock = service.server.services, Clock()
    memory, timeout = services.operation.body_memory, services.settings.body_timeout
    clock.now = time.monotonic()  # It stands still but for what the test says.
    for module in (lines, body_memory):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=clock))
    async with importing(service) as client:
        text = line()
        # Longer in all than anybody may be silent, and each time less.
        for at in range(0, 80, 10):
            clock.now += 0.9 * timeout
            memory.close_slow(timeout)
            await client.say(chunk(text[at : at + 10] if at < 70 else text[at:]))
            await until(lambda: clock.now in memory.receiving.values())
        assert (await client.answer())[0] == 200
        assert outcomes(await answered(client)) == ["imported"]
        clock.now += 1.1 * timeout
        memory.close_slow(timeout)
        assert await client.rest() == b""
    await until(lambda: services.operation.under_way == 0)


@pytest.mark.own_server
async def test_line_that_finds_no_room_ends_the_import_and_comes_through_later(
    service: Service,
) -> None:
    memory = service.server.services.operation.body_memory
    memory.limit = 200_000
    long = line(trajectory_data=[{"text": "x" * 300_000}])
    async with importing(service) as client:
        await client.say(chunk(long), END)
        status, headers, problem = await client.answer()
        assert (status, problem["type"]) == (503, "/problems/server-busy")
        assert headers["retry-after"] == "1"
        assert memory.used == 0
    memory.limit = 1_000_000
    assert outcomes(await imported(service, [long])) == ["imported"]
    assert memory.used == 0


@pytest.mark.own_server
async def test_full_memory_takes_no_further_import(service: Service) -> None:
    memory = service.server.services.operation.body_memory
    memory.limit = 0
    async with importing(service) as client:
        assert (await client.answer())[0] == 503


async def test_who_waits_for_100_continue_is_told_to_go_on(service: Service) -> None:
    text = line()
    async with importing(service, f"Content-Length: {len(text)}", "Expect: 100-continue") as client:
        assert (await client.answer())[0] == 100
        await client.say(text)
        assert (await client.answer())[0] == 200
        assert outcomes(await answered(client)) == ["imported"]
