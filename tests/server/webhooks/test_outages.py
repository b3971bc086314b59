"""Machines that are gone, and back: each is told of once, to whoever wants to hear of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from tornado.ioloop import IOLoop

from schemas.http.queries import PageQuery
from schemas.values.times import format_time
from server.app import Server
from server.store.machines.pools import PoolStore
from server.store.times import now
from server.store.webhooks.outages import OutageStore, Owed
from server.store.webhooks.outbox import Outbox, new_delivery
from server.store.webhooks.webhooks import WebhookStore
from server.webhooks.outages import MOST_ALONE, Outages, due, portions
from tests.receivers import Receiver, receiving
from tests.service import ScriptedMachine, Service, running_server
from tests.store import ORGANIZATION, entered, there

AFTER = timedelta(seconds=0.3)


@pytest.fixture(scope="module")
def shared_server(
    io_loop: IOLoop, mongodb: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server that tells soon."""
    context = running_server(
        mongodb,
        tmp_path_factory.mktemp("data"),
        "test_outages",
        webhook_private_addresses="127.0.0.0/8",
        offline_after=AFTER.total_seconds(),
    )
    with entered(io_loop, context) as server:
        yield server


@asynccontextmanager
async def told(service: Service, **more: Any) -> AsyncIterator[Receiver]:
    """A receiver that is told of machines that come and go."""
    async with receiving() as receiver:
        body = {"url": receiver.url, "events": ["machine_offline", "machine_online"], **more}
        assert (await service.post("/v1/webhooks", body)).status == 201
        yield receiver


async def test_machine_that_goes_and_comes_is_told_of_once(service: Service) -> None:
    pool = (await service.post("/v1/pools", {"name": "Berlin"})).json
    async with told(service) as receiver, told(service, pool_ids=[pool["id"]]) as of_pool:
        async with service.joined() as (machine, _):
            pass
        [gone] = await receiver.get(1)
        assert gone.json["type"] == "machine_offline"
        [which] = gone.json["data"]["machines"]
        view = (await service.get(f"/v1/machines/{machine.machine_id}")).json
        assert (which["machine_id"], which["since"]) == (machine.machine_id, view["since"])
        assert which["reason"] == view["reason"]
        async with machine.connected():
            [_, back] = await receiver.get(2)
        assert back.json["type"] == "machine_online"
        body = {"action": "add_to_pool", "machine_ids": [machine.machine_id], "pool_id": pool["id"]}
        assert (await service.post("/v1/machines/bulk", body)).json["done"] == 1
        [again] = await of_pool.get(1)
        [*_, last] = await receiver.get(3)
        assert again.id != last.id
        assert again.json["data"]["machines"][0]["pools"] == [{"id": pool["id"], "name": "Berlin"}]
        await service.server.services.outages.look()
        assert (len(receiver.received), len(of_pool.received)) == (3, 1)


async def test_many_that_go_together_are_told_in_one_delivery(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with told(service) as receiver:
        async with AsyncExitStack() as links:
            for number in range(MOST_ALONE + 2):
                machine = await service.new_machine(f"till-{number}")
                await links.enter_async_context(machine.connected())
            # Nor is one that is expected to be away among many.
            path = f"/v1/machines/till-{MOST_ALONE + 1}/expected-offline"
            body = {"until": format_time(now() + timedelta(days=1))}
            assert (await service.request("PUT", path, body)).status == 200
            # However long it takes until all are gone, one after another.
            monkeypatch.setattr(service.server.services.outages, "_after", timedelta(hours=1))
        await machine.until_closed()
        for number in range(MOST_ALONE + 2):
            await ScriptedMachine(service, f"till-{number}", "").until_gone()
        monkeypatch.undo()
        [digest] = await receiver.get(1)
        assert digest.json["data"]["total"] == MOST_ALONE + 1
        ids = {each["machine_id"] for each in digest.json["data"]["machines"]}
        assert ids == {f"till-{number}" for number in range(MOST_ALONE + 1)}


async def test_nodes_that_look_at_once_tell_an_outage_once(service: Service) -> None:
    services = service.server.services
    database, delivering = services.operation.database, services.delivering
    store = OutageStore(database, Outbox(database, 100))
    nodes = [
        Outages(
            store,
            WebhookStore(database),
            PoolStore(database),
            delivering,
            after=AFTER,
            alone_as=None,
        )
        for _ in range(4)
    ]
    async with told(service) as receiver:
        async with service.joined():
            pass
        while not receiver.received:
            await asyncio.gather(*(node.look() for node in nodes))
        await asyncio.gather(*(node.look() for node in nodes))
        webhooks = (await service.get("/v1/webhooks")).json["items"]
        page = (await service.get(f"/v1/webhooks/{webhooks[0]['id']}/deliveries")).json
        assert page["total"] == 1


async def test_outage_that_began_while_no_node_ran_is_told(service: Service) -> None:
    database = service.server.services.operation.database
    async with told(service) as receiver:
        machine = await service.new_machine()
        machines = database.collection("machines")
        # As a node leaves it that is killed: nobody has noted that the link has ended.
        linked = {"connected_at": now(), "disconnected_at": None, "link.node_id": uuid4()}
        await machines.update_one(
            {"organization_id": service.organization_id}, {"$set": linked | {"link.node_name": "n"}}
        )
        store = OutageStore(database, Outbox(database, 100))
        await store.note_lost(service.server.services.cluster.node.node_id)
        await store.note_lost(service.server.services.cluster.node.node_id)
        [gone] = await receiver.get(1)
        assert gone.json["data"]["machines"][0]["machine_id"] == machine.machine_id


async def test_delay_of_the_strictest_pool_counts(service: Service) -> None:
    patient = {"name": "patient", "offline_after": 86_400}
    pools = [(await service.post("/v1/pools", body)).json for body in (patient, {"name": "none"})]
    async with told(service) as receiver:
        for machine_id, pool in (("later", pools[0]), ("soon", pools[1])):
            machine = await service.new_machine(machine_id)
            body = {"action": "add_to_pool", "machine_ids": [machine_id], "pool_id": pool["id"]}
            assert (await service.post("/v1/machines/bulk", body)).json["done"] == 1
            async with machine.connected():
                pass
        [gone] = await receiver.get(1)
        assert gone.json["data"]["machines"][0]["machine_id"] == "soon"
        strict = {"offline_after": 1}
        path = f"/v1/pools/{pools[0]['id']}"
        assert (await service.request("PATCH", path, strict)).json["offline_after"] == 1
        [_, gone] = await receiver.get(2)
        assert gone.json["data"]["machines"][0]["machine_id"] == "later"
        await service.server.services.outages.count()
        metrics = (await service.get("/metrics")).body.decode()
        assert f'farhand_pool_machines_missing{{pool="{pools[0]["id"]}"}} 1.0' in metrics
        assert pools[1]["id"] not in metrics


async def test_machine_that_is_expected_to_be_away_is_told_of_after_that(service: Service) -> None:
    async with told(service) as receiver:
        machine = await service.new_machine("cleaned")
        path = f"/v1/machines/{machine.machine_id}/expected-offline"
        until = format_time(now() + timedelta(days=1))
        said = (await service.request("PUT", path, {"until": until, "reason": "cleaning"})).json
        assert (said["until"], said["reason"], said["by"]) == (until, "cleaning", "administrator")
        assert (await service.get(path)).json == said
        async with machine.connected():
            pass
        async with service.joined():
            pass
        [other] = await receiver.get(1)
        assert other.json["data"]["machines"][0]["machine_id"] == "desk-1"
        database = service.server.services.operation.database
        owed_now = await OutageStore(database, Outbox(database, 100)).owed()
        assert "cleaned" not in [each.machine_id for each in owed_now]
        assert (await service.request("DELETE", path)).status == 204
        assert (await service.get(path)).status == 404
        [_, gone] = await receiver.get(2)
        assert gone.json["data"]["machines"][0]["machine_id"] == "cleaned"
        for wrong in (now() - timedelta(1), now() + timedelta(days=31)):
            reply = await service.request("PUT", path, {"until": format_time(wrong)})
            assert reply.faults == [(["body", "until"], "future_time")]


async def test_what_happens_in_quiet_hours_comes_as_one_digest_at_their_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = now() + timedelta(hours=1)
    monkeypatch.setattr("server.webhooks.quiet.quiet_until", lambda *_: end)
    quiet = {"begin": "22:00", "end": "06:00", "time_zone": "Europe/Berlin"}
    async with told(service, quiet_hours=quiet) as receiver, told(service) as other:
        async with service.joined() as (machine, _):
            pass
        await other.get(1)
        async with machine.connected():
            await other.get(2)
        [webhook] = [
            each
            for each in (await service.get("/v1/webhooks")).json["items"]
            if each["url"] == receiver.url
        ]
        assert webhook["quiet_hours"] == quiet
        page = (await service.get(f"/v1/webhooks/{webhook['id']}/deliveries")).json
        [waiting] = page["items"]
        assert (waiting["event"], waiting["attempts"]) == ("digest", 0)
        assert waiting["next_attempt_at"] == format_time(end)
        assert receiver.received == []
        # What came later that night would be posted with none.
        path = f"/v1/webhooks/{webhook['id']}/deliveries/{waiting['id']}/resend"
        assert (await service.post(path)).status == 404
        deliveries = service.server.services.operation.database.collection("webhook_deliveries")
        over = {"queued_at": now(), "next_attempt_at": now()}
        await deliveries.update_one({"_id": UUID(waiting["id"])}, {"$set": over})
        [digest] = await receiver.get(1)
        kinds = [each["type"] for each in digest.json["data"]["events"]]
        assert (digest.json["type"], kinds) == ("digest", ["machine_offline", "machine_online"])
        assert digest.json["data"]["total"] == 2
        assert (await service.post(path)).status == 202
        assert [each.id for each in await receiver.get(2)] == [waiting["id"]] * 2


async def test_what_has_changed_since_is_not_told(service: Service) -> None:
    database = service.server.services.operation.database
    store = OutageStore(database, Outbox(database, 100))
    async with service.joined() as (machine, _):
        pass
    wanted = {"organization_id": service.organization_id}
    found = there(await database.collection("machines").find_one(wanted))
    owed = Owed(
        found["_id"], service.organization_id, machine.machine_id, "n", (), False, now(), None
    )
    webhook = uuid4()
    delivery = new_delivery(service.organization_id, webhook, uuid4(), "test", "{}")
    assert not await store.tell([owed], [delivery])
    assert (await Outbox(database, 100).list(webhook, PageQuery()))[1] == 0


def owed(seconds_ago: float) -> Owed:
    since = now() - timedelta(seconds=seconds_ago)
    return Owed(None, ORGANIZATION, f"m{seconds_ago}", "m", (), False, since, None)


def test_many_are_waited_for_and_few_are_not() -> None:
    moment = now()

    def after(_machine: Owed) -> timedelta:
        return timedelta(seconds=120)

    few = [owed(130), owed(100)]
    assert due(few, after, moment) == few[:1]
    many = [owed(130), *(owed(100) for _ in range(MOST_ALONE))]
    assert due(many, after, moment) == []
    waited = [owed(190), *many[1:]]
    assert due(waited, after, moment) == waited[:1]


def test_few_are_told_alone_and_many_together_up_to_a_size() -> None:
    many = [owed(number) for number in range(MOST_ALONE + 1)]
    assert [len(each) for each in portions(many, lambda _: 100)] == [11]
    assert [len(each) for each in portions(many, lambda _: 20_000)] == [3, 3, 3, 2]
    assert [len(each) for each in portions(many, lambda _: 100_000)] == [1] * 11
    assert [len(each) for each in portions(many[1:], lambda _: 100)] == [1] * 10
