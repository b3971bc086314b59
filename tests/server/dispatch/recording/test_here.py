"""A recording whose machine gets another link, and inputs in just that moment."""

from typing import Any

import pytest

from schemas.link.element_messages import ElementsQuery
from schemas.link.messages import Input, Resolve
from server.dispatch.recording import session
from server.dispatch.recording.writing import RecordingWriter
from server.errors import StoreUnavailable
from server.store.commands import CommandStore
from server.store.machines.machines import MachineStore
from tests.holding_up import held_up
from tests.links import COMPLETED, hello
from tests.server.api.machines.test_recordings import (
    begun,
    sending,
    sent,
    steps_of,
    stopped,
)
from tests.service import PATIENCE_SECONDS, ScriptedLink, ScriptedMachine, Service, new_key
from tests.told_elements import CAN
from tests.waiting import until


def running(service: Service) -> bool:
    """Whether anything of a recording runs on a node, also what only writes what it has."""
    here = service.server.services.machines.recordings_here
    return bool(here._sessions or here._leaving)


async def played(link: ScriptedLink) -> None:
    """Do all that comes, and say that all that is asked about was done."""
    while True:
        match await link.next_message():
            case Input(command_id=done):
                await link.acknowledge(done)
            case Resolve(command_id=asked):
                await link.report(asked, COMPLETED)


async def test_inputs_of_a_link_that_has_just_come_up_wait_until_it_is_known_who_records(
    service: Service,
) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected() as link:
        recording = await begun(service)
        moving = machine.moving(key, x=1)
        await link.heard(Input)
    assert (await moving).status == 504
    await machine.until_gone()
    named = {"Farhand-Recording": recording["id"]}
    with held_up(MachineStore, "get_together") as reading:
        async with machine.connected(hello(sequence=9), wait_until_live=False) as link:
            live = await machine.until_up()
            moves = (
                machine.moving(key, x=1),
                machine.moving(x=2),
                machine.moving(new_key(), x=3, headers=named),
            )
            await until(lambda: live._link.commands._reserved == 3)
            reading.may_begin.set()
            playing = service.server.services.background.start(played(link), "the machine")
            assert [(await each).status for each in moves] == [200, 200, 200]
            playing.cancel()
            await stopped(service, recording)
    gap, *steps = await steps_of(service, recording)
    assert gap["operation"] == "gap"
    assert sorted(step["body"]["x"] for step in steps) == [1, 2, 3]


async def test_input_whose_link_ends_before_it_is_known_who_records_was_not_sent(
    service: Service, machine: ScriptedMachine
) -> None:
    with held_up(MachineStore, "get_together"):
        async with machine.connected(wait_until_live=False):
            live = await machine.until_up()
            moving = machine.moving(new_key())
            await until(lambda: live._link.commands._reserved == 1)
        reply = await moving
    assert (reply.status, reply.json["reason"]) == (503, "offline")


async def test_database_that_does_not_say_who_records_is_told_in_time(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.server.services.machines.dispatcher, "_input_timeout", 0.1)
    with held_up(MachineStore, "get_together"):
        async with machine.connected(wait_until_live=False):
            await machine.until_up()
            assert (await machine.move(new_key())).refusal == (503, "storage-unavailable")


@pytest.mark.parametrize("has_left", [False, True])
async def test_input_that_ends_when_its_recording_leaves_is_recorded(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch, has_left: bool
) -> None:
    monkeypatch.setattr(session, "ANSWER_SECONDS", 0.0)
    with (
        held_up(CommandStore, "finish") as storing,
        held_up(RecordingWriter, "release") as leaving,
    ):
        async with machine.connected() as link:
            recording = await begun(service)
            moving = machine.moving(new_key(), x=1)
            await link.obey()
            await storing.is_asked.wait()
        await leaving.is_asked.wait()
        if has_left:
            leaving.may_begin.set()
            await until(lambda: not running(service))
        storing.may_begin.set()
        assert (await moving).status == 200
    ended = await stopped(service, recording)
    assert [step["body"].get("x") for step in await steps_of(service, recording)] == [1]
    assert ended["gaps"] == 0


async def test_recording_goes_on_though_the_database_is_away_when_its_link_ends(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, failures = RecordingWriter.release, [StoreUnavailable()]

    async def released(*arguments: Any) -> None:
        if failures:
            raise failures.pop()
        await release(*arguments)

    monkeypatch.setattr(RecordingWriter, "release", released)
    async with machine.connected() as link:
        recording = await begun(service)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
    await until(lambda: not running(service))
    async with machine.connected() as link:
        await sent(machine, link, "mouse/move", {"x": 2, "y": 2})
        ended = await stopped(service, recording)
    assert (failures, ended["why_stopped"], ended["gaps"]) == ([], "asked", 0)
    assert [step["body"].get("x") for step in await steps_of(service, recording)] == [1, 2]


async def test_recording_leaves_a_link_that_another_replaces_before_it_is_closed(
    service: Service, machine: ScriptedMachine
) -> None:
    async with machine.connected() as silent:
        recording = await begun(service)
        await sent(machine, silent, "mouse/move", {"x": 1, "y": 1})
        silent.websocket.transport.pause_reading()
        async with machine.connected() as link:
            await sent(machine, link, "mouse/move", {"x": 2, "y": 2})
            assert (await stopped(service, recording))["gaps"] == 0
            await until(lambda: not running(service))
        silent.websocket.transport.resume_reading()
    assert [step["body"].get("x") for step in await steps_of(service, recording)] == [1, 2]


async def test_recording_leaves_without_looking_for_a_text_that_ended_after_its_link(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for patience in ("LOOK_SECONDS", "FINISH_SECONDS"):
        monkeypatch.setattr(session, patience, 2 * PATIENCE_SECONDS)
    machine = await service.new_machine()
    with held_up(CommandStore, "finish") as storing:
        async with machine.connected(hello().model_copy(update={"elements": CAN})) as link:
            recording = await begun(service)
            path, headers = machine.input_path("keyboard/type"), {"Idempotency-Key": new_key()}
            typing = sending(service, path, {"text": "a"}, headers=headers)
            # It may be asked for its elements before, which has no answer.
            while not isinstance(command := await link.next_message(), Input):
                assert isinstance(command, ElementsQuery), command
            await link.acknowledge(command.command_id)
            await storing.is_asked.wait()
        await machine.until_closed()
    assert (await typing).status == 200
    await until(lambda: not running(service))
    await stopped(service, recording)
    assert [step["operation"] for step in await steps_of(service, recording)] == ["keyboard.type"]
