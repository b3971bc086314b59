"""What was recorded on machines outside of a token's pools does not exist for it either."""

import json
from datetime import timedelta
from itertools import count
from uuid import UUID, uuid4

from schemas.resources.tokens import Scope
from server.store.trajectories.pictures import PictureStore
from server.store.trajectories.store import TrajectoryStore
from tests.events import listening
from tests.server.api.route_table import TABLE, Row
from tests.server.fleet.test_reach import bound, placed, put
from tests.service import Reply, Service
from tests.signs import drawn, png
from tests.trajectories import NOW, stored

PICTURE = b"\xff\xd8\xff" + b"p" * 100
_MILLISECONDS = count()


async def recorded(service: Service, machine_id: str | None, workflow_id: UUID) -> str:
    """The id of a new trajectory that was recorded on a machine."""
    database = service.server.services.operation.database
    time = NOW + timedelta(milliseconds=next(_MILLISECONDS))
    made = stored(
        id=uuid4(),
        organization_id=service.organization_id,
        workflow_id=workflow_id,
        name="An invoice",
        machine_id=machine_id,
        created_at=time,
        updated_at=time,
    )
    await TrajectoryStore(database).insert(made)
    return str(made.id)


async def asked(service: Service, row: Row, trajectory_id: str, token: str) -> Reply:
    """A right request of a row about a trajectory."""
    path = row.path.format(trajectory_id=trajectory_id, number=1)
    return await service.request(row.method, path, row.body, token=token, headers=row.headers)


def told(reply: Reply, trajectory_id: str) -> tuple[int, object]:
    """What an answer says, but for which trajectory and request it is about."""
    detail = reply.json["detail"].replace(trajectory_id, "it")
    return reply.status, {**reply.json, "detail": detail, "instance": None}


async def test_no_cell_of_the_matrix_is_wrong(service: Service) -> None:
    pool_id, token = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    rows = [row for row in TABLE if "{trajectory_id}" in row.path]
    wrong: list[tuple[object, ...]] = []
    for row in rows:
        of_none, within, beyond = [
            await recorded(service, each, uuid4()) for each in (None, inside, outside)
        ]
        nobodys, expected = str(uuid4()), 404
        if row.scope == Scope.TRAJECTORIES_APPROVE:
            expected = 403
        refused = told(await asked(service, row, beyond, token), beyond)
        unknown = told(await asked(service, row, nobodys, token), nobodys)
        if refused[0] != expected or refused != unknown:
            wrong.append((row.method, row.path, "outside", refused, unknown))
        # Nothing of what was refused was done.
        free = (await asked(service, row, beyond, "")).status
        for each in (of_none, within):
            reply = await asked(service, row, each, token)
            if reply.status != (expected if expected == 403 else free) or free == 404:
                wrong.append((row.method, row.path, "inside", reply.status, free))
    assert wrong == []
    assert len(rows) >= 9


async def test_lists_totals_searches_and_exports_have_what_is_in_reach(service: Service) -> None:
    pool_id, token = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    workflow = uuid4()
    of_none = await recorded(service, None, workflow)
    within = await recorded(service, inside, workflow)
    beyond = await recorded(service, outside, workflow)

    async def listed(query: str, token: str = token) -> set[str]:
        page = (await service.get(f"/v1/trajectories?{query}", token=token)).json
        assert page["total"] == len(page["items"])
        return {each["id"] for each in page["items"]}

    async def seen(token: str = token) -> tuple[set[str], ...]:
        lines = (await service.get("/v1/trajectories/export", token=token)).body.splitlines()
        return (
            *[await listed(query, token) for query in ("", f"workflow_id={workflow}")],
            *[await listed(f"search=invoice&sort={order}", token) for order in ("name", "-name")],
            {json.loads(line)["id"] for line in lines},
        )

    latest = f"/v1/workflows/{workflow}/latest-trajectory"
    for indexed in (False, True):
        if indexed:
            await service.server.services.library.indexer.index_all()
        assert await seen() == ({of_none, within},) * 5
        assert await seen(service.token) == ({of_none, within, beyond},) * 5
    for more in ("", "&search=invoice", "&sort=name", f"&workflow_id={workflow}&is_generated=null"):
        assert await listed(f"machine_id={inside}{more}") == {within}
        assert await listed(f"machine_id={outside}{more}") == set()
        assert await listed(f"machine_id={outside}{more}", service.token) == {beyond}
    assert (await service.get(latest, token=token)).json["id"] == within
    assert (await service.get(latest)).json["id"] == beyond
    await put(service, inside, pool_id, out=True)
    assert await seen() == ({of_none},) * 5
    await put(service, outside, pool_id)
    assert await seen() == ({of_none, beyond},) * 5


async def test_duplicates_stay_where_they_are_from_and_imports_find_nothing_out(
    service: Service,
) -> None:
    pool_id, token = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    workflow = uuid4()
    within, beyond = [await recorded(service, each, workflow) for each in (inside, outside)]
    for original, status in ((within, 200), (beyond, 404)):
        copy = (await service.post(f"/v1/trajectories/{original}/duplicate", {})).json["id"]
        assert (await service.get(f"/v1/trajectories/{copy}", token=token)).status == status
    for line in (await service.get("/v1/trajectories/export")).body.splitlines():
        given = json.loads(line)
        reply = await service.request(
            "POST",
            "/v1/trajectories/import",
            content=line,
            headers={"Content-Type": "application/x-ndjson"},
            token=token,
        )
        expected = {within: "there_already", beyond: "wrong"}.get(given["id"])
        assert expected is None or reply.json["outcome"] == expected


async def test_pictures_are_seen_by_who_sees_a_machine_that_they_show(service: Service) -> None:
    pool_id, token = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    pictures = PictureStore(service.server.services.operation.database)
    own = service.organization_id
    kept, _ = await pictures.add(own, "image/jpeg", PICTURE, outside)
    path = f"/v1/pictures/{kept.id}"
    assert (await service.get(path)).status == 200
    assert (await service.get(path, token=token)).status == 404
    assert (await service.request("DELETE", path, token=token)).status == 404
    assert not (await pictures.add(own, "image/jpeg", PICTURE, inside))[1]
    assert (await service.get(path, token=token)).status == 200
    await put(service, inside, pool_id, out=True)
    assert (await service.get(path, token=token)).status == 404
    # Whoever sends it has it, and is told nothing by that.
    jpeg = {"Content-Type": "image/jpeg"}
    for status in (201, 200):
        sent = await service.request(
            "POST", "/v1/pictures", content=PICTURE, headers=jpeg, token=token
        )
        assert sent.status == status
    assert (await service.get(path, token=token)).status == 200


async def test_run_is_begun_of_what_is_in_reach_alone(service: Service) -> None:
    pool_id, token = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)

    async def refusals(machine_id: str | None, *, by: str) -> list[str]:
        """Why no run is begun of what nobody has approved, alone and among many."""
        trajectory_id = await recorded(service, machine_id, uuid4())
        body = {"trajectory_id": trajectory_id, "machine_id": inside}
        alone = await service.post("/v1/runs", body, token=by)
        many = (await service.post("/v1/runs/bulk", {"items": [body]}, token=by)).json
        return [alone.json["detail"][0]["msg"], many["items"][0]["detail"]]

    for machine_id in (None, inside):
        assert all("approved" in each for each in await refusals(machine_id, by=token))
    assert all("approved" in each for each in await refusals(outside, by=service.token))
    beyond = await refusals(outside, by=token)
    assert all("There is no such trajectory" in each for each in beyond)


async def test_picture_out_of_reach_is_not_looked_for(service: Service) -> None:
    pool_id, token = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    pictures = PictureStore(service.server.services.operation.database)
    picture = png(drawn("a", (40, 20)))
    kept, _ = await pictures.add(service.organization_id, "image/png", picture, outside)
    path, body = f"/v1/computer/{inside}/wait", {"any": [{"picture": kept.id}], "timeout": 1}
    refused = await service.post(path, body, token=token)
    assert refused.faults == [(["body", "any", "0", "picture"], "picture_invalid")]
    # That it is away is all that is wrong for whoever sees the picture.
    assert (await service.post(path, body)).status == 503


async def test_events_tell_of_what_is_in_reach(service: Service) -> None:
    pool_id, token = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    beyond, within, of_none = [
        await recorded(service, each, uuid4()) for each in (outside, inside, None)
    ]
    async with listening(service, token=token) as stream:
        for each in (beyond, within, of_none):
            path = f"/v1/trajectories/{each}"
            assert (await service.request("PATCH", path, {"name": "n"})).status == 200
            assert (await service.post(f"{path}/duplicate", {})).status == 201
            assert (await service.request("DELETE", path)).status == 204
        heard = [(await stream.next()).data for _ in range(6)]
    assert [each["change"] for each in heard] == ["changed", "created", "deleted"] * 2
    assert [heard[at]["id"] for at in (0, 2, 3, 5)] == [within, within, of_none, of_none]


async def test_id_of_a_machine_that_was_removed_beyond_the_pools_is_taken(service: Service) -> None:
    """What was recorded on it would come with it."""
    pool_id, token = await bound(service)
    other_pool, _ = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    elsewhere, there = await placed(service, other_pool), await placed(service)
    gone = (inside, outside, elsewhere)
    made = {each: await recorded(service, each, uuid4()) for each in gone}
    for machine_id in gone:
        path = f"/v1/machines/{machine_id}"
        assert (await service.request("DELETE", path)).status == 204

    async def added(machine_id: str, token: str) -> Reply:
        new = {"id": machine_id, "pool_ids": [pool_id]}
        return await service.post("/v1/machines", new, token=token)

    taken = told(await added(there, token), there)
    for machine_id in (outside, elsewhere):
        assert told(await added(machine_id, token), machine_id) == taken
        path = f"/v1/trajectories/{made[machine_id]}"
        assert (await service.get(path, token=token)).status == 404
        assert (await service.get(f"/v1/machines/{machine_id}")).status == 404
    assert taken[0] == 409
    assert (await added(inside, token)).status == 201
    assert (await service.get(f"/v1/trajectories/{made[inside]}", token=token)).status == 200
    assert (await added(outside, service.token)).status == 201
