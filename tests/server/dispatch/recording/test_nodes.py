"""A recording through two nodes, and with the link of its machine from one to the other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.nodes import at, reached, running_nodes, until_reached
from tests.server.api.machines.test_recorded_pictures import until_steps
from tests.server.api.machines.test_recordings import begun, sent, steps_of, stopped
from tests.service import Service, new_key
from tests.waiting import waited

CANARY = "canary4711"


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

                async def is_written() -> bool | None:
                    """Whether the node that had the link has written what it had."""
                    steps = await steps_of(there, recording)
                    return any(step["body"].get("x") == 1 for step in steps) or None

                await waited(is_written)
                await sent(moved, other, "mouse/move", {"x": 2, "y": 2})
                await stopped(here, recording)
        steps = await steps_of(there, recording)
        assert [step["body"]["x"] for step in steps if step["operation"] != "gap"] == [1, 2]


async def test_what_a_killed_node_did_not_write_is_made_up_when_its_end_is_told(
    mongodb: str, database_name: str, nats_url: str, tmp_path: Path
) -> None:
    async with two_nodes(mongodb, database_name, nats_url, tmp_path) as nodes:
        here, there = nodes
        text, clicked, before = ({"headers": {"Idempotency-Key": new_key()}} for _ in range(3))
        async with reached(nodes) as (machine, link):
            await sent(machine, link, "mouse/move", {"x": 1, "y": 1}, **before)
            # What is typed may be said to be a secret even so, which nobody knows later.
            recording = await begun(here, keep_texts=True)
            await sent(machine, link, "mouse/move", {"x": 2, "y": 2})
            await until_steps(here, recording, 1)
            # As one that is killed: it writes nothing any more.
            ((session,),) = here.server.services.machines.recordings_here._sessions.values()
            session.close()
            await sent(machine, link, "mouse/click", {"x": 3, "y": 3}, **clicked)
            await sent(machine, link, "keyboard/type", {"text": CANARY}, **text)
        elsewhere = at(there, machine)
        for _ in range(2):
            for operation, body, key in (
                ("mouse/move", {"x": 1, "y": 1}, before),
                ("mouse/click", {"x": 3, "y": 3}, clicked),
                ("keyboard/type", {"text": CANARY}, text),
            ):
                reply = await there.post(elsewhere.input_path(operation), body, **key)
                assert reply.status == 200, reply.body
        await stopped(there, recording)
        moved, pressed, typed, gap = await steps_of(there, recording)
        assert (moved["body"]["x"], pressed["body"]["x"], gap["operation"]) == (2, 3, "gap")
        assert typed["secret"].startswith("secret_")
        assert CANARY not in str(typed)
