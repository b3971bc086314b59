"""The export over HTTP: every line as an import takes it, oldest first, from any line on."""

import json
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from schemas.resources.trajectories import ImportedTrajectory
from server.errors import NotFound
from server.store.trajectories.parts import PartStore
from tests.service import Service
from tests.trajectories import sent


async def made(service: Service, **fields: Any) -> dict[str, Any]:
    reply = await service.post("/v1/trajectories", sent(**fields))
    assert reply.status == 201, reply.body
    body: dict[str, Any] = reply.json
    return body


async def lines(service: Service, **query: Any) -> list[dict[str, Any]]:
    reply = await service.get("/v1/trajectories/export?" + urlencode(query))
    assert reply.status == 200, reply.body
    assert reply.headers["Content-Type"] == "application/jsonl"
    assert reply.body.endswith(b"\n") or not reply.body
    return [json.loads(line) for line in reply.body.splitlines()]


async def test_line_is_the_trajectory_as_an_import_takes_it(service: Service) -> None:
    given = await made(
        service, name="Ü\n\u2028", description="d", run_id=str(uuid4()), is_approved=True
    )
    (line,) = await lines(service)
    ImportedTrajectory.model_validate(line)
    own = {"user_id": None, "organization_id": given["organization_id"]}
    pictures = {"pictures_until": None, "pictures_expired_at": None}
    here = {**own, **pictures, "machine_id": None, "step_count": 1}
    assert {**line, **here} == given
    assert list(line)[-1] == "trajectory_data"


async def test_lines_are_oldest_first_then_by_id_and_go_on_after_any(service: Service) -> None:
    for number, day in ((5, 1), (3, 2), (4, 2), (1, 3), (2, 3)):
        await made(service, id=str(UUID(int=number)), created_at=f"2024-01-0{day}T00:00:00Z")
    whole = await lines(service)
    assert [UUID(line["id"]).int for line in whole] == [5, 3, 4, 1, 2]
    for place, line in enumerate(whole):
        after = {"after_created_at": line["created_at"], "after_id": line["id"]}
        assert await lines(service, **after) == whole[place + 1 :]


async def test_filters_are_those_of_the_list(service: Service) -> None:
    workflow = str(uuid4())
    await made(service, name="here", workflow_id=workflow)
    await made(service, name="pending", workflow_id=workflow, is_generated=False)
    await made(service, name="elsewhere")
    other = await service.elsewhere()
    await made(other, name="theirs", workflow_id=workflow)

    async def names(**query: str) -> list[str]:
        return [line["name"] for line in await lines(service, **query)]

    assert await names() == ["here", "elsewhere"]
    assert await names(workflow_id=workflow) == ["here"]
    assert await names(workflow_id=workflow, is_generated="null") == ["here", "pending"]
    assert await names(is_generated="false") == ["pending"]


@pytest.mark.parametrize(
    ("query", "loc"),
    [
        ("after_id=00000000-0000-4000-8000-000000000001", ["query"]),
        ("after_created_at=2024-01-01", ["query"]),
        ("limit=1", ["query", "limit"]),
        ("is_generated=1", ["query", "is_generated"]),
    ],
)
async def test_wrong_query_is_422(service: Service, query: str, loc: list[str]) -> None:
    ((place, _),) = (await service.get(f"/v1/trajectories/export?{query}")).faults
    assert place == loc


async def test_export_that_breaks_off_does_not_look_whole(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/v1/trajectories/{(await made(service, trajectory_data=[]))['id']}"
    await made(service, trajectory_data=[{"text": "x" * 100_000}], created_at="2024-01-01")
    for _ in range(2):
        await service.post(f"{path}/steps", {"steps": [{"text": "x" * 1_200_000}]})

    async def gone(*_: Any) -> Any:
        raise NotFound("The trajectory was deleted while it was read.")
        yield b""

    monkeypatch.setattr(PartStore, "read", gone)
    with pytest.raises(HTTPStreamClosedError):
        await service.get("/v1/trajectories/export?is_generated=null")
