"""What reaches the links of a node from another one, beside inputs."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import Welcome
from schemas.values.times import format_time
from server.store.machines.documents import ClientSummary, LinkFacts, Machine
from server.store.machines.machines import MachineStore
from server.store.times import now
from tests.links import hello
from tests.nats import NatsServer
from tests.nodes import reached
from tests.service import Service, until
from tests.waiting import waited


async def test_pause_and_removal_reach_a_link_on_another_node(nodes: list[Service]) -> None:
    _, there = nodes
    async with reached(nodes) as (machine, link):
        await there.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        assert (await machine.move()).json["reason"] == "paused"
        await link.interrupted()
        await there.request("PATCH", "/v1/machines/desk-1", {"paused": False})
        await link.obeys(machine.moving())
        assert (await there.request("DELETE", "/v1/machines/desk-1")).status == 204
        assert (await link.closed())[0] in (4501, 4502)


async def test_pause_that_is_over_ends_where_the_link_is_and_is_told_once(
    nodes: list[Service],
) -> None:
    here, there = nodes
    machine = await here.new_machine()
    async with machine.connected():
        live = await machine.until_live()
        late = format_time(now() + timedelta(minutes=5))
        await there.request("PATCH", "/v1/machines/desk-1", {"paused": True, "pause_until": late})
        assert live.availability.restrictions.pause is not None
        # It is over soon all the same, and not before anybody has seen it.
        end = now() + timedelta(seconds=0.5)
        machines = here.server.services.operation.database.collection("machines")
        of_organization = {"organization_id": here.organization_id}
        await machines.update_one(of_organization, {"$set": {"pause.until": end}})
        for node in nodes:
            node.server.services.machines.pauses.look_soon()
        await until(lambda: live.availability.restrictions.pause is None)
        assert now() >= end
    await there.request("PATCH", "/v1/machines/desk-1", {"name": "after it"})

    async def entries() -> list[str] | None:
        found = (await here.get("/v1/audit?action=machine")).json["items"]
        return sorted(entry["action"] for entry in found) if len(found) > 2 else None

    # The machine is told of the end before the audit is.
    assert await waited(entries) == ["machine.pause_ended", "machine.paused", "machine.renamed"]


async def test_pause_holds_within_a_second_where_nobody_could_tell_the_node(
    nodes: list[Service], nats_server: NatsServer
) -> None:
    here, there = nodes
    async with here.joined() as (machine, _):
        live = await machine.until_live()
        nats_server.kill()
        try:
            await there.request("PATCH", "/v1/machines/desk-1", {"paused": True})
            await until(lambda: live.availability.restrictions.pause is not None)
        finally:
            nats_server.start()


@pytest.mark.parametrize("newer_by", [0, 1])
async def test_link_that_does_not_know_its_number_yet_gives_way_to_a_newer_one(
    service: Service, monkeypatch: pytest.MonkeyPatch, newer_by: int
) -> None:
    counted: asyncio.Future[Machine] = asyncio.get_running_loop().create_future()
    may_go_on = asyncio.Event()
    real = MachineStore.begin_link

    async def begin_link(
        store: MachineStore,
        organization_id: UUID,
        machine_id: str,
        client: ClientSummary,
        link: LinkFacts,
    ) -> Machine:
        machine = await real(store, organization_id, machine_id, client, link)
        counted.set_result(machine)
        await may_go_on.wait()
        return machine

    monkeypatch.setattr(MachineStore, "begin_link", begin_link)
    machine = await service.new_machine()
    here = service.server.services.cluster.responder._here
    async with machine.opened(hello()) as link:
        found = await counted
        key = found.organization_id, found.machine_id
        assert not here.give_way(*key, found.epoch + newer_by)
        may_go_on.set()
        if newer_by:
            assert (await link.closed())[0] == CloseCode.TAKEN_OVER
        else:
            await link.heard(Welcome)
