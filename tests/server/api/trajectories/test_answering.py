"""Which version an answer is of, and how much of it is sent."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from tests.server.api.trajectories.requests import created, patched, path_of
from tests.service import Reply, Service

RUN = str(uuid4())


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "POST"])
async def test_if_match_lets_through_the_version_that_it_names_and_no_other(
    service: Service, method: str
) -> None:
    before = await created(service, is_generated=False)
    path = path_of(before)
    address = f"{path}/steps" if method == "POST" else path
    bodies: dict[str, Any] = {"PATCH": {"name": "n"}, "POST": {"steps": [{}]}}

    async def ask(tag: str) -> Reply:
        return await service.request(method, address, bodies.get(method), headers={"If-Match": tag})

    tag = before.headers["ETag"]
    assert tag.startswith('"')
    for stale in ('"7"', '"unknown"', f"W/{tag}"):
        assert (await ask(stale)).refusal == (412, "precondition-failed")
    for wrong in ("7", tag + " x", "w/*"):
        assert (await ask(wrong)).faults == [(["header", "If-Match"], "entity_tag")]
    assert (await service.get(path)).json == before.json
    assert (await ask(f'"7", {tag}')).status in (200, 204)
    gone = method == "DELETE"
    assert (await ask(tag)).status == (404 if gone else 412)
    assert (await ask("*")).status == (404 if gone else 200)


async def test_one_of_two_changes_of_the_same_version_gets_through(service: Service) -> None:
    before = await created(service)
    path, tag = path_of(before), before.headers["ETag"]
    replies = await asyncio.gather(
        *(patched(service, path, {"name": str(n)}, If_Match=tag) for n in range(6))
    )
    assert sorted(reply.status for reply in replies) == [200] + [412] * 5
    (won,) = (reply.json for reply in replies if reply.status == 200)
    assert (await service.get(path)).json == won


async def test_known_version_is_304_without_a_body(service: Service) -> None:
    before = await created(service)
    path, tag = path_of(before), before.headers["ETag"]
    for known in (tag, f"W/{tag}", "*", f'"7", {tag}'):
        reply = await service.get(path, headers={"If-None-Match": known})
        assert (reply.status, reply.body, reply.headers["ETag"]) == (304, b"", tag)
    assert (await service.get(path, headers={"If-None-Match": '"7"'})).json == before.json
    reply = await service.get(path, headers={"If-None-Match": "7"})
    assert reply.faults == [(["header", "If-None-Match"], "entity_tag")]


async def test_tag_with_included_names_their_version_too_and_is_good_for_a_change(
    service: Service,
) -> None:
    workflow = await service.post("/v1/workflows", {"name": "w"})
    path = path_of(await created(service, workflow_id=workflow.json["id"]))
    address = f"{path}?include=workflow"
    tag = (await service.get(address)).headers["ETag"]
    assert (await service.get(address, headers={"If-None-Match": tag})).status == 304
    await patched(service, path_of(workflow), {"name": "v"})
    read = await service.get(address, headers={"If-None-Match": tag})
    assert read.status == 200
    assert read.json["included"][0]["name"] == "v"
    assert (await patched(service, path, {"name": "n"}, If_Match=tag)).status == 200


async def test_trajectory_that_is_deleted_and_made_anew_has_no_tag_again(
    service: Service,
) -> None:
    own = str(uuid4())
    first = await created(service, id=own)
    assert (await service.request("DELETE", path_of(first))).status == 204
    again = await created(service, id=own)
    assert again.headers["ETag"] != first.headers["ETag"]


async def test_change_answers_as_much_as_is_preferred(service: Service) -> None:
    path = path_of(await created(service))
    reply = await patched(service, path, {"name": "n"}, Prefer="return=minimal")
    assert (reply.status, reply.body) == (204, b"")
    assert reply.headers["Preference-Applied"] == "return=minimal"
    read = await service.get(path)
    assert (read.json["name"], read.headers["ETag"]) == ("n", reply.headers["ETag"])
    reply = await patched(service, path, {"name": "m"}, Prefer="return=representation")
    assert (reply.status, reply.json["name"]) == (200, "m")
    assert reply.headers["Preference-Applied"] == "return=representation"
