"""Recordings that nobody ends, and several of one machine: what is there stays."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.resources.recordings import (
    IDLE_MINUTES,
    LONGEST_HOURS,
    MOST_STEP_BYTES,
    MOST_STEPS,
    WORDS,
)
from server.fleet.recordings import Recordings
from server.store.times import now
from server.store.transactions import Transaction
from tests.holding_up import held_up
from tests.server.api.machines.test_recordings import (
    RECORDINGS,
    begun,
    sending,
    sent,
    steps_of,
    stopped,
    until_stopped,
)
from tests.service import Service
from tests.waiting import waited


async def until_written(service: Service, recording: Any, steps: int) -> None:
    """Wait until a recording has so many steps."""

    async def has() -> bool | None:
        found = (await service.get(f"/v1/recordings/{recording['id']}")).json
        return found["steps"] == steps or None

    await waited(has)


async def put(service: Service, recording: Any, **fields: Any) -> None:
    """Have a recording be further on than it is."""

    async def work(transaction: Transaction) -> None:
        stored = await transaction.recordings.get(service.organization_id, UUID(recording["id"]))
        assert stored is not None
        await transaction.recordings.change(stored, fields)

    await service.server.services.machines.recordings._transactions.run(work)


async def test_recording_that_nobody_ends_ends_by_itself_with_all_that_was_done(
    service: Service,
) -> None:
    long, idle = timedelta(hours=LONGEST_HOURS), timedelta(minutes=IDLE_MINUTES)
    far: dict[str, dict[str, Any]] = {
        "hours": {"created_at": now() - long},
        "idle": {"last_step_at": now() - idle},
        "bytes": {"step_bytes": MOST_STEP_BYTES - 1},
        "steps": {"steps": MOST_STEPS - 1},
    }
    words: Mapping[Any, str] = WORDS
    async with service.joined() as (machine, link):
        recordings = {why: await begun(service) for why in far}
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        for recording in recordings.values():
            await until_written(service, recording, 1)
        for why in ("hours", "idle"):
            await put(service, recordings[why], **far[why])
            await until_stopped(service, recordings[why], why)
        for why in ("bytes", "steps"):
            await put(service, recordings[why], **far[why])
        for x in (2, 3, 4):
            await sent(machine, link, "mouse/move", {"x": x, "y": 1})
        for why in ("bytes", "steps"):
            await until_stopped(service, recordings[why], why)
        # Inputs go on, and nobody records them.
        await sent(machine, link, "mouse/move", {"x": 9, "y": 1})
    assert (await service.get("/v1/machines/desk-1")).json["recordings"] == []
    places = {
        why: [step["body"]["x"] for step in await steps_of(service, recording)]
        for why, recording in recordings.items()
    }
    assert (places["hours"], places["idle"], places["steps"]) == ([1], [1], [1, 2])
    # What was already done when it was found to be full is kept.
    assert places["bytes"][:2] == [1, 2]
    assert 9 not in places["bytes"]
    for why, recording in recordings.items():
        ended = (await service.get(f"/v1/recordings/{recording['id']}")).json
        assert ended["reason"] == words[why]
        made = await service.get(f"/v1/trajectories/{recording['trajectory_id']}")
        assert made.json["is_generated"]
    entries = (await service.get("/v1/audit?action=recording.stopped")).json["items"]
    assert {each["note"].partition(": ")[2] for each in entries} == {words[why] for why in far}


async def test_two_who_record_one_machine_have_all_of_it_each_and_end_by_themselves(
    service: Service,
) -> None:
    made = {"name": "other", "scopes": ["recordings:write", "screen:read"]}
    other = (await service.post("/v1/tokens", made)).json["token"]
    async with service.joined() as (machine, link):
        one, two = await begun(service), await begun(service, other)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        await stopped(service, one)
        await sent(machine, link, "mouse/move", {"x": 2, "y": 1})
        await stopped(service, two)
    places = [[step["body"]["x"] for step in await steps_of(service, each)] for each in (one, two)]
    assert places == [[1], [1, 2]]


async def test_recording_that_could_not_begin_leaves_nothing_behind(service: Service) -> None:
    kept = (await service.post("/v1/workflows", {"name": "kept"})).json["id"]
    machine = await service.new_machine()
    for body in ({}, {"workflow_id": kept}):
        with held_up(Recordings, "_insert") as storing:
            async with machine.connected():
                beginning = sending(service, RECORDINGS, body)
                await storing.is_asked.wait()
            await machine.until_gone()
            storing.may_begin.set()
            assert (await beginning).refusal == (503, "machine-unavailable")
    workflows = (await service.get("/v1/workflows")).json["items"]
    assert [each["id"] for each in workflows] == [kept]
    for path in ("/v1/recordings", "/v1/trajectories?is_generated=null"):
        assert (await service.get(path)).json["total"] == 0
