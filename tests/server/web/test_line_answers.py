"""Answers to lines: for clients that read at once, that read at the end, and that never do."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from schemas.resources.tokens import Scope
from server.errors import StoreError, StoreUnavailable
from server.web import line_answers
from server.web.bodies.lines import WAITING_BYTES
from tests.imports import CHUNKED, REQUEST, imported, kept, line, outcomes, send
from tests.raw_http import connection, head, reluctant
from tests.service import Service, until

WRONG = b"wrong\n"


async def test_client_that_reads_nothing_before_it_has_sent_everything_gets_all_answers(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In sum the answers are longer than what the sockets hold.
    monkeypatch.setattr(line_answers, "MAX_UNREAD_BYTES", 16_000_000)
    count, memory = 40_000, service.server.services.operation.body_memory
    async with reluctant(service) as client:
        length = f"Content-Length: {count * len(WRONG)}"
        await client.say(head(service, REQUEST, length, "Connection: close", media="x-ndjson"))
        for _ in range(100):
            await client.say(WRONG * (count // 100))
        # Nothing is read, and it goes on.
        await until(lambda: memory.used > 2_000_000)
        answer = await client.rest()
    assert len(answer) > 7_000_000
    assert answer.count(b'"outcome":"wrong"') == count
    assert answer.endswith(b"0\r\n\r\n")
    assert memory.used == 0


async def test_client_that_never_reads_is_waited_for_and_then_cut_off(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = service.server.services
    # For reading alone: a client that is halted for a moment has not ended its body.
    hurried = services.settings.model_copy(update={"body_timeout": 0.6})
    monkeypatch.setitem(vars(services), "settings", hurried)
    monkeypatch.setattr(line_answers, "MAX_UNREAD_BYTES", 1_000_000)
    memory, most = service.server.services.operation.body_memory, 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, memory.used)
            await asyncio.sleep(0.005)

    watching = service.server.services.background.start(watch(), "watch")
    async with reluctant(service) as client:
        await client.say(head(service, REQUEST, f"Content-Length: {10**9}", media="x-ndjson"))

        async def endless() -> None:
            while True:
                await client.say(WRONG * 5000)

        with pytest.raises(ConnectionError):
            await endless()
    watching.cancel()
    # Beside the answers, what is kept of the lines.
    assert 1_000_000 < most < 1_000_000 + 3 * WAITING_BYTES
    await until(lambda: not memory.receiving and memory.used == 0)
    await until(lambda: service.server.services.operation.under_way == 0)


class Failing:
    """An import that fails when so many batches are stored."""

    def __init__(self, service: Service, after: int, error: Exception) -> None:
        self._add = service.server.services.library.imports.add
        self._after = after
        self._error = error

    async def add(self, *arguments: Any, **options: Any) -> Any:
        self._after -= 1
        if self._after < 0:
            raise self._error
        return await self._add(*arguments, **options)


async def test_database_that_goes_away_in_the_middle_cuts_the_answer_off(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing = service.server.services.library.imports
    lines = [line() for _ in range(600)]
    monkeypatch.setattr(importing, "add", Failing(service, 1, StoreUnavailable("away")).add)
    async with connection(service) as client:
        length = f"Content-Length: {sum(map(len, lines))}"
        await client.say(head(service, REQUEST, length, media="x-ndjson"), b"".join(lines))
        rest = await client.rest()
    # What is stored is answered, and nobody takes that for all of it.
    stored = len(await kept(service))
    assert 0 < stored <= 250
    assert rest.count(b'"outcome":"imported"') == stored
    assert not rest.endswith(b"0\r\n\r\n")
    monkeypatch.undo()
    again = outcomes(await imported(service, lines))
    assert again.count("there_already") == stored
    assert again.count("imported") == 600 - stored


@pytest.mark.parametrize(
    ("error", "status", "problem"),
    [
        (StoreUnavailable("away"), 503, "storage-unavailable"),
        (StoreError("what is that"), 500, "internal-error"),
        (RuntimeError("a mistake"), 500, "internal-error"),
    ],
)
async def test_failure_before_the_first_answer_is_a_problem(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    problem: str,
) -> None:
    importing = service.server.services.library.imports
    monkeypatch.setattr(importing, "add", Failing(service, 0, error).add)
    assert (await send(service, [line()])).refusal == (status, problem)
    assert service.server.services.operation.body_memory.used == 0


async def test_mistake_of_the_server_in_the_middle_cuts_the_answer_off(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing = service.server.services.library.imports
    monkeypatch.setattr(importing, "add", Failing(service, 1, RuntimeError("a mistake")).add)
    async with connection(service) as client:
        await client.say(head(service, REQUEST, CHUNKED, media="x-ndjson"))
        text = b"".join(line() for _ in range(600))
        await client.say(f"{len(text):x}\r\n".encode() + text + b"\r\n0\r\n\r\n")
        assert not (await client.rest()).endswith(b"0\r\n\r\n")


async def test_server_that_stops_does_not_wait_for_the_first_line(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = service.server.services
    async with connection(service) as client:
        await client.say(head(service, REQUEST, CHUNKED, media="x-ndjson"))
        await until(lambda: services.operation.under_way)
        monkeypatch.setattr(services.operation, "stopping", True)
        status, _, problem = await client.answer()
        assert (status, problem["type"]) == (503, "/problems/server-stopping")
        assert await client.rest() == b""
    monkeypatch.undo()


async def test_token_that_is_revoked_in_the_middle_stores_no_further_lines(
    service: Service,
) -> None:
    token = await service.new_token(Scope.TRAJECTORIES_WRITE)
    async with connection(service) as client:
        text = line()
        chunk = f"{len(text):x}\r\n".encode() + text + b"\r\n"
        await client.say(head(service, REQUEST, CHUNKED, media="x-ndjson", token=token), chunk)
        assert (await client.answer())[0] == 200
        tokens = (await service.get("/v1/tokens")).json["items"]
        (own,) = [each for each in tokens if each["scopes"] == ["trajectories:write"]]
        assert (await service.request("DELETE", f"/v1/tokens/{own['id']}")).status == 204
        reading = asyncio.get_running_loop().create_task(client.rest())
        while not reading.done():
            # For a moment the token may be known still; in the end nobody takes the line.
            with suppress(ConnectionError):
                await client.say(chunk)
            await asyncio.sleep(0.05)
        assert not (await reading).endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("is_silent", [True, False])
async def test_server_that_stops_takes_no_further_lines(
    service: Service, monkeypatch: pytest.MonkeyPatch, is_silent: bool
) -> None:
    services = service.server.services
    async with connection(service) as client:
        text = line()
        await client.say(head(service, REQUEST, CHUNKED, media="x-ndjson"))
        await client.say(f"{len(text):x}\r\n".encode() + text + b"\r\n")
        assert (await client.answer())[0] == 200
        monkeypatch.setattr(services.operation, "stopping", True)
        if not is_silent:
            await client.say(f"{len(text):x}\r\n".encode() + text + b"\r\n0\r\n\r\n")
        rest = await client.rest()
        assert rest.count(b'"outcome":"imported"') == 1
        assert not rest.endswith(b"0\r\n\r\n")
    monkeypatch.undo()
    await until(lambda: services.operation.under_way == 0)
