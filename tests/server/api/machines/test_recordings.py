"""Recordings over HTTP, with a machine that the test plays."""

import json
from typing import Any
from uuid import uuid4

from schemas.inputs.outcomes import ActionResult, Completed, Failed, Point, Stopped
from schemas.link.messages import Input
from schemas.resources.tokens import Scope
from schemas.steps.step import Step
from tests.events import listening
from tests.service import Reply, ScriptedLink, ScriptedMachine, Service, new_key

RECORDINGS = "/v1/machines/desk-1/recordings"


async def begun(service: Service, token: str = "", **body: Any) -> Any:
    """Begin a recording of the machine; what is answered."""
    reply = await service.post(RECORDINGS, body, token=token)
    assert reply.status == 201, reply.body
    return reply.json


async def stopped(service: Service, recording: Any) -> Any:
    """Stop a recording; what is answered."""
    reply = await service.post(f"/v1/recordings/{recording['id']}/stop")
    assert reply.status == 200, reply.body
    return reply.json


async def steps_of(service: Service, recording: Any) -> list[dict[str, Any]]:
    """The steps that a recording's trajectory has, each of which Farhand understands."""
    reply = await service.get(f"/v1/trajectories/{recording['trajectory_id']}")
    assert reply.status == 200, reply.body
    steps: list[dict[str, Any]] = reply.json["trajectory_data"]
    for step in steps:
        Step.model_validate(step)
    return steps


def done(steps: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """What the steps do."""
    return [(step["operation"], step["body"]) for step in steps]


def sending(service: Service, path: str, body: Any, **options: Any) -> Any:
    """An input in the background."""
    background = service.server.services.background
    return background.start(service.post(path, body, **options), "a client of the test")


async def sent(
    machine: ScriptedMachine, link: ScriptedLink, operation: str, body: Any, **options: Any
) -> Reply:
    """Send an input, which the machine carries out."""
    task = sending(machine.service, machine.input_path(operation), body, **options)
    reply = await link.reply_to(task)
    assert reply.status == 200, reply.body
    return reply


async def test_inputs_become_steps_of_a_trajectory_that_is_generated_at_the_end(
    service: Service,
) -> None:
    async with service.joined() as (machine, link):
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        recording = await begun(service, name="Invoice")
        assert recording["state"] == "recording"
        assert recording["of"] == "everybody"
        clicked = await sent(machine, link, "mouse/click", {"x": 5, "y": 6, "clicks": 2})
        await sent(machine, link, "keyboard/key", {"text": "ctrl+a tab"})
        ended = await stopped(service, recording)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
    assert (ended["state"], ended["why_stopped"], ended["steps"]) == ("stopped", "asked", 2)
    steps = await steps_of(service, recording)
    assert done(steps) == [
        ("mouse.click", {"x": 5, "y": 6, "clicks": 2}),
        ("keyboard.key", {"text": "ctrl+a tab"}),
    ]
    assert steps[0]["command_id"] == clicked.json["command_id"]
    assert steps[0]["by"]["token_name"] == "administrator"
    assert steps[0]["by"]["through"] == "api"
    assert steps[0]["picture"] is None
    trajectory = (await service.get(f"/v1/trajectories/{recording['trajectory_id']}")).json
    assert trajectory["is_generated"]
    assert trajectory["name"] == "Invoice"
    assert trajectory["workflow_id"] == recording["workflow_id"]
    workflow = (await service.get(f"/v1/workflows/{recording['workflow_id']}")).json
    assert workflow["name"] == "Invoice"
