"""Runs from their beginning to their end, on machines that the tests play."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from schemas.inputs.outcomes import Failed, NotCarriedOut, Outcome, Refused, Unknown
from schemas.resources.tokens import Scope
from schemas.runs.runs import Halted
from schemas.values.pictures import Region
from server.errors import StoreUnavailable
from server.runs.ending import RunEnding
from server.runs.halting import RunHalts
from server.runs.stops import Halting
from server.store.runs.documents import StoredRun
from server.store.runs.runs import RunStore
from server.store.runs.turns import RunTurns
from tests.holding_up import held_up
from tests.links import hello
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
from tests.service import PATIENCE_SECONDS, ScriptedMachine, Service, until
from tests.told_elements import CAN, element

PARTLY: Outcome = Failed(code="interrupted", message="it broke", injected_at_least=1)
REFUSED: Outcome = Refused(code="outside", message="it is outside of the display")

SAVE: dict[str, Any] = {
    "element": {"role": "push button", "name": "Save"},
    "box": {"x": 0, "y": 0, "width": 10, "height": 10},
}


async def resumed(service: Service, run: Any, body: Any = None) -> Any:
    seen = (await run_of(service, run))["halted"]["at"]
    said = {"halted_at": seen, **(body or {})}
    reply = await service.post(f"/v1/runs/{run['id']}/continue", said)
    assert reply.status == 200, reply.body
    return reply.json


async def revoke(service: Service, scope: str) -> None:
    """Revoke the token of the test that has this scope."""
    (own,) = [
        each
        for each in (await service.get("/v1/tokens")).json["items"]
        if each["name"] == "of a test" and scope in each["scopes"]
    ]
    assert (await service.request("DELETE", f"/v1/tokens/{own['id']}")).status == 204


async def is_free(service: Service, machine: ScriptedMachine) -> bool:
    stored = await service.stores.machines.get(service.organization_id, machine.machine_id)
    return stored is not None and stored.control is None


async def test_steps_are_done_in_order_and_the_machine_is_free_again(
    service: Service, player: Player, machine: ScriptedMachine
) -> None:
    texts = ["a", "b", "c"]
    run = await begun(service, await approved(service, steps(*texts)))
    ended = await until_ended(service, run)
    assert (ended["status"], ended["error"], player.pressed) == ("success", None, texts)
    told = [(each["number"], each["status"], each["attempts"]) for each in ended["steps"]]
    assert told == [(1, "done", 1), (2, "done", 1), (3, "done", 1)]
    assert ended["step"] == 4
    assert await is_free(service, machine)
    assert (await service.get("/v1/audit?action=run.created")).json["total"] == 1


async def test_others_are_refused_while_it_runs_and_other_runs_wait(
    service: Service, player: Player, machine: ScriptedMachine
) -> None:
    player.withholds = True
    trajectory = await approved(service, steps("a"))
    run = await begun(service, trajectory)
    await until(lambda: player.waiting)
    refused = await machine.move()
    assert refused.refusal == (503, "machine-unavailable")
    assert (refused.json["reason"], refused.json["by"]) == ("run", f"run {run['id']}")
    low = await begun(service, trajectory, priority=1)
    high = await begun(service, trajectory, priority=9)
    assert (await run_of(service, low))["status"] == "scheduling"
    player.withholds = False
    await player.carry_on()
    ends = [await until_ended(service, each) for each in (run, low, high)]
    assert {each["status"] for each in ends} == {"success"}
    assert ends[0]["ended_at"] <= ends[2]["started_at"]
    assert ends[2]["ended_at"] <= ends[1]["started_at"]


@pytest.mark.parametrize(
    ("outcome", "reason", "is_unknown"),
    [
        (PARTLY, "input_failed", True),
        (Unknown(), "outcome_unknown", True),
        (REFUSED, "input_refused", False),
    ],
)
async def test_input_that_did_not_end_well_halts_it(
    service: Service,
    player: Player,
    machine: ScriptedMachine,
    outcome: Outcome,
    reason: str,
    is_unknown: bool,
) -> None:
    player.outcomes = [outcome]
    run = await begun(service, await approved(service, steps("a", "b")))
    halted = (await until_halted(service, run))["halted"]
    assert (halted["step"], halted["reason"], halted["is_unknown"]) == (1, reason, is_unknown)
    assert (await run_of(service, run))["status"] == "running"
    asked = (await service.get(f"/v1/help/{halted['help_id']}")).json
    assert (asked["state"], asked["run_id"], asked["kind"]) == ("open", run["id"], "help")
    if isinstance(outcome, Refused):
        # Such words may name what the screen shows, and whoever sees the machine reads a request.
        assert outcome.message in halted["detail"]
        assert outcome.message not in asked["reason"]
    # Programs are kept away while people help.
    await until_run(service, run, lambda _: player.interrupted >= 3)
    assert (await machine.move()).json["reason"] == "run"
    if is_unknown:
        refused = await service.post(f"/v1/runs/{run['id']}/continue")
        assert refused.refusal == (409, "wrong-state")
        assert "give skip where it was" in refused.json["detail"]
    await resumed(service, run, {"at_step": 1} if is_unknown else None)
    ended = await until_ended(service, run)
    assert (ended["status"], ended["steps"][0]["attempts"]) == ("success", 2)
    assert player.pressed == ["a", "a", "b"]
    assert (await service.get(f"/v1/help/{halted['help_id']}")).json["state"] == "withdrawn"


async def test_step_whose_recorded_picture_has_gone_is_found_by_its_element_or_halts(
    service: Service, machine: ScriptedMachine
) -> None:
    crop = {"picture": "0" * 64, "area": {"x": 0, "y": 0, "width": 10, "height": 10}}
    click = {"operation": "mouse.click", "body": {"x": 5, "y": 5}}
    unseen = {**click, "target": {"crop": crop, "box": SAVE["box"]}}
    trajectory = await approved(service, [{**click, "target": {**SAVE, "crop": crop}}, unseen])
    async with playing(service, machine, hello().model_copy(update={"elements": CAN})) as player:
        player.elements = [
            element(
                "push button", "Save", bounds=Region(20, 20, 10, 10), states=["enabled", "showing"]
            )
        ]
        run = await begun(service, trajectory)
        halted = (await until_halted(service, run))["halted"]
        assert (halted["step"], halted["reason"], halted["is_done"]) == (2, "cannot_look", False)
        assert "the recorded picture is not kept any more" in halted["detail"]
        assert len(player.pressed) == 1
        await resumed(service, run, {"skip": True})
        assert (await until_ended(service, run))["status"] == "success"


@pytest.mark.parametrize(
    ("fields", "is_done"),
    [
        ({"operation": "mouse.click", "body": {"x": 5, "y": 5}, "target": SAVE}, False),
        ({"operation": "element.invoke", "body": {"element": SAVE["element"]}}, False),
        ({"target": SAVE}, False),
        ({"expect": {"any": [{"element": SAVE["element"]}]}}, True),
        ({"expect": {"any": [{"text": "Saved"}]}}, True),
        ({"expect": {"any": [{"changed": True}]}}, True),
    ],
)
async def test_machine_that_shows_neither_screen_nor_elements_halts_it(
    service: Service, player: Player, fields: dict[str, Any], is_done: bool
) -> None:
    (blind,) = steps("a")
    trajectory = await approved(service, [{**blind, **fields}, *steps("b")])
    run = await begun(service, trajectory)
    halted = (await until_halted(service, run))["halted"]
    assert (halted["reason"], halted["is_done"], halted["is_unknown"]) == (
        "cannot_look",
        is_done,
        False,
    )
    assert halted["detail"]
    assert player.pressed == ["a"] * is_done
    await resumed(service, run, {"skip": True})
    assert (await until_ended(service, run))["status"] == "success"
    assert player.pressed == [*["a"] * is_done, "b"]


async def test_of_two_who_continue_it_at_once_one_wins(service: Service, player: Player) -> None:
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, steps("a", "b")))
    seen = (await until_halted(service, run))["halted"]["at"]
    path = f"/v1/runs/{run['id']}/continue"
    bodies = ({"skip": True}, {"at_step": 2}, {"skip": True}, {"at_step": 2})
    replies = await asyncio.gather(
        *(service.post(path, {"halted_at": seen, **body}) for body in bodies)
    )
    refused = [each.refusal for each in replies if each.status != 200]
    assert refused == [(409, "wrong-state")] * (len(bodies) - 1)
    ended = await until_ended(service, run)
    assert [each["status"] for each in ended["steps"]] == ["skipped", "done"]
    assert player.pressed == ["a", "b"]
    assert (await service.get("/v1/audit?action=run.continued")).json["total"] == 1


@pytest.mark.parametrize("late", [{"skip": True}, {"at_step": 2}, {"at_step": 3}, {}])
async def test_what_was_decided_about_one_halt_is_not_done_at_the_next(
    service: Service, player: Player, late: Any
) -> None:
    player.outcomes = [PARTLY, PARTLY]
    run = await begun(service, await approved(service, steps("a", "b", "c")))
    path = f"/v1/runs/{run['id']}/continue"
    seen = (await until_halted(service, run))["halted"]["at"]
    await resumed(service, run, {"skip": True})
    await until_run(service, run, lambda found: found["halted"] and found["step"] == 2)
    # The answer was lost, and it is sent again; or another person's comes so late.
    refused = await service.post(path, {"halted_at": seen, **late})
    assert refused.refusal == (409, "wrong-state")
    assert "halted anew at step 2: read it again" in refused.json["detail"]
    if late:
        for nothing in ({}, {"halted_at": None}):
            unsaid = await service.post(path, {**nothing, **late})
            assert unsaid.status == 422
            assert b"give halted_at" in unsaid.body
    assert player.pressed == ["a", "b"]
    await resumed(service, run, {"at_step": 2})
    assert (await until_ended(service, run))["status"] == "success"
    assert player.pressed == ["a", "b", "b", "c"]


async def test_skipped_step_is_not_done_again(service: Service, player: Player) -> None:
    player.outcomes = [PARTLY]
    run = await begun(service, await approved(service, steps("a", "b", "c")))
    seen = (await until_halted(service, run))["halted"]["at"]
    for wrong in ({"at_step": 4}, {"at_step": 0}, {"at_step": 1, "skip": True}, {"more": 1}):
        said = {"halted_at": seen, **wrong}
        reply = await service.post(f"/v1/runs/{run['id']}/continue", said)
        assert reply.status in (409, 422), wrong
    await resumed(service, run, {"at_step": 3})
    ended = await until_ended(service, run)
    assert [each["status"] for each in ended["steps"]] == ["skipped", "skipped", "done"]
    assert player.pressed == ["a", "c"]


async def test_try_that_surely_never_happened_is_made_again(
    service: Service, player: Player
) -> None:
    player.outcomes = [NotCarriedOut()]
    run = await begun(service, await approved(service, steps("a")))
    ended = await until_ended(service, run)
    assert (ended["status"], ended["steps"][0]["attempts"]) == ("success", 2)


async def test_person_who_takes_control_halts_it(
    service: Service, player: Player, machine: ScriptedMachine
) -> None:
    player.withholds = True
    run = await begun(service, await approved(service, steps("a", "b")))
    await until(lambda: player.waiting)
    path = f"/v1/machines/{machine.machine_id}/control"
    assert (await service.post(path)).refusal == (409, "control-held")
    taken = await service.post(path, {"take_over": True})
    assert taken.status == 201, taken.body
    halted = await until_halted(service, run)
    assert halted["halted"]["step"] == 1
    assert (await service.request("DELETE", f"{path}/{taken.json['id']}")).status == 204
    player.withholds = False
    await resumed(service, run, {"skip": True})
    assert (await until_ended(service, run))["status"] == "success"
    assert player.pressed == ["a", "b"]


async def test_nothing_is_done_once_a_person_took_control_between_two_steps(
    service: Service, player: Player, machine: ScriptedMachine
) -> None:
    trajectory = await approved(service, steps("a", "b"))
    path = f"/v1/machines/{machine.machine_id}/control"
    with held_up(RunTurns, "past") as going_on:
        run = await begun(service, trajectory)
        await going_on.is_asked.wait()
        taken = await service.post(path, {"take_over": True})
        assert taken.status == 201, taken.body
    assert (await until_halted(service, run))["halted"]["reason"] == "taken_over"
    assert player.pressed == ["a"]


async def test_person_gets_the_machine_of_a_halted_run_without_taking_it_over(
    service: Service, player: Player, machine: ScriptedMachine
) -> None:
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, steps("a")))
    halted = (await until_halted(service, run))["halted"]
    await until_run(service, run, lambda _: player.interrupted >= 3)
    path = f"/v1/machines/{machine.machine_id}/control"
    taken = await service.post(path)
    assert taken.status == 201, taken.body
    helper = await service.new_token(Scope.HELP_ANSWER)
    answered = await service.post(
        f"/v1/help/{halted['help_id']}/answer", {"answer": "done"}, token=helper
    )
    assert answered.status == 200
    # It goes on once the machine was given back.
    assert (await service.request("DELETE", f"{path}/{taken.json['id']}")).status == 204
    assert (await until_ended(service, run))["status"] == "success"


async def test_run_that_nobody_can_help_has_failed(service: Service, player: Player) -> None:
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, steps("a")))
    halted = (await until_halted(service, run))["halted"]
    helper = await service.new_token(Scope.HELP_ANSWER)
    body = {"answer": "cannot", "comment": "The order is gone."}
    await service.post(f"/v1/help/{halted['help_id']}/answer", body, token=helper)
    ended = await until_ended(service, run)
    assert (ended["status"], "The order is gone." in ended["error"]) == ("task_failed", True)


async def test_what_a_killed_node_has_asked_people_is_withdrawn(
    service: Service, machine: ScriptedMachine
) -> None:
    run = await begun(service, await approved(service, steps("a")))
    before = await _ask(service, run)
    async with playing(service, machine) as player:
        # Somebody had it go on before another node took it up.
        player.withholds = True
        await until(lambda: player.waiting)
        assert await _is_open(service, before) is False
        # It was killed in between: what it asked is stored, that the run is halted is not.
        asked = [await _ask(service, run) for _ in range(2)]
        assert [await _is_open(service, each) for each in asked] == [False, True]
        player.withholds = False
        await player.carry_on()
        await until_ended(service, run)
        assert await _is_open(service, asked[1]) is False


async def _ask(service: Service, run: Any) -> UUID:
    """Ask people to help a run, as a node does before it stores that the run is halted."""
    services = service.server.services
    runs = RunStore(services.operation.database)
    stored = await runs.get(service.organization_id, UUID(run["id"]))
    assert stored is not None
    machines = services.machines
    halts = RunHalts(machines.dispatcher, services.library.pictures, machines.help)
    help_id = (await halts.halted(stored, Halting("missing", "gone"))).help_id
    assert help_id is not None
    return help_id


async def _is_open(service: Service, help_id: UUID) -> bool:
    return bool((await service.get(f"/v1/help/{help_id}")).json["state"] == "open")


async def test_cancel_interrupts_what_runs(
    service: Service, player: Player, machine: ScriptedMachine
) -> None:
    player.withholds = True
    run = await begun(service, await approved(service, steps("a", "b")))
    await until(lambda: player.waiting)
    before = player.interrupted
    assert (await service.post(f"/v1/runs/{run['id']}/cancel")).status == 200
    ended = await until_ended(service, run)
    assert (ended["status"], player.pressed) == ("cancelled", ["a"])
    assert player.interrupted > before
    assert await is_free(service, machine)
    again = await service.post(f"/v1/runs/{run['id']}/cancel")
    assert (again.status, again.json["status"]) == (200, "cancelled")


async def test_halted_run_keeps_the_machine_for_its_time_and_then_waits_for_its_turn(
    service: Service, player: Player
) -> None:
    player.outcomes = [REFUSED]
    trajectory = await approved(service, steps("a"))
    run = await begun(service, trajectory, halt_timeout=0)
    await until_halted(service, run)
    other = await begun(service, trajectory)
    assert (await until_ended(service, other))["status"] == "success"
    assert (await run_of(service, run))["halted"]["step"] == 1
    await resumed(service, run)
    assert (await until_ended(service, run))["status"] == "success"


async def test_waiting_run_whose_token_was_revoked_does_nothing(
    service: Service, player: Player
) -> None:
    token = await service.new_token(Scope.RUNS_WRITE, Scope.RUNS_READ)
    trajectory = await approved(service, steps("a"))
    player.withholds = True
    first = await begun(service, trajectory)
    await until(lambda: player.waiting)
    body = {"trajectory_id": trajectory["id"], "machine_id": "desk-1"}
    run = (await service.post("/v1/runs", body, token=token)).json
    await revoke(service, "runs:write")
    player.withholds = False
    await player.carry_on()
    assert (await until_ended(service, first))["status"] == "success"
    ended = await until_ended(service, run)
    assert (ended["status"], player.pressed) == ("error", ["a"])
    assert "not valid any more" in ended["error"]


async def test_programs_are_kept_away_while_a_run_only_waits(
    service: Service, player: Player, machine: ScriptedMachine
) -> None:
    data = [{"operation": "wait", "body": {"seconds": 60}}, *steps("a")]
    run = await begun(service, await approved(service, data))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            reply = await machine.move()
            if (reply.status, reply.json.get("reason")) == (503, "run"):
                break
            await asyncio.sleep(0.05)
    assert (await service.post(f"/v1/runs/{run['id']}/cancel")).status == 200
    assert (await until_ended(service, run))["status"] == "cancelled"


async def test_halt_whose_writing_was_not_answered_asks_people_once(
    service: Service, player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, times = RunTurns.halt, 0

    async def unanswered(turns: RunTurns, run: StoredRun, halted: Halted) -> StoredRun | None:
        nonlocal times
        written = await write(turns, run, halted)
        times += 1
        if times == 1:
            raise StoreUnavailable
        return written

    told, tell = asyncio.Event(), RunEnding.tell

    def telling(ending: RunEnding, run: StoredRun) -> None:
        tell(ending, run)
        if run.halted is not None:
            told.set()

    monkeypatch.setattr(RunTurns, "halt", unanswered)
    monkeypatch.setattr(RunEnding, "tell", telling)
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, steps("a")))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await told.wait()
    assert times == 1
    halted = (await until_halted(service, run))["halted"]
    assert await _is_open(service, halted["help_id"])
    assert (await service.get("/v1/help?state=open")).json["total"] == 1
    await resumed(service, run)
    assert (await until_ended(service, run))["status"] == "success"


async def test_halt_that_was_answered_before_its_writing_was_is_over(
    service: Service, player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, times = RunTurns.halt, 0

    async def resumed_at_once(turns: RunTurns, run: StoredRun, halted: Halted) -> StoredRun | None:
        nonlocal times
        written = await write(turns, run, halted)
        times += 1
        if times == 1:
            await resumed(service, {"id": str(run.id)})
            raise StoreUnavailable
        return written

    monkeypatch.setattr(RunTurns, "halt", resumed_at_once)
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, steps("a", "b")))
    ended = await until_ended(service, run)
    assert (ended["status"], times, player.pressed) == ("success", 1, ["a", "a", "b"])


async def test_content_that_has_changed_is_not_run(
    service: Service, machine: ScriptedMachine
) -> None:
    # Nothing is connected yet: it waits.
    trajectory = await approved(service, steps("a"))
    run = await begun(service, trajectory)
    path = f"/v1/trajectories/{trajectory['id']}"
    await service.request("PATCH", f"{path}/steps/1", {"body": {"text": "b"}})
    async with machine.connected():
        ended = await until_ended(service, run)
    assert (ended["status"], ended["steps"]) == ("error", [])
    assert "cannot be run any more" in ended["error"]


async def test_revoked_token_ends_it(service: Service, player: Player) -> None:
    token = await service.new_token(Scope.RUNS_WRITE, Scope.RUNS_READ, Scope.TOKENS_WRITE)
    trajectory = await approved(service, [{"operation": "wait", "body": {"seconds": 60}}])
    body = {"trajectory_id": trajectory["id"], "machine_id": "desk-1"}
    run = (await service.post("/v1/runs", body, token=token)).json
    await until_run(service, run, lambda found: found["status"] == "running")
    await revoke(service, "runs:write")
    ended = await until_ended(service, run)
    assert (ended["status"], "not valid any more" in ended["error"]) == ("error", True)
