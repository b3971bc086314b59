"""``GET /v1/events``: what is told, to whom, and when it ends."""

import asyncio
from typing import Any

import pytest

from schemas.link.close_codes import CloseCode
from schemas.resources.events import Reset, TrajectoryChanged
from schemas.resources.tokens import Scope
from server.api import events as events_module
from server.events.memory_hub import MemoryEventHub
from tests.events import EventReader, listening
from tests.links import hello
from tests.service import PATIENCE_SECONDS, ScriptedMachine, Service, until
from tests.trajectories import sent


async def told_of(stream: EventReader, **expected: Any) -> dict[str, Any]:
    """The next event about a machine that shows it like this."""
    told = await stream.until(
        lambda told: (
            told.type == "machine"
            and all(told.data[name] == value for name, value in expected.items())
        )
    )
    return dict(told.data)


async def test_stream_is_server_sent_events_that_nobody_keeps(service: Service) -> None:
    async with listening(service) as stream:
        head = stream.head.lower()
        assert b"content-type: text/event-stream" in head
        assert b"cache-control: no-store" in head
        assert b"x-accel-buffering: no" in head
        first = await stream.block()
        assert first["retry"].isdecimal()
        assert first["id"]


async def test_machine_is_told_as_it_is_read(service: Service) -> None:
    async with listening(service) as stream:
        await service.post("/v1/machines", {"id": "desk-9", "name": "Nine"})
        told = await told_of(stream, id="desk-9")
        assert told == (await service.get("/v1/machines/desk-9")).json


async def test_every_change_of_a_machine_is_told(service: Service) -> None:
    machine = await service.new_machine()
    path = "/v1/machines/desk-1"
    async with listening(service) as stream:
        async with machine.connected():
            await told_of(stream, state="online", reason="connected")
            await service.request("PATCH", path, {"paused": True})
            await told_of(stream, state="paused")
            await service.request("PATCH", path, {"paused": False, "name": "Renamed"})
            await told_of(stream, state="online", name="Renamed")
        await told_of(stream, state="offline")
        async with machine.connected(hello(no_input="no display")):
            await told_of(stream, state="no_input", reason="no display")
            await service.request("DELETE", path)
            removed = await stream.until(lambda told: told.type == "machine_removed")
            assert removed.data == {"id": "desk-1"}


async def test_takeover_is_told(service: Service, machine: ScriptedMachine) -> None:
    async with machine.connected(), listening(service) as stream, machine.connected():
        # The first link's "connected" may still be told after the stream has begun.
        await stream.until(
            lambda told: told.type == "machine" and "took over" in told.data["reason"]
        )


async def test_link_that_does_not_close_is_told_as_soon_as_it_is_given_up(
    service: Service, machine: ScriptedMachine
) -> None:
    async with machine.connected() as link, listening(service) as stream:
        # The other side is there and says nothing, as a host does that was unplugged.
        link.websocket.transport.pause_reading()
        live = await machine.until_live()
        live.close(CloseCode.HEARTBEAT_MISSED, "no answer to a heartbeat")
        told = await told_of(stream, state="offline")
        assert told["reason"] == "no answer to a heartbeat"
        assert any(service.server.services.machines.registry)
        link.websocket.transport.resume_reading()


async def test_trajectories_are_told(service: Service) -> None:
    async with listening(service) as stream:
        made = (await service.post("/v1/trajectories", sent())).json["id"]
        path = f"/v1/trajectories/{made}"
        await service.request("PATCH", path, {"name": "other"})
        copy = (await service.post(f"{path}/duplicate", {})).json["id"]
        await service.request("DELETE", path)
        expected = [(made, "created"), (made, "changed"), (copy, "created"), (made, "deleted")]
        for thing, change in expected:
            told = await stream.next()
            assert told.type == "trajectory"
            assert TrajectoryChanged.model_validate(told.data).change == change
            assert told.data["id"] == thing


async def test_creation_that_is_replayed_is_told_once(service: Service) -> None:
    async with listening(service) as stream:
        for _ in range(2):
            await service.post("/v1/trajectories", sent(), headers={"Idempotency-Key": "k"})
        await service.post("/v1/machines", {"id": "last"})
        kinds = [(await stream.next()).type for _ in range(2)]
        assert kinds == ["trajectory", "machine"]


async def test_who_comes_back_hears_what_was_missed(service: Service) -> None:
    async with listening(service) as stream:
        await service.post("/v1/machines", {"id": "a"})
        last_id = (await stream.next()).id
    for name in ("b", "c"):
        await service.post("/v1/machines", {"id": name})
    await until(lambda: newest_of(service) == 6)  # Of each also an entry of the audit.
    async with listening(service, last_event_id=last_id) as stream:
        assert [(await stream.next()).data["id"] for _ in range(2)] == ["b", "c"]


async def test_who_heard_nothing_yet_can_come_back_too(service: Service) -> None:
    async with listening(service) as stream:
        await stream.block()
        last_id = stream.last_id
    await service.post("/v1/machines", {"id": "a"})
    async with listening(service, last_event_id=last_id) as stream:
        assert (await stream.next()).data["id"] == "a"


def newest_of(service: Service) -> int:
    """How many events the organization has had."""
    hub = service.server.services.events
    assert isinstance(hub, MemoryEventHub)
    return hub._channel(service.organization_id).newest


async def test_id_of_an_earlier_server_says_reset_first(service: Service) -> None:
    async with listening(service, last_event_id="0123456789ab-17") as stream:
        told = await stream.next()
        assert told.type == "reset"
        assert told.data["reason"]
        await service.post("/v1/machines", {"id": "a"})
        assert (await stream.next()).type == "machine"


async def test_events_can_be_chosen_by_machine_and_by_type(service: Service) -> None:
    await service.new_machine("desk-1")
    await service.new_machine("desk-2")
    async with (
        listening(service, "?machine_id=desk-2") as of_machine,
        listening(service, "?types=trajectory") as of_type,
    ):
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        await service.post("/v1/trajectories", sent())
        await service.request("PATCH", "/v1/machines/desk-2", {"paused": True})
        assert (await of_machine.next()).data["id"] == "desk-2"
        assert (await of_type.next()).type == "trajectory"


async def test_reset_is_told_to_everybody_whatever_was_chosen(service: Service) -> None:
    await service.new_machine("desk-1")
    async with (
        listening(service, "?machine_id=desk-1") as of_machine,
        listening(service, "?types=trajectory") as of_type,
    ):
        reset = Reset(reason="more happened than could be told")
        service.server.services.events.publish(service.organization_id, "reset", reset)
        for stream in (of_machine, of_type):
            told = await stream.until(lambda told: told.type == "reset")
            assert told.data == {"reason": "more happened than could be told"}


@pytest.mark.parametrize(
    ("query", "loc"),
    [
        ("?machine_id=a/b", "machine_id"),
        ("?types=reset", "types"),
        ("?types=machine,else", "types"),
        ("?since=1", "since"),
    ],
)
async def test_wrong_query_is_422(service: Service, query: str, loc: str) -> None:
    ((place, _),) = (await service.get(f"/v1/events{query}")).faults
    assert place == ["query", loc]


async def test_unknown_machine_and_one_of_another_organization_are_404(service: Service) -> None:
    other = await service.elsewhere()
    await other.new_machine("desk-1")
    assert (await service.get("/v1/events?machine_id=desk-1")).refusal == (404, "not-found")


async def test_events_of_another_organization_are_not_told(service: Service) -> None:
    other = await service.elsewhere()
    async with listening(service) as stream:
        await other.post("/v1/machines", {"id": "secret"})
        await other.post("/v1/trajectories", sent())
        await until(lambda: newest_of(other) == 4)
        await service.post("/v1/machines", {"id": "own"})
        assert (await stream.next()).data["id"] == "own"


async def test_revoked_token_ends_the_stream(service: Service) -> None:
    token = await service.new_token(Scope.MACHINES_READ)
    listed = (await service.get("/v1/tokens")).json["items"]
    (token_id,) = [each["id"] for each in listed if each["name"] == "of a test"]
    async with listening(service, token=token) as stream:
        await service.request("DELETE", f"/v1/tokens/{token_id}")
        comments = await stream.end()
        assert "revoked" in comments[-1]


async def test_silent_stream_has_a_heartbeat(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "HEARTBEAT_SECONDS", 0.01)
    async with listening(service, "?types=trajectory") as stream:
        await stream.block()
        first_id = stream.last_id
        await service.post("/v1/machines", {"id": "not-wanted"})
        while stream.last_id == first_id:
            await stream.block()
        assert "nothing new" in stream.comments


async def test_slow_reader_is_dropped_with_a_last_word(service: Service) -> None:
    hub = service.server.services.events
    change = TrajectoryChanged(id=service.organization_id, change="changed")
    async with listening(service) as stream:
        await stream.block()
        # All at once, so that the stream has no time to take any.
        for _ in range(1001):
            hub.publish(service.organization_id, "trajectory", change)
        assert hub.subscribers == 0
        comments = await stream.end()
        assert "too slowly" in comments[-1]
        assert "Last-Event-ID" in comments[-1]


async def test_reader_that_takes_nothing_is_cut_off(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "STALL_SECONDS", 0.2)
    hub = service.server.services.events
    change = TrajectoryChanged(id=service.organization_id, change="changed")
    async with listening(service) as stream:
        stream.pause()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while hub.subscribers:
                for _ in range(100):
                    hub.publish(service.organization_id, "trajectory", change)
                await asyncio.sleep(0.01)
        stream.abort()


async def test_reader_that_has_gone_is_forgotten(service: Service) -> None:
    hub = service.server.services.events
    async with listening(service):
        await until(lambda: hub.subscribers == 1)
    await until(lambda: hub.subscribers == 0)


async def test_no_more_streams_than_may_be(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.server.services.events, "_subscribers", 1)
    async with listening(service):
        reply = await service.get("/v1/events")
        assert (reply.status, reply.problem) == (429, "too-many-streams")
        assert reply.headers["Retry-After"]


@pytest.mark.own_server
async def test_stopping_server_ends_the_streams_and_does_not_wait_for_them(
    service: Service,
) -> None:
    async with listening(service) as stream:
        stopping = service.server.services.background.start(service.server.stop(), "stop")
        comments = await stream.end()
        assert "stopping" in comments[-1]
        await asyncio.wait((stopping,), timeout=20)
