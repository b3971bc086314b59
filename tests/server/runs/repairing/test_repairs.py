"""Repairs of halted runs: what is run of them, and what they propose."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from tornado.ioloop import IOLoop

from schemas.inputs.outcomes import Failed, Outcome, Refused
from schemas.resources.tokens import Scope
from schemas.values.pictures import Region
from server.runs.finding.thresholds import PATIENCE_SECONDS
from tests import commandline
from tests.links import hello
from tests.runs import (
    Player,
    approve,
    approved,
    begun,
    playing,
    run_of,
    steps,
    until_ended,
    until_halted,
)
from tests.service import ScriptedMachine, Service
from tests.store import entered
from tests.told_elements import CAN, element

REFUSED: Outcome = Refused(code="outside", message="it is outside of the display")
PARTLY: Outcome = Failed(code="interrupted", message="it broke", injected_at_least=1)
REFERENCE = {"element": {"role": "text", "name": "Reference"}}
RENAMED = element(
    "text",
    "Your reference",
    bounds=Region(300, 100, 80, 30),
    states=["enabled", "showing", "focused"],
)
OTHER = element("push button", "Save", bounds=Region(300, 200, 80, 30))
ENTERED: list[Any] = [
    {"operation": "mouse.click", "body": {"x": 40, "y": 35}, "target": REFERENCE},
    {"operation": "keyboard.type", "body": {"text": "R-2045"}, "target": REFERENCE},
    *steps("F5"),
]
HELPS = (
    *(Scope.RUNS_WRITE, Scope.INPUT_SEND, Scope.TRAJECTORIES_READ),
    *(Scope.TRAJECTORIES_WRITE, Scope.TRAJECTORIES_APPROVE),
)
POINTED = {"element": {"role": "text", "name": "Your reference"}}
GONE = {"id": str(uuid4()), "created_at": "2026-01-01T00:00:00Z"}
"""A run that is not there."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing here never comes, so it is not waited for as long as on a real screen."""
    monkeypatch.setitem(PATIENCE_SECONDS, "missing", 0.1)


@pytest.fixture
def player(io_loop: IOLoop, service: Service, machine: ScriptedMachine) -> Iterator[Player]:
    """The machine desk-1, whose programs tell of a field that has another name by now."""
    greeting = hello().model_copy(update={"elements": CAN})
    with entered(io_loop, playing(service, machine, greeting)) as player:
        player.elements = [RENAMED, OTHER]
        yield player


async def proceed(service: Service, run: Any, body: Any, **options: Any) -> Any:
    halted = (await run_of(service, run)).get("halted")
    said = {"halted_at": halted["at"] if halted else run["created_at"], **body}
    return await service.post(f"/v1/runs/{run['id']}/continue", said, **options)


async def proposal_of(service: Service, run: Any) -> Any:
    found = await run_of(service, run)
    return (await service.get(f"/v1/trajectories/{found['proposal_id']}")).json


@pytest.mark.parametrize("pointed", [POINTED, {"place": {"x": 340, "y": 115}}])
async def test_step_is_done_to_what_is_pointed_at_and_proposed_so(
    service: Service, player: Player, pointed: Any
) -> None:
    trajectory = await approved(service, ENTERED, is_main=True)
    run = await begun(service, trajectory)
    assert (await until_halted(service, run))["halted"]["reason"] == "missing"
    helper = await service.new_token(*HELPS, user_id=uuid4())
    reply = await proceed(service, run, pointed, token=helper)
    assert reply.status == 200, reply.body
    ended = await until_ended(service, run)
    assert (ended["status"], ended["error"]) == ("success", None)
    # What its keys went to is another element as well.
    clicked, *keys = player.pressed
    assert (clicked["element"], keys) == ({"ref": RENAMED.ref}, ["R-2045", "F5"])
    assert [(each["number"], each["kind"]) for each in ended["repairs"]] == [
        *((1, "pointed"), (2, "pointed"))
    ]

    proposal = await proposal_of(service, run)
    targets = [(each.get("target") or {}).get("element") for each in proposal["trajectory_data"]]
    assert targets == [POINTED["element"], POINTED["element"], None]
    assert proposal["trajectory_data"][0]["body"] == {"x": 340, "y": 115}
    assert proposal["trajectory_data"][2] == trajectory["trajectory_data"][2]
    assert (proposal["review"]["state"], proposal["is_approved"]) == ("open", False)
    assert (proposal["run_id"], proposal["workflow_id"]) == (run["id"], trajectory["workflow_id"])
    assert (proposal["is_main"], proposal["is_generated"]) == (False, True)
    path = f"/v1/trajectories/{proposal['id']}"
    again = {"trajectory_id": proposal["id"], "machine_id": "desk-1"}
    refused = await service.post("/v1/runs", again)
    assert [kind for _, kind in refused.faults] == ["not_runnable"]
    decision = {"decision": "approve", "content_hash": proposal["content_hash"]}
    for author in (helper, service.token):
        assert (await service.post(f"{path}/review", decision, token=author)).status == 403
    await approve(service, path)
    ended = await until_ended(service, await begun(service, proposal))
    assert (ended["status"], ended["repairs"]) == ("success", [])
    assert (await service.get("/v1/audit?action=trajectory.duplicated")).json["total"] == 1
    assert (await service.get(f"/v1/trajectories/{trajectory['id']}")).json == trajectory


async def test_halted_run_goes_on_by_the_command_line(service: Service, player: Player) -> None:
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, [*steps("a"), ENTERED[0], *steps("b")]))
    element = json.dumps(POINTED["element"])
    for step, how in ((1, ["--skip"]), (2, ["--element", element])):
        assert (await until_halted(service, run))["step"] == step
        command = ("run", "continue", run["id"], *how)
        # Beside the loop, on which the server is that it calls.
        done = await asyncio.to_thread(
            commandline.run, *command, FARHAND_URL=service.url, FARHAND_TOKEN=service.token
        )
        assert done.exit_code == 0, done.output
    ended = await until_ended(service, run)
    assert (ended["status"], [each["status"] for each in ended["steps"]]) == (
        *("success", ["skipped", "done", "done"]),
    )
    assert (ended["repairs"][0]["number"], player.pressed[-1]) == (2, "b")


async def test_repairs_of_a_run_are_one_proposal_until_somebody_else_touches_it(
    service: Service, player: Player
) -> None:
    run = await begun(service, await approved(service, [ENTERED[0], ENTERED[0], ENTERED[0]]))
    ids = []
    for step in (1, 2, 3):
        assert (await until_halted(service, run))["step"] == step
        assert (await proceed(service, run, POINTED)).status == 200
        ids.append((await proposal_of(service, run))["id"])
        if step == 2:
            await approve(service, f"/v1/trajectories/{ids[-1]}")
    assert ids[0] == ids[1] != ids[2]
    assert (await until_ended(service, run))["status"] == "success"
    elements = [
        each["target"]["element"] for each in (await proposal_of(service, run))["trajectory_data"]
    ]
    assert elements == [POINTED["element"]] * 3
    kept = (await service.get(f"/v1/trajectories/{ids[0]}")).json
    assert (kept["review"]["state"], kept["trajectory_data"][2]) == ("approved", ENTERED[0])


async def test_what_was_done_by_hand_takes_the_place_of_the_step(
    service: Service, player: Player, machine: ScriptedMachine
) -> None:
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, steps("a", "b")))
    await until_halted(service, run)
    others = (await record(service, machine, "everybody")).json
    control = (await service.post(f"/v1/machines/{machine.machine_id}/control")).json
    recording = (await record(service, machine, "me")).json
    lease = {"Farhand-Control": control["id"]}
    path = machine.input_path("keyboard/key")
    for text in ("F2", "F3"):
        assert (await service.post(path, {"text": text}, headers=lease)).status == 200
    by_hand = {"skip": True, "by_hand": recording["trajectory_id"]}
    early = await proceed(service, run, by_hand)
    assert "stop the recording first" in early.json["detail"]
    for each in (recording, others):
        await service.post(f"/v1/recordings/{each['id']}/stop")
    control_path = f"/v1/machines/{machine.machine_id}/control/{control['id']}"
    assert (await service.request("DELETE", control_path)).status == 204
    reply = await proceed(service, run, by_hand)
    assert reply.status == 200, reply.body
    ended = await until_ended(service, run)
    assert (ended["status"], [each["status"] for each in ended["steps"]]) == (
        *("success", ["skipped", "done"]),
    )
    assert player.pressed == ["a", "F2", "F3", "b"]
    proposal = await proposal_of(service, run)
    done = [each["body"]["text"] for each in proposal["trajectory_data"]]
    assert done == ["F2", "F3", "b"]


async def record(service: Service, machine: ScriptedMachine, of: str) -> Any:
    reply = await service.post(f"/v1/machines/{machine.machine_id}/recordings", {"of": of})
    assert reply.status == 201, reply.body
    return reply


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"element": {"name": "Nothing"}}, "no element is like what was pointed at"),
        ({"place": {"x": 5, "y": 5}}, "has neither a role, a name nor a picture"),
        ({"skip": True, "by_hand": str(uuid4())}, "there is no recording"),
    ],
)
async def test_what_repairs_nothing_leaves_the_run_halted(
    service: Service, player: Player, body: Any, why: str
) -> None:
    run = await begun(service, await approved(service, ENTERED))
    halted = await until_halted(service, run)
    refused = await proceed(service, run, body)
    assert refused.refusal == (409, "wrong-state")
    assert why in refused.json["detail"]
    found = await run_of(service, run)
    assert (found["halted"], found["proposal_id"]) == (halted["halted"], None)
    assert player.pressed == []


async def test_nothing_is_told_of_a_recording_of_another_machine(
    service: Service, player: Player
) -> None:
    player.outcomes = [REFUSED]
    run = await begun(service, await approved(service, steps("a")))
    await until_halted(service, run)
    other = await service.new_machine("desk-2")
    async with other.connected():
        recording = (await record(service, other, "me")).json
        told = []
        for trajectory_id in (recording["trajectory_id"], str(uuid4())):
            refused = await proceed(service, run, {"skip": True, "by_hand": trajectory_id})
            told.append(refused.json["detail"].replace(trajectory_id, "it"))
    assert told == ["there is no recording it of the run's machine"] * 2


async def test_only_a_step_that_was_not_done_is_pointed_at_and_none_with_secrets(
    service: Service, player: Player
) -> None:
    player.outcomes = [PARTLY, REFUSED]
    content = await approved(service, steps("a"))
    run = await begun(service, content)
    await until_halted(service, run)
    refused = await proceed(service, run, POINTED)
    assert "only one that was not done" in refused.json["detail"]
    await service.post(f"/v1/runs/{run['id']}/cancel")
    run = await begun(service, content)
    await until_halted(service, run)
    refused = await proceed(service, run, POINTED)
    assert "done to no place and no element" in refused.json["detail"]
    await service.post(f"/v1/runs/{run['id']}/cancel")
    secret = {"operation": "keyboard.type", "body": {}, "secret": "pin"}
    trajectory = await approved(service, [ENTERED[0], secret])
    run = await begun(service, trajectory, sensitive_input_values={"pin": "1234"})
    await until_halted(service, run)
    refused = await proceed(service, run, POINTED)
    assert "it has secrets" in refused.json["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {**POINTED, "place": {"x": 1, "y": 1}},
        {**POINTED, "skip": True},
        {**POINTED, "at_step": 2},
        {"by_hand": str(uuid4())},
    ],
)
async def test_repair_that_says_two_things_is_refused(service: Service, body: Any) -> None:
    refused = await proceed(service, GONE, body)
    assert refused.status == 422, refused.body


async def test_repair_needs_what_an_input_and_a_trajectory_need(service: Service) -> None:
    for lacks in (Scope.INPUT_SEND, Scope.TRAJECTORIES_WRITE):
        token = await service.new_token(*(set(HELPS) - {lacks}), user_id=uuid4())
        refused = await proceed(service, GONE, POINTED, token=token)
        assert (refused.status, refused.json["scope"]) == (403, lacks.value)
