"""A recording through two nodes, and with the link of its machine from one to the other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.nodes import at, reached, running_nodes, until_reached
from tests.server.api.machines.test_recordings import begun, sent, steps_of, stopped
from tests.service import Service


@asynccontextmanager
async def two_nodes(
    mongodb: str, database_name: str, nats_url: str, directory: Path
) -> AsyncIterator[list[Service]]:
    async with running_nodes(mongodb, database_name, nats_url, directory, "here", "there") as nodes:
        yield nodes


async def test_inputs_through_any_node_are_recorded_where_the_link_is(
    mongodb: str, database_name: str, nats_url: str, tmp_path: Path
) -> None:
    async with two_nodes(mongodb, database_name, nats_url, tmp_path) as nodes:
        here, there = nodes
        async with reached(nodes) as (machine, link):
            recording = await begun(there)
            await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
            elsewhere = at(there, machine)
            named = {"Farhand-Recording": recording["id"]}
            await sent(elsewhere, link, "mouse/move", {"x": 2, "y": 2}, headers=named)
            ended = await stopped(there, recording)
            assert ended["gaps"] == 0
            late = await elsewhere.move(headers=named)
            assert late.refusal == (409, "recording-ended")
        assert [step["body"]["x"] for step in await steps_of(here, recording)] == [1, 2]


async def test_recording_goes_on_at_the_node_that_the_link_moves_to(
    mongodb: str, database_name: str, nats_url: str, tmp_path: Path
) -> None:
    async with two_nodes(mongodb, database_name, nats_url, tmp_path) as nodes:
        here, there = nodes
        async with reached(nodes) as (machine, link):
            recording = await begun(here)
            await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
            moved = at(there, machine)
            async with moved.connected() as other:
                await until_reached(here, machine)
                await sent(moved, other, "mouse/move", {"x": 2, "y": 2})
                await stopped(here, recording)
        steps = await steps_of(there, recording)
        assert [step["body"]["x"] for step in steps if step["operation"] != "gap"] == [1, 2]
