"""Recordings by a program: real server, real MongoDB, a machine that the test plays."""

import pytest

import farhand
from farhand import AsyncFarhand
from tests.client._async.test_machine import obeyed
from tests.service import ScriptedLink, ScriptedMachine, Service


async def test_program_records_what_it_does_itself(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    async with AsyncFarhand(service.url, service.token, timeout=30) as client:
        desk, other = client.machine(machine.machine_id), client.machine(machine.machine_id)
        async with desk.record(name="Open the order") as recording:
            await obeyed(link, desk.move(1, 1))
            await obeyed(link, other.move(2, 2))
            (running,) = (await desk.get()).recordings
            assert (running.id, running.of) == (recording.id, "me")
            assert (await client.recordings.secret(recording.id)).secret
            assert not (await client.recordings.secret(recording.id, on=False)).secret
        ended = await client.recordings.get(recording.id)
        assert (ended.state, ended.steps, ended.why_stopped) == ("stopped", 2, "asked")
        assert [each.id async for each in client.recordings.list(state="stopped")] == [ended.id]
        trajectory = await client.trajectories.get(recording.trajectory_id)
        assert trajectory.name == "Open the order"
        assert [step["body"]["x"] for step in trajectory.trajectory_data or ()] == [1, 2]


async def test_program_is_told_that_its_recording_was_stopped(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    async with AsyncFarhand(service.url, service.token, timeout=30) as client:
        desk = client.machine(machine.machine_id)
        async with desk.record() as recording:
            await client.recordings.stop(recording.id)
            with pytest.raises(farhand.RecordingEnded):
                await desk.move(1, 1)
        # Behind it, inputs are of no recording.
        await obeyed(link, desk.move(1, 1))


async def test_everybodys_inputs_are_recorded_where_that_is_wanted(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    async with AsyncFarhand(service.url, service.token, timeout=30) as client:
        begun = await client.recordings.start(machine.machine_id, keep_texts=True)
        await obeyed(link, client.machine(machine.machine_id).type("4711"))
        ended = await client.recordings.stop(begun.id)
        assert (ended.of, ended.steps, ended.secrets) == ("everybody", 1, 0)
