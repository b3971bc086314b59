"""Which node works at a run, and which machine of a pool it gets."""

import asyncio
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from schemas.inputs.outcomes import Refused
from server.errors import StoreUnavailable
from server.runs import executor
from server.runs.executor import RunExecutor
from server.store.runs.turns import RunTurns
from tests.holding_up import held_up
from tests.nodes import running_nodes
from tests.runs import (
    Player,
    approved,
    begun,
    playing,
    run_of,
    steps,
    until_ended,
    until_halted,
    until_run,
)
from tests.server.fleet.test_reach import put
from tests.service import PATIENCE_SECONDS, Service, until

REFUSED = Refused(code="outside", message="it is outside of the display")


async def test_node_that_leaves_hands_over_between_two_steps(
    mongodb: str, nats_url: str, tmp_path: Path
) -> None:
    database = f"runs_{uuid4().hex}"
    async with running_nodes(mongodb, database, nats_url, tmp_path, "a", "b") as nodes:
        one = nodes[0]
        executors = [each.server.services.runs.executor for each in nodes]
        machine = await one.new_machine()
        trajectory = await approved(one, steps("a", "b"))
        async with playing(one, machine) as player:
            player.withholds = True
            run = await begun(one, trajectory)
            await until(lambda: player.waiting)
            (leaving,) = [each for each in executors if each.under_way]
            (other,) = [each for each in executors if each is not leaving]
            background = one.server.services.background
            left = background.start(leaving.leave(60.0), "a node that leaves")
            # What was sent ends before: nobody else goes on meanwhile.
            assert (leaving.under_way, other.under_way) == (1, 0)
            player.withholds = False
            await player.carry_on()
            await left
            ended = await until_ended(one, run)
        assert (ended["status"], player.pressed) == ("success", ["a", "b"])
        assert other.taken_over == 1


def executor_of(node: Service) -> RunExecutor:
    return node.server.services.runs.executor


async def left(node: Service) -> None:
    """The node leaves; whether it has left all of its runs is to be seen afterwards."""
    leaving = executor_of(node).leave(2 * PATIENCE_SECONDS)
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await leaving


async def test_run_that_is_claimed_when_its_node_leaves_is_left_to_others(node: Service) -> None:
    trajectory = await approved(node, steps("a"))
    others = RunTurns(node.server.services.operation.database, uuid4())
    async with playing(node, await node.new_machine()) as player:
        with held_up(RunTurns, "begin") as claiming:
            run = await begun(node, trajectory)
            await claiming.is_asked.wait()
            await executor_of(node).leave(0.0)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                if (claimed := await others.abandoned()) is not None:
                    break
                await asyncio.sleep(0.05)
    assert (str(claimed.id), player.pressed) == (run["id"], [])
    # Its node has let go of it a moment before it knows that.
    await until(lambda: executor_of(node).under_way == 0)


async def test_node_leaves_a_run_of_whose_input_nobody_knows_yet(node: Service) -> None:
    async with playing(node, await node.new_machine()) as player:
        player.withholds = True
        await begun(node, await approved(node, steps("a")))
        await until(lambda: player.waiting)
        leaving = node.server.services.background.start(left(node), "a node that leaves")
        # What is under way is not interrupted, and then its link ends.
        await asyncio.sleep(0)
    # Its input may have been done, and it is asked again and again what became of it.
    await leaving
    assert executor_of(node).under_way == 0


async def test_node_leaves_a_run_though_the_database_does_not_answer(
    node: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: object, **__: object) -> None:
        raise StoreUnavailable

    async with playing(node, await node.new_machine()) as player:
        player.withholds = True
        await begun(node, await approved(node, steps("a")))
        await until(lambda: player.waiting)
        for method in ("write", "renew"):
            monkeypatch.setattr(RunTurns, method, unavailable)
        await player.carry_on()
        await left(node)
    assert executor_of(node).under_way == 0


async def test_run_that_waits_for_a_machine_that_is_removed_ends(service: Service) -> None:
    await service.new_machine("removed")
    trajectory = await approved(service, steps("a"))
    runs = [await begun(service, trajectory, machine_id="removed") for _ in range(2)]
    assert (await service.request("DELETE", "/v1/machines/removed")).status == 204
    for run in runs:
        ended = await until_ended(service, run)
        assert (ended["status"], ended["error"]) == ("error", "its machine was removed")


async def test_runs_that_wait_for_a_machine_that_is_away_keep_nobody_from_their_turn(
    service: Service, player: Player
) -> None:
    await service.new_machine("away")
    trajectory = await approved(service, steps("a"))
    item = {"trajectory_id": trajectory["id"], "machine_id": "away", "priority": 9}
    many = await service.post("/v1/runs/bulk", {"items": [item] * 1_000})
    assert many.status == 200
    assert (await service.get("/v1/runs?machine_id=away")).json["total"] == 1_000
    last = await begun(service, trajectory)
    assert (await until_ended(service, last))["status"] == "success"
    assert player.pressed == ["a"]


async def test_run_of_a_pool_gets_whichever_machine_is_free(
    service: Service, player: Player
) -> None:
    pool = (await service.post("/v1/pools", {"name": f"pool {uuid4()}"})).json["id"]
    await put(service, "desk-1", pool)
    trajectory = await approved(service, steps("a"))
    player.withholds = True
    first, second = [await begun(service, trajectory, pool_ids=[pool]) for _ in range(2)]
    await until_run(service, first, lambda found: found["machine_id"] == "desk-1")
    assert (await run_of(service, second))["status"] == "scheduling"
    other = await service.new_machine("desk-2")
    await put(service, "desk-2", pool)
    async with playing(service, other):
        ended = await until_ended(service, second)
    assert (ended["status"], ended["machine_id"]) == ("success", "desk-2")
    player.withholds = False
    await player.carry_on()
    assert (await until_ended(service, first))["status"] == "success"


async def test_halted_run_keeps_no_other_from_beginning(
    node: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "MOST_AT_ONCE", 1)
    trajectory = await approved(node, steps("a"))
    async with playing(node, await node.new_machine()) as player:
        player.outcomes = [REFUSED]
        halted = await begun(node, trajectory)
        await until_halted(node, halted)
        async with playing(node, await node.new_machine("desk-2")) as second:
            second.withholds = True
            working = await begun(node, trajectory, machine_id="desk-2")
            await until(lambda: second.waiting)
            assert executor_of(node).under_way == 2
            # Though another works, what was halted goes on.
            reply = await node.post(f"/v1/runs/{halted['id']}/continue", {})
            assert reply.status == 200, reply.body
            assert (await until_ended(node, halted))["status"] == "success"
            second.withholds = False
            await second.carry_on()
            assert (await until_ended(node, working))["status"] == "success"
