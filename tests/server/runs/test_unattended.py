"""Runs that no node works at: they end where they may not go on, and do what they were answered."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID

import pytest
from tornado.ioloop import IOLoop

from schemas.help.requests import HelpAnswer
from schemas.inputs.outcomes import Refused
from schemas.resources.tokens import Scope
from server.runs import unattended
from server.store.help.requests import HelpStore
from tests.runs import (
    Player,
    approved,
    begun,
    playing,
    run_of,
    steps,
    until_ended,
    until_halted,
)
from tests.server.fleet.test_reach import bound, put
from tests.server.runs.test_course import revoke
from tests.service import PATIENCE_SECONDS, ScriptedMachine, Service
from tests.store import entered

SECRET = {"operation": "keyboard.type", "body": {}, "secret": "password"}
REFUSED = Refused(code="outside", message="it is outside of the display")


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounds of what begins from now on follow each other."""
    monkeypatch.setattr(unattended, "ROUND_SECONDS", 0.02)


@pytest.fixture
def rounds(soon: None, io_loop: IOLoop, service: Service) -> Iterator[None]:
    """Rounds like those of another node."""
    with entered(io_loop, _looking(service)):
        yield


@asynccontextmanager
async def _looking(service: Service) -> AsyncIterator[None]:
    services = service.server.services
    task = services.background.start(services.runs.executor.unattended.run(), "rounds of the test")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def begun_with_secret(service: Service, token: str, **more: Any) -> Any:
    """A run of one step that types a secret, begun with this token on desk-1."""
    trajectory = await approved(service, [SECRET])
    body = {
        "trajectory_id": trajectory["id"],
        "machine_id": "desk-1",
        "sensitive_input_values": {"password": "s3cret-1"},
        **more,
    }
    reply = await service.post("/v1/runs", body, token=token)
    assert reply.status == 201, reply.body
    return reply.json


async def stored(service: Service, run: Any) -> Any:
    """The run as MongoDB has it."""
    runs = service.server.services.operation.database.collection("runs")
    return await runs.find_one({"_id": UUID(run["id"])})


async def until_parked(service: Service, run: Any) -> Any:
    """The halted run once it keeps neither a node nor a machine; how it is told then."""
    await until_halted(service, run)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if (await stored(service, run))["lease"] is None:
                return await run_of(service, run)
            await asyncio.sleep(0.02)


async def ended_without_secrets(service: Service, run: Any) -> str:
    """Why it has ended with an error, and that its secrets are gone."""
    ended = await until_ended(service, run)
    document = await stored(service, run)
    assert (ended["status"], "sealed" in document, ended["halted"]) == ("error", False, None)
    return str(ended["error"])


async def test_node_ends_waiting_runs_whose_token_is_revoked_and_no_others(
    soon: None, node: Service
) -> None:
    await node.new_machine()
    body = {"trajectory_id": (await approved(node, steps("a")))["id"], "machine_id": "desk-1"}
    other = (await node.post("/v1/runs", body)).json
    token = await node.new_token(Scope.RUNS_WRITE)
    runs = [(await node.post("/v1/runs", body, token=token)).json for _ in range(2)]
    await revoke(node, "runs:write")
    for run in runs:
        assert (await until_ended(node, run))["status"] == "error"
    assert (await run_of(node, other))["status"] == "scheduling"


@pytest.mark.parametrize(
    ("lost", "says", "is_halted"),
    [
        ("token", "is not valid any more", False),
        ("token", "is not valid any more", True),
        ("pool", "in no pool of the token", False),
        ("pool", "in no pool of the token", True),
        ("machine", "its machine was removed", True),
    ],
)
async def test_run_that_may_not_go_on_ends_though_its_machine_is_away(
    rounds: None,
    service: Service,
    machine: ScriptedMachine,
    lost: str,
    says: str,
    *,
    is_halted: bool,
) -> None:
    pool_id, token = await bound(service)
    await put(service, "desk-1", pool_id)
    run = await begun_with_secret(service, token, halt_timeout=0)
    if is_halted:
        async with playing(service, machine) as player:
            player.outcomes = [REFUSED]
            await until_parked(service, run)
    assert (await stored(service, run))["sealed"] is not None
    if lost == "token":
        await revoke(service, "runs:write")
    elif lost == "pool":
        await put(service, "desk-1", pool_id, out=True)
    else:
        assert (await service.request("DELETE", "/v1/machines/desk-1")).status == 204
    assert says in await ended_without_secrets(service, run)
    if is_halted:
        asked = (await service.get("/v1/help")).json["items"]
        assert [each["state"] for each in asked] == ["withdrawn"]


@pytest.mark.parametrize(("answer", "status"), [("done", "success"), ("cannot", "task_failed")])
async def test_answer_is_done_though_whoever_took_it_was_killed(
    rounds: None, service: Service, player: Player, answer: HelpAnswer, status: str
) -> None:
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, steps("a")), halt_timeout=0)
    parked = await until_parked(service, run)
    requests = HelpStore(service.server.services.operation.database)
    asked = await requests.get(service.organization_id, UUID(parked["halted"]["help_id"]))
    assert asked is not None
    assert await requests.answer(asked, answer, None, "somebody") is not None
    ended = await until_ended(service, run)
    assert (ended["status"], ended["halted"]) == (status, None)
