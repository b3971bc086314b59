"""Answers that are longer than one chunk: whole, of one version, or cut off."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from server.errors import NotFound, StoreUnavailable
from server.process import long_answers
from server.store.trajectories.parts import PartStore
from tests.raw_http import head, reluctant
from tests.service import Reply, Service, until
from tests.trajectories import WORKFLOW, sent

MEGABYTE = 1024 * 1024


async def grown(service: Service, *, steps: int = 4, **fields: Any) -> str:
    """The path of a trajectory that outgrew its document by appended steps of a megabyte."""
    new = sent(trajectory_data=[], is_generated=False, **fields)
    path = str((await service.post("/v1/trajectories", new)).headers["Location"])
    for number in range(steps):
        step = {"number": number, "picture": "x" * MEGABYTE}
        reply = await service.post(f"{path}/steps", {"steps": [step]})
        assert reply.json["step_count"] == number + 1, reply.body
    return path


def numbers(item: dict[str, Any]) -> list[int]:
    return [step["number"] for step in item["trajectory_data"]]


async def test_long_trajectory_is_the_same_alone_in_a_list_as_the_latest_and_changed(
    service: Service,
) -> None:
    path = await grown(service)
    changed = await service.request("PATCH", path, {"is_generated": True})
    alone = await service.get(path)
    assert int(alone.headers["Content-Length"]) == len(alone.body)
    assert numbers(alone.json) == [0, 1, 2, 3]
    assert changed.body == alone.body
    assert (await service.get(f"/v1/workflows/{WORKFLOW}/latest-trajectory")).body == alone.body
    await service.post("/v1/trajectories", sent(name="small"))
    items = (await service.get("/v1/trajectories")).json["items"]
    assert [item["name"] for item in items] == ["small", None]
    assert items[1] == alone.json
    included = await service.get(f"{path}?include=workflow")
    assert included.json == {**alone.json, "included": []}


async def test_answer_that_breaks_off_in_its_parts_does_not_look_whole(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await grown(service)
    whole = PartStore.read

    async def half(*arguments: Any) -> Any:
        async for part in whole(*arguments):
            yield part
            raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(PartStore, "read", half)
    for address in (path, "/v1/trajectories?is_generated=null"):
        with pytest.raises(HTTPStreamClosedError):
            await service.get(address)


async def test_trajectory_that_is_deleted_before_its_first_part_is_read_is_404(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await grown(service)

    async def gone(*_: Any) -> Any:
        raise NotFound("The trajectory was deleted while it was read.")
        yield b""

    monkeypatch.setattr(PartStore, "read", gone)
    assert (await service.get(path)).refusal == (404, "not-found")


async def test_long_answer_within_a_document_is_whole(service: Service) -> None:
    steps = [{"text": "ü" * 300_000}] * 3
    made = await service.post("/v1/trajectories", sent(trajectory_data=steps))
    read = await service.get(made.headers["Location"])
    assert read.body == made.body
    assert json.loads(read.body)["trajectory_data"] == steps


EXPORT = "/v1/trajectories/export?is_generated=null"


@asynccontextmanager
async def unread(
    service: Service, count: int, token: str = "", path: str = EXPORT
) -> AsyncIterator[None]:
    """So many long answers are asked for, and none is read."""
    async with AsyncExitStack() as readers:
        for _ in range(count):
            reader = await readers.enter_async_context(reluctant(service))
            await reader.say(head(service, f"GET {path}", token=token))
        yield


async def a_picture(service: Service) -> str:
    """The path of a picture of some megabytes."""
    content = b"\x89PNG\r\n\x1a\n" + bytes(8 * MEGABYTE)
    kept = await service.request(
        "POST", "/v1/pictures", headers={"Content-Type": "image/png"}, content=content
    )
    return str(kept.headers["Location"])


async def many_workflows(service: Service) -> str:
    """The path of a list of workflows of some megabytes."""
    text = "\x01" * 10_000  # JSON has six bytes for each.
    for number in range(140):
        made = await service.post("/v1/workflows", {"name": f"{number}", "description": text})
        assert made.status == 201, made.body
    return "/v1/workflows?limit=1000"


async def trajectories(service: Service) -> str:
    """The path of an export of some megabytes."""
    await grown(service, steps=8)
    return EXPORT


LONG = [trajectories, a_picture, many_workflows]


@pytest.mark.parametrize("long_answer", LONG)
async def test_caller_who_reads_nothing_has_few_places_and_leaves_others_theirs(
    service: Service, monkeypatch: pytest.MonkeyPatch, long_answer: Callable[..., Awaitable[str]]
) -> None:
    monkeypatch.setattr(long_answers, "WAIT_SECONDS", 0.2)
    path, unread_path = await grown(service), await long_answer(service)
    other = (await service.post("/v1/tokens", {"name": "o", "scopes": ["trajectories:read"]})).json
    services = service.server.services
    async with unread(service, long_answers.MOST_OF_A_CALLER + 4, other["token"], unread_path):
        await until(lambda: services.operation.under_way == long_answers.MOST_OF_A_CALLER)
        for address in (path, unread_path, "/v1/trajectories", "/v1/workflows"):
            refused = await service.get(address, token=other["token"])
            assert (refused.status, refused.problem) == (429, "too-many-streams")
            assert refused.headers["Retry-After"] == "5"
            assert (await service.get(address)).status == 200
    # Whoever goes away leaves their place.
    await until(lambda: services.operation.under_way == 0)
    assert (await service.get(path, token=other["token"])).status == 200


async def test_one_who_waits_for_a_place_gets_it_when_another_is_read(service: Service) -> None:
    path = await grown(service)

    async def read() -> Reply:
        return await service.get(path)

    async with unread(service, long_answers.MOST_OF_A_CALLER):
        await until(
            lambda: service.server.services.operation.under_way == long_answers.MOST_OF_A_CALLER
        )
        waiting = service.server.services.background.start(read(), "read")
        await asyncio.sleep(0.1)
        assert not waiting.done()
    assert (await waiting).status == 200


@pytest.mark.parametrize("long_answer", LONG)
async def test_reader_that_takes_nothing_is_cut_off(
    service: Service, monkeypatch: pytest.MonkeyPatch, long_answer: Callable[..., Awaitable[str]]
) -> None:
    path = await long_answer(service)
    services = service.server.services
    hurried = services.settings.model_copy(update={"body_timeout": 0.6})
    monkeypatch.setitem(vars(services), "settings", hurried)
    async with reluctant(service) as reader:
        await reader.say(head(service, f"GET {path}"))
        await until(lambda: services.operation.under_way == 1)
        await until(lambda: services.operation.under_way == 0)
        answer = await reader.rest()
    assert 0 < len(answer) < 8 * MEGABYTE


async def test_token_that_is_revoked_ends_a_long_answer(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "server")
    path = await grown(service)
    made = (await service.post("/v1/tokens", {"name": "r", "scopes": ["trajectories:read"]})).json
    whole = PartStore.read

    async def slow(*arguments: Any) -> Any:
        is_first = True
        async for part in whole(*arguments):
            yield part
            if is_first:
                is_first = False
                revoked = await service.request("DELETE", f"/v1/tokens/{made['id']}")
                assert revoked.status == 204
                await asyncio.sleep(1.1)  # The server looks after each second.

    monkeypatch.setattr(PartStore, "read", slow)
    with pytest.raises(HTTPStreamClosedError):
        await service.get(path, token=made["token"])
    assert "closing: " in caplog.text
