"""Answers that are longer than one chunk: whole, of one version, or cut off."""

import json
from typing import Any

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from server.store.errors import NotFound, StoreUnavailable
from server.store.trajectories.parts import PartStore
from tests.service import Service
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


@pytest.mark.gen_test
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


@pytest.mark.gen_test
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


@pytest.mark.gen_test
async def test_trajectory_that_is_deleted_before_its_first_part_is_read_is_404(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await grown(service)

    async def gone(*_: Any) -> Any:
        raise NotFound("The trajectory was deleted while it was read.")
        yield b""

    monkeypatch.setattr(PartStore, "read", gone)
    reply = await service.get(path)
    assert (reply.status, reply.problem) == (404, "not-found")


@pytest.mark.gen_test
async def test_long_answer_within_a_document_is_whole(service: Service) -> None:
    steps = [{"text": "ü" * 300_000}] * 3
    made = await service.post("/v1/trajectories", sent(trajectory_data=steps))
    read = await service.get(made.headers["Location"])
    assert read.body == made.body
    assert json.loads(read.body)["trajectory_data"] == steps
