"""A trajectory's changes over HTTP: fields, states, steps, duplicates, deletion."""

import asyncio
import json
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from schemas.resources.trajectories import Trajectory, TrajectoryHead
from tests.server.api.trajectories.requests import created, patched, path_of
from tests.service import Service

RUN = str(uuid4())


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        ({}, {"name": "new"}),
        ({"name": "old"}, {"name": None}),
        ({"name": "old", "description": "d"}, {"description": "other"}),
        ({"description": "d"}, {"description": None}),
        ({}, {"run_id": RUN}),
        ({"run_id": RUN}, {"run_id": None}),
        ({}, {"dimensions": {"width": 3, "height": 4, "a.b": {"$set": 1}}}),
        ({}, {"original_input_values": {"$inc": {"version": 1}, "": 1e100}}),
        ({}, {"is_approved": True, "has_been_approved": True}),
        ({}, {"is_main": True}),
        ({"is_main": True}, {"workflow_id": RUN, "is_main": False}),
        ({}, {"is_generated": False}),
        (
            {"is_generated": False},
            {"is_generated": True, "is_approved": True, "has_been_approved": True, "name": "n"},
        ),
        ({"created_at": "2024-01-01T00:00:00Z"}, {"updated_at": "2024-02-02T00:00:00.000Z"}),
    ],
)
async def test_what_is_named_changes_and_nothing_else(
    service: Service, given: dict[str, Any], changes: dict[str, Any]
) -> None:
    before = await created(service, **given)
    asked = {name: value for name, value in changes.items() if name != "has_been_approved"}
    reply = await patched(service, path_of(before), asked)
    assert reply.status == 200, reply.body
    # What comes of the content has tests of its own: test_reviews.py.
    made_of_it = {name: reply.json[name] for name in ("updated_at", "content_hash")}
    assert reply.json == {**before.json, **made_of_it, **changes}
    assert reply.json["updated_at"] >= before.json["updated_at"]
    Trajectory.model_validate(reply.json)
    read = await service.get(path_of(before))
    assert (read.json, read.headers["ETag"]) == (reply.json, reply.headers["ETag"])
    assert read.headers["ETag"] != before.headers["ETag"]


async def test_approval_that_is_withdrawn_has_been_one(service: Service) -> None:
    path = path_of(await created(service, is_approved=True))
    for is_approved in (False, True, False):
        reply = await patched(service, path, {"is_approved": is_approved})
        flags = reply.json["is_approved"], reply.json["has_been_approved"]
        assert flags == (is_approved, True)
    assert (await service.get("/v1/trajectories")).json["items"] == [reply.json]


async def test_workflow_has_one_main_trajectory_which_moves(service: Service) -> None:
    workflow = str(uuid4())
    made = [await created(service, workflow_id=workflow, is_main=True) for _ in range(3)]
    assert [each.json["is_main"] for each in made] == [True, False, False]
    elsewhere = await created(service, workflow_id=str(uuid4()), is_main=True)
    moved = await patched(service, path_of(made[1]), {"is_main": True})
    assert moved.json["is_main"]
    former = await service.get(path_of(made[0]))
    assert former.json == {**made[0].json, "is_main": False}
    assert former.headers["ETag"] != made[0].headers["ETag"]
    at_once = await asyncio.gather(
        *(patched(service, path_of(each), {"is_main": True}) for each in made * 3)
    )
    assert {reply.status for reply in at_once} == {200}
    mains = [
        each["id"]
        for each in (await service.get("/v1/trajectories")).json["items"]
        if each["is_main"]
    ]
    assert len(mains) == 2
    assert elsewhere.json["id"] in mains
    for each in made:
        assert (await patched(service, path_of(each), {"is_main": False})).json["is_main"] is False
    await service.request("DELETE", path_of(made[1]))
    assert (await created(service, workflow_id=workflow, is_main=True)).json["is_main"]


async def test_import_keeps_what_was_approved_and_moves_no_main_trajectory(
    service: Service,
) -> None:
    workflow = str(uuid4())
    standing = await created(service, workflow_id=workflow, is_main=True)
    exported = (await service.get("/v1/trajectories/export")).body
    await service.request("DELETE", path_of(standing))
    withdrawn = json.loads(exported) | {"has_been_approved": True, "id": str(uuid4())}
    lines = exported + json.dumps(withdrawn).encode() + b"\n"
    headers = {"Content-Type": "application/x-ndjson"}
    for _ in range(2):
        reply = await service.post("/v1/trajectories/import", content=lines, headers=headers)
        assert reply.status == 200
    found = [
        (await service.get(f"/v1/trajectories/{each}")).json
        for each in (standing.json["id"], withdrawn["id"])
    ]
    assert [(each["is_main"], each["has_been_approved"]) for each in found] == [
        (True, False),
        (False, True),
    ]


async def test_input_values_are_cleared_to_none(service: Service) -> None:
    before = await created(service, original_input_values={"a": 1})
    reply = await patched(service, path_of(before), {"original_input_values": None})
    assert reply.json["original_input_values"] == {}


async def test_changed_name_and_description_are_found_and_the_old_ones_are_not(
    service: Service,
) -> None:
    before = await created(service, name="Apfel", description="Birne")
    await patched(service, path_of(before), {"name": "Kirsche"})
    for word, total in (("apfel", 0), ("kirsche", 1), ("birne", 1)):
        assert (await service.get(f"/v1/trajectories?search={word}")).json["total"] == total


async def test_change_of_the_flags_moves_it_between_the_lists(service: Service) -> None:
    path = path_of(await created(service))

    async def totals() -> list[int]:
        queries = ("is_generated=true", "is_generated=false", "is_approved=true")
        pages = [await service.get(f"/v1/trajectories?{query}") for query in queries]
        return [page.json["total"] for page in pages]

    assert await totals() == [1, 0, 0]
    await patched(service, path, {"is_approved": True})
    assert await totals() == [1, 0, 1]
    await patched(service, path, {"is_approved": False, "is_generated": False})
    assert await totals() == [0, 1, 0]
    await service.request("DELETE", path)
    assert await totals() == [0, 0, 0]


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        ({"name": "n" * 256}, ["body", "name"], "string_too_long"),
        ({"name": 7}, ["body", "name"], "string_type"),
        ({"name": {"$gt": ""}}, ["body", "name"], "string_type"),
        ({"dimensions": None}, ["body", "dimensions"], "model_attributes_type"),
        ({"dimensions": {"width": 1}}, ["body", "dimensions", "height"], "missing"),
        ({"is_approved": None}, ["body", "is_approved"], "bool_type"),
        ({"is_generated": "true"}, ["body", "is_generated"], "bool_type"),
        ({"original_input_values": []}, ["body", "original_input_values"], "dict_type"),
        ({"workflow_id": None}, ["body", "workflow_id"], "uuid_type"),
        ({"review": {"state": "approved"}}, ["body", "review"], "extra_forbidden"),
        ({"content_hash": "0" * 64}, ["body", "content_hash"], "extra_forbidden"),
        ({"id": str(uuid4())}, ["body", "id"], "extra_forbidden"),
        ({"trajectory_data": []}, ["body", "trajectory_data"], "extra_forbidden"),
        ({"updated_at": 7}, ["body", "updated_at"], "datetime_type"),
    ],
)
async def test_wrong_change_is_422_and_changes_nothing(
    service: Service, body: dict[str, Any], loc: list[str], kind: str
) -> None:
    before = await created(service)
    reply = await patched(service, path_of(before), body)
    assert reply.faults[0][0] == loc
    assert (await service.get(path_of(before))).json == before.json


@pytest.mark.parametrize(
    ("given", "changes", "words"),
    [
        ({"is_generated": False}, {"is_approved": True}, "only what is generated"),
        ({"trajectory_data": []}, {"is_generated": True}, "no step"),
        ({"trajectory_data": None}, {"is_generated": True, "is_approved": True}, "no step"),
        ({"is_approved": True}, {"is_generated": False}, "withdraw the approval"),
        ({}, {"updated_at": "2001-01-01T00:00:00Z"}, "before its created_at"),
    ],
)
async def test_change_that_the_state_does_not_allow_is_409_and_changes_nothing(
    service: Service, given: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    before = await created(service, **given)
    reply = await patched(service, path_of(before), {"name": "n", **changes})
    assert (reply.status, reply.problem) == (409, "wrong-state")
    assert words in reply.json["detail"]
    assert (await service.get(path_of(before))).json == before.json


async def test_from_pending_to_approved_and_back_step_by_step(service: Service) -> None:
    path = path_of(await created(service, trajectory_data=None))
    steps = f"{path}/steps"
    assert (await service.post(steps, {"steps": [{"n": 1}]})).status == 200
    for changes in ({"is_generated": True}, {"is_approved": True}):
        assert (await patched(service, path, changes)).status == 200
        reply = await service.post(steps, {"steps": [{"n": 2}]})
        assert (reply.status, reply.problem) == (409, "wrong-state")
        assert "pending generation" in reply.json["detail"]
    for changes in ({"is_approved": False}, {"is_generated": False}):
        assert (await patched(service, path, changes)).status == 200
    assert (await service.post(steps, {"steps": [{"n": 2}]})).status == 200
    assert (await service.get(path)).json["trajectory_data"] == [{"n": 1}, {"n": 2}]


async def test_appending_answers_the_head_with_the_new_number_of_steps(service: Service) -> None:
    before = await created(service, is_generated=False, name="n")
    steps = [{"$push": {"a.b": [1, 2.0, None]}}, {}]
    reply = await service.post(f"{path_of(before)}/steps", {"steps": steps})
    assert reply.status == 200
    assert TrajectoryHead.model_validate(reply.json).step_count == 3
    assert "trajectory_data" not in reply.json
    read = await service.get(path_of(before))
    assert read.json["trajectory_data"] == [*before.json["trajectory_data"], *steps]
    assert read.headers["ETag"] == reply.headers["ETag"]


@pytest.mark.parametrize(
    ("content", "loc", "kind"),
    [
        (b'{"steps":[]}', ["body", "steps"], "too_short"),
        (b'{"steps":null}', ["body", "steps"], "list_type"),
        (b'{"steps":[1]}', ["body", "steps", "0"], "dict_type"),
        (b'{"steps":[{"a":NaN}]}', ["body", "steps"], "json_value"),
        (b'{"steps":[{"a":1e999}]}', ["body", "steps"], "json_value"),
        (b'{"steps":[{"a":"\\ud800"}]}', ["body"], "json_invalid"),
        (b'{"steps":[{}],"is_generated":true}', ["body", "is_generated"], "extra_forbidden"),
        (b'{"steps":' + b"[" * 99_000, ["body"], "json_invalid"),
        (b'{"steps":[' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"]}", ["body"], "json_invalid"),
        (b"{}", ["body", "steps"], "missing"),
        (b"", ["body"], "json_invalid"),
    ],
    ids=range(11),
)
async def test_wrong_steps_are_422_and_none_of_them_is_kept(
    service: Service, content: bytes, loc: list[str], kind: str
) -> None:
    before = await created(service, is_generated=False)
    reply = await service.post(f"{path_of(before)}/steps", content=content)
    assert reply.faults[0] == (loc, kind)
    assert (await service.get(path_of(before))).json == before.json


async def test_step_of_12_megabytes_is_taken_and_a_body_beyond_the_limit_refused(
    service: Service,
) -> None:
    path = path_of(await created(service, is_generated=False))
    step = {"picture": "x" * 12_000_000}
    assert (await service.post(f"{path}/steps", {"steps": [step]})).status == 200
    assert (await service.get(path)).json["trajectory_data"][1] == step
    reply = await service.post(f"{path}/steps", {"steps": [step, step]})
    assert (reply.status, reply.problem) == (413, "body-too-large")
    assert len((await service.get(path)).json["trajectory_data"]) == 2


async def test_steps_appended_at_once_are_all_kept(service: Service) -> None:
    path = path_of(await created(service, trajectory_data=[]))

    async def append(number: int) -> None:
        # Some outgrow the document, and some do not.
        step = {"number": number, "text": "x" * (400_000 if number % 2 else 1)}
        reply = await service.post(f"{path}/steps", {"steps": [step]})
        assert reply.status == 200, reply.body

    await asyncio.gather(*map(append, range(12)))
    read = (await service.get(path)).json["trajectory_data"]
    assert sorted(step["number"] for step in read) == list(range(12))


async def test_changes_of_different_fields_at_once_are_all_kept(service: Service) -> None:
    path = path_of(await created(service, is_generated=False))
    changes = {"name": "n", "description": "d", "run_id": RUN, "is_generated": True}
    replies = await asyncio.gather(
        *(patched(service, path, {name: value}) for name, value in changes.items())
    )
    assert {reply.status for reply in replies} == {200}
    assert len({reply.headers["ETag"] for reply in replies}) == 4
    read = (await service.get(path)).json
    assert {name: read[name] for name in changes} == changes


async def test_deleted_is_gone_from_everywhere(service: Service) -> None:
    path = path_of(await created(service, name="gone"))
    reply = await service.request("DELETE", path)
    assert (reply.status, reply.body) == (204, b"")
    assert (await service.get("/v1/trajectories")).json["total"] == 0
    for method, address, body in (
        ("GET", path, None),
        ("DELETE", path, None),
        ("PATCH", path, {"name": "n"}),
        ("POST", f"{path}/steps", {"steps": [{}]}),
        ("POST", f"{path}/duplicate", {}),
    ):
        assert (await service.request(method, address, body)).refusal == (404, "not-found")


async def test_other_organizations_can_do_nothing_with_it(service: Service) -> None:
    other, before = await service.elsewhere(), await created(service, is_generated=False)
    path = path_of(before)
    for method, address, body in (
        ("DELETE", path, None),
        ("PATCH", path, {"name": "n"}),
        ("POST", f"{path}/steps", {"steps": [{}]}),
        ("POST", f"{path}/duplicate", {}),
    ):
        assert (await other.request(method, address, body)).status == 404
    assert (await service.get(path)).json == before.json


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("one", {}, "one (copy)"),
        ("one", None, "one (copy)"),
        ("one", {"name": None}, "one (copy)"),
        ("one", {"name": "two"}, "two"),
        ("n" * 255, {}, "n" * 248 + " (copy)"),
        (None, {}, None),
        (None, {"name": "two"}, "two"),
    ],
)
async def test_duplicate_is_the_same_but_for_its_id_times_name_and_approval(
    service: Service, name: str | None, given: Any, expected: str | None
) -> None:
    original = await created(
        service,
        name=name,
        description="d",
        run_id=RUN,
        is_approved=True,
        is_main=True,
        workflow_id=str(uuid4()),
        original_input_values={"a": 1},
        created_at="2024-01-01T00:00:00Z",
    )
    reply = await service.post(f"{path_of(original)}/duplicate", given)
    assert reply.status == 201
    copy = (await service.get(path_of(reply))).json
    unapproved = {"is_approved": False, "has_been_approved": False, "is_main": False}
    assert copy["id"] not in (original.json["id"], None)
    assert copy["created_at"] == copy["updated_at"] > original.json["created_at"]
    own = {field: copy[field] for field in ("id", "created_at", "updated_at")}
    assert copy == {**original.json, **own, "name": expected, **unapproved}
    head = TrajectoryHead.model_validate(reply.json)
    assert (str(head.id), head.step_count) == (copy["id"], 1)
    assert (await service.get(path_of(original))).json == original.json


async def test_duplicate_and_original_go_their_own_ways(service: Service) -> None:
    original = path_of(await created(service, trajectory_data=[]))

    async def append(path: str, who: str) -> None:
        step = {"who": who, "text": "x" * 1_200_000}
        assert (await service.post(f"{path}/steps", {"steps": [step]})).status == 200

    async def steps(path: str) -> list[str]:
        return [step["who"] for step in (await service.get(path)).json["trajectory_data"]]

    await append(original, "both")
    copy = path_of(await service.post(f"{original}/duplicate"))
    await append(original, "original")
    await append(copy, "copy")
    later = path_of(await service.post(f"{copy}/duplicate"))
    await append(copy, "copy again")
    assert await steps(original) == ["both", "original"]
    await service.request("DELETE", original)
    assert await steps(copy) == ["both", "copy", "copy again"]
    await service.request("DELETE", copy)
    assert await steps(later) == ["both", "copy"]
    await service.request("DELETE", later)
    database = service.server.services.operation.database
    for name in ("trajectory_parts", "trajectory_segments"):
        of = {"_id": {"$gte": service.organization_id.bytes}}
        left = [found["_id"] async for found in database.collection(name).find(of, {"_id": True})]
        assert not [each for each in left if each.startswith(service.organization_id.bytes)]


async def test_time_of_a_change_is_now_and_never_goes_back(service: Service) -> None:
    ahead = "2999-01-01T00:00:00.000Z"
    before = await created(service, updated_at=ahead)
    reply = await patched(service, path_of(before), {"name": "n"})
    assert reply.json["updated_at"] == ahead
    old = await created(service, created_at="2001-01-01T00:00:00Z")
    reply = await patched(service, path_of(old), {"name": "n"})
    assert datetime.fromisoformat(reply.json["updated_at"]).year > 2020


async def test_empty_change_is_a_change_of_nothing(service: Service) -> None:
    before = await created(service, name="n")
    reply = await patched(service, path_of(before), {})
    assert reply.status == 200
    assert {**reply.json, "updated_at": None} == {**before.json, "updated_at": None}
