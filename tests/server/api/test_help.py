"""Help requests over HTTP: asked once, waited for, answered once by somebody else."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from schemas.help.requests import LONGEST_SECONDS, MOST_OPEN_OF_MACHINE
from schemas.resources.tokens import Scope
from server.api import help as help_handlers
from tests.events import listening
from tests.nodes import running_nodes
from tests.server.fleet.test_reach import bound, put
from tests.service import Reply, Service, until

NEW = {"machine_id": "desk-1", "kind": "help", "reason": "The invoice has no number."}
ASKS = (Scope.INPUT_SEND, Scope.MACHINES_READ)


async def asked(service: Service, token: str = "", **more: Any) -> Any:
    reply = await service.post("/v1/help", {**NEW, **more}, token=token)
    assert reply.status == 201, reply.body
    assert reply.headers["Location"] == f"/v1/help/{reply.json['id']}"
    return reply.json


def waiting_for(
    service: Service, help_id: str, token: str = "", *, client: Service | None = None
) -> asyncio.Task[Reply]:
    """A client that waits for the end of a request; ``client`` is whose loop goes on with it."""
    path = f"/v1/help/{help_id}?wait=60"
    background = (client or service).server.services.background
    return background.start(service.get(path, token=token), "a client")


async def until_waiting(service: Service) -> None:
    waits = service.server.services.machines.help_waits
    await until(lambda: waits)


async def answer(service: Service, help_id: str, said: str = "done", **options: Any) -> Reply:
    body = {"answer": said, **options.pop("more", {})}
    return await service.post(f"/v1/help/{help_id}/answer", body, **options)


async def test_help_is_asked_waited_for_and_answered_once(service: Service) -> None:
    await service.new_machine()
    asker = await service.new_token(*ASKS)
    async with listening(service, "?types=help_requested,help_answered,help_ended") as told:
        made = await asked(service, asker)
        path = f"/v1/help/{made['id']}"
        waiting = waiting_for(service, made["id"], asker)
        await until_waiting(service)
        own = await answer(service, made["id"], token=asker)
        assert own.refusal == (403, "forbidden")
        reply = await answer(service, made["id"], more={"comment": "It was 4711."})
        assert reply.status == 200, reply.body
        ended = (await waiting).json
        assert ended == reply.json == (await service.get(path)).json
        assert (ended["state"], ended["answer"], ended["comment"], ended["answered_by"]) == (
            *("answered", "done", "It was 4711."),
            "administrator",
        )
        heard = [await told.next(), await told.next()]
    assert [(each.type, each.data) for each in heard] == [
        ("help_requested", made),
        ("help_answered", ended),
    ]
    again = await answer(service, made["id"], "cannot")
    assert again.refusal == (409, "wrong-state")
    assert "administrator answered it" in again.json["detail"]
    assert not service.server.services.machines.help_waits
    entries = (await service.get("/v1/audit?action=help")).json["items"]
    assert [(each["action"], each["token_name"], each["note"]) for each in entries] == [
        ("help.answered", "administrator", "done: It was 4711."),
        ("help.requested", "of a test", f"help: {NEW['reason']}"),
    ]


async def test_user_who_asked_cannot_answer_with_another_token(service: Service) -> None:
    await service.new_machine()
    user, other = uuid4(), uuid4()
    made = await asked(service, await service.new_token(*ASKS, user_id=user))
    same = await service.new_token(Scope.HELP_ANSWER, user_id=user)
    assert (await answer(service, made["id"], token=same)).refusal == (403, "forbidden")
    somebody = await service.new_token(Scope.HELP_ANSWER, user_id=other)
    assert (await answer(service, made["id"], token=somebody)).status == 200


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [("help", ("done", "cannot"), "approve"), ("approval", ("approve", "deny"), "done")],
)
async def test_each_kind_takes_its_own_answers(
    service: Service, kind: str, right: tuple[str, ...], wrong: str
) -> None:
    await service.new_machine()
    asker = await service.new_token(*ASKS)
    for said in right:
        made = await asked(service, asker, kind=kind)
        refused = await answer(service, made["id"], wrong)
        assert refused.faults == [(["body", "answer"], "help_answer")]
        assert " or ".join(right) in refused.json["detail"][0]["msg"]
        assert (await answer(service, made["id"], said)).json["answer"] == said


async def test_only_who_asked_withdraws_it(service: Service) -> None:
    await service.new_machine()
    asker = await service.new_token(*ASKS)
    path = f"/v1/help/{(await asked(service, asker))['id']}"
    assert (await service.post(f"{path}/withdraw")).refusal == (403, "forbidden")
    async with listening(service, "?types=help_ended") as told:
        first = await service.post(f"{path}/withdraw", token=asker)
        assert (await told.next()).data == first.json
    assert first.json["state"] == "withdrawn"
    assert (await service.post(f"{path}/withdraw", token=asker)).json == first.json
    late = await service.post(f"{path}/answer", {"answer": "done"})
    assert late.refusal == (409, "wrong-state")
    assert "withdrew it" in late.json["detail"]
    # With it ended, a wait for it is over at once.
    assert (await service.get(f"{path}?wait=60", token=asker)).json == first.json
    assert (await service.get("/v1/audit?action=help.withdrawn")).json["total"] == 1


async def test_key_asks_once(service: Service) -> None:
    await service.new_machine()
    headers = {"Idempotency-Key": f"ask-{uuid4()}"}
    first, again = [await service.post("/v1/help", NEW, headers=headers) for _ in range(2)]
    assert (first.status, again.status, first.body) == (201, 201, again.body)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (await service.get("/v1/help")).json["total"] == 1
    assert (await service.get("/v1/audit?action=help.requested")).json["total"] == 1
    other = await service.post("/v1/help", {**NEW, "reason": "Another."}, headers=headers)
    assert other.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"kind": "question"}, {"reason": ""}, {"reason": "r" * 1001}, {"machine_id": "not one"}),
        *({"timeout": 0}, {"timeout": LONGEST_SECONDS + 1}, {"timeout": "60"}, {"more": 1}),
    ],
)
async def test_wrong_request_is_422(service: Service, wrong: dict[str, Any]) -> None:
    await service.new_machine()
    assert (await service.post("/v1/help", {**NEW, **wrong})).status == 422
    assert (await service.get("/v1/help")).json["total"] == 0


async def test_list_has_filters_and_open_ones_are_bounded(service: Service) -> None:
    await service.new_machine()
    await service.new_machine("desk-2")
    for _ in range(MOST_OPEN_OF_MACHINE):
        made = await asked(service)
    refused = await service.post("/v1/help", NEW)
    assert refused.refusal == (409, "wrong-state")
    assert "withdraw one" in refused.json["detail"]
    other = await asked(service, machine_id="desk-2", kind="approval")
    assert (await service.post(f"/v1/help/{made['id']}/withdraw")).status == 200
    for query, total, first in (
        ("", MOST_OPEN_OF_MACHINE + 1, other["id"]),
        ("?state=withdrawn", 1, made["id"]),
        ("?state=open&limit=1", MOST_OPEN_OF_MACHINE, other["id"]),
        ("?machine_id=desk-1&limit=2", MOST_OPEN_OF_MACHINE, made["id"]),
    ):
        page = (await service.get(f"/v1/help{query}")).json
        assert (page["total"], page["items"][0]["id"]) == (total, first), query
    assert (await service.get("/v1/help?state=new")).status == 422
    assert (await service.get(f"/v1/help/{made['id']}?wait=61")).status == 422
    assert (await service.post("/v1/help", {**NEW, "machine_id": "desk-3"})).status == 404


async def test_token_of_pools_asks_sees_and_answers_within_them_alone(service: Service) -> None:
    await service.new_machine()
    pool_id, token = await bound(service)
    assert (await service.post("/v1/help", NEW, token=token)).refusal == (404, "not-found")
    made = await asked(service)
    path = f"/v1/help/{made['id']}"
    assert (await service.get("/v1/help", token=token)).json["total"] == 0
    for reply in (
        await service.get(f"{path}?wait=60", token=token),
        await answer(service, made["id"], token=token),
        await service.post(f"{path}/withdraw", token=token),
    ):
        assert reply.refusal == (404, "not-found")
    await put(service, "desk-1", pool_id)
    assert (await service.get("/v1/help", token=token)).json["items"] == [made]
    assert (await answer(service, made["id"], token=token)).status == 200


async def test_wait_tells_nothing_of_a_machine_that_has_left_the_pool(service: Service) -> None:
    await service.new_machine()
    pool_id, token = await bound(service)
    await put(service, "desk-1", pool_id)
    made = await asked(service)
    waiting = waiting_for(service, made["id"], token)
    await until_waiting(service)
    await put(service, "desk-1", pool_id, out=True)
    await answer(service, made["id"], token=await service.new_token(Scope.HELP_ANSWER))
    assert (await waiting).refusal == (404, "not-found")


async def test_answer_on_one_node_ends_the_wait_on_another(
    mongodb: str, nats_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The event alone tells: nobody looks again by himself.
    monkeypatch.setattr(help_handlers, "LOOK_AGAIN_SECONDS", 3600.0)
    database = f"help_{uuid4().hex}"
    async with running_nodes(mongodb, database, nats_url, tmp_path, "a", "b") as (one, other):
        await one.new_machine()
        asker = await one.new_token(*ASKS)
        made = await asked(one, asker)
        waiting = waiting_for(other, made["id"], asker)
        await until_waiting(other)
        reply = await answer(one, made["id"])
        assert (await waiting).json == reply.json
        # A node that ends sends those who wait away; the request stands, and another node tells.
        second = await asked(one, asker)
        waiting = waiting_for(other, second["id"], asker, client=one)
        await until_waiting(other)
        await other.server.stop()
        assert (await waiting).refusal == (503, "server-stopping")
        assert (await one.get(f"/v1/help/{second['id']}", token=asker)).json == second
