"""Whose a lease is, and when it is looked for leases that are over."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from schemas.link.messages import Interrupt, Interrupted
from server.dispatch import control as control_module
from server.dispatch.control import Caller
from server.errors import StoreUnavailable
from server.store.machines.controls import HeldMachine
from tests.hand_client import HandClient, hand_path, handshake, move
from tests.server.api.machines.test_control import CONTROL, begin, confirms, held_by, taken
from tests.server.api.test_console import signed_in
from tests.service import ScriptedLink, ScriptedMachine, Service, until


def test_lease_is_good_for_the_token_or_session_alone_that_took_it() -> None:
    token = uuid4()
    hashes = {
        caller.lease_hash(lease)
        for caller in (
            Caller(token, "Ada"),
            Caller(uuid4(), "Ada"),
            Caller(token, "Ada", b"one session"),
            Caller(token, "Ada", b"another"),
        )
        for lease in ("one", "two")
    }
    assert len(hashes) == 8
    assert Caller(token, "Ada").lease_hash("one") == Caller(token, "renamed").lease_hash("one")


async def test_control_is_given_when_the_machine_confirms_and_no_moment_earlier(
    service: Service,
) -> None:
    services = service.server.services
    holder = await services.access.authenticator.principal(f"Bearer {service.token}", "127.0.0.1")
    caller = Caller(holder.token_id, holder.token_name)
    async with service.joined() as (_, link):
        taking = services.background.start(
            services.machines.control.take(
                service.organization_id, "desk-1", caller, take_over=False
            ),
            "somebody who takes control",
        )
        asked = await link.heard(Interrupt)
        assert not taking.done()
        await link.say(Interrupted(request=asked.request))
        control = await taking
        assert control.by == "administrator"


async def test_node_looks_often_only_while_there_are_leases(service: Service) -> None:
    control = service.server.services.machines.control
    await until(lambda: not control._may_have_leases.is_set())


async def test_node_that_looked_while_a_lease_was_being_stored_looks_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "IDLE_POLL_SECONDS", 3600.0)
    monkeypatch.setattr(control_module, "LEASE_POLL_SECONDS", 0.01)
    control = service.server.services.machines.control
    take = control._controls.take

    async def take_slowly(*lease: Any, **options: Any) -> Any:
        await until(lambda: not control._may_have_leases.is_set())
        return await take(*lease, **options)

    monkeypatch.setattr(control._controls, "take", take_slowly)
    async with service.joined() as (_, link):
        session = await signed_in(service)
        taking = begin(service, "POST", token=None, headers=session)
        await confirms(link)
        assert (await taking).status == 201
        await service.request("DELETE", "/console/session", token=None, headers=session)
        await confirms(link)


async def test_node_that_could_not_look_looks_again_soon(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "IDLE_POLL_SECONDS", 3600.0)
    monkeypatch.setattr(control_module, "LEASE_POLL_SECONDS", 0.01)
    control, looks = service.server.services.machines.control, 0

    async def fail() -> Any:
        nonlocal looks
        looks += 1
        raise StoreUnavailable("away")

    monkeypatch.setattr(control._controls, "all", fail)
    control.look_soon()
    await until(lambda: looks > 2)


async def test_through_another_node(nodes: list[Service]) -> None:
    here, there = nodes
    async with here.joined() as (machine, link):
        lease = await taken(there, link)
        for node in nodes:
            shown = (await node.get("/v1/machines/desk-1")).json
            assert shown["control"]["by"] == "administrator"
            path = machine.input_path()
            refused = await node.post(path, {"x": 1, "y": 1})
            assert refused.json["reason"] == "controlled"
            moving = begin(node, "POST", path, body={"x": 1, "y": 1}, headers=held_by(lease))
            await link.obeys(moving)
        held = await here.post(CONTROL)
        assert held.problem == "control-held"
        ending = begin(there, "DELETE", f"{CONTROL}/{lease}")
        await confirms(link)
        assert (await ending).status == 204
        await link.obeys(machine.moving())


async def test_of_two_hands_on_two_nodes_the_newer_one_stays(nodes: list[Service]) -> None:
    here, there = nodes
    async with here.joined() as (_, link):
        path = hand_path("desk-1", await taken(here, link))
        async with (
            HandClient.on(here.url, path, here.token) as older,
            HandClient.on(there.url, path, there.token) as newer,
        ):
            assert await older.closed() == (4500, "the same lease has a newer websocket")
            await newer.does(move(1, 1))
            await link.obey()
            await newer.until_acknowledged()


@pytest.mark.parametrize("ends", ["expires_at", "used_at"])
async def test_lease_ends_with_the_session_that_took_it(service: Service, ends: str) -> None:
    async with service.joined() as (_, link):
        session = await signed_in(service)
        taking = begin(service, "POST", token=None, headers=session)
        await confirms(link)
        lease = (await taking).json["id"]
        console = {"Cookie": session["Cookie"], "Sec-Fetch-Site": "same-origin"}
        path = hand_path("desk-1", lease)
        async with handshake(service.url, path, console) as websocket:
            sessions = service.server.services.operation.database.collection("sessions")
            long_ago = datetime.now(UTC) - timedelta(days=365)
            await sessions.update_many(
                {"organization_id": service.organization_id}, {"$set": {ends: long_ago}}
            )
            await confirms(link)
            assert (await HandClient(websocket).closed())[0] == 4501


async def test_session_that_another_node_ends_is_over_here_with_its_hand(
    nodes: list[Service],
) -> None:
    here, there = nodes
    async with here.joined() as (_, link):
        session = await signed_in(here)
        taking = begin(here, "POST", token=None, headers=session)
        await confirms(link)
        path = hand_path("desk-1", (await taking).json["id"])
        console = {"Cookie": session["Cookie"], "Sec-Fetch-Site": "same-origin"}
        async with handshake(here.url, path, console) as websocket:
            [listed] = (await there.get("/v1/sessions")).json["items"]
            ended = await there.request("DELETE", f"/v1/sessions/{listed['id']}")
            assert ended.status == 204
            await confirms(link)
            assert (await HandClient(websocket).closed())[0] == 4501
        for node in nodes:
            await signed_out(node, session)


async def signed_out(node: Service, session: dict[str, str]) -> None:
    """Ask a node until a session opens nothing there; what hangs ends with the test's own time."""
    while (
        await node.request("GET", "/console/session", token=None, headers=session)
    ).status != 401:
        pass


async def test_lease_that_has_run_out_opens_no_hand_and_keeps_none(
    service: Service, link: ScriptedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = hand_path("desk-1", await taken(service, link))
    # Nobody else ends it, such as whoever looks for leases that are over.
    monkeypatch.setattr(service.server.services.machines.control._controls, "end_if_over", never)
    async with HandClient.on(service.url, path, service.token) as hand:
        machines = service.server.services.operation.database.collection("machines")
        await machines.update_one(
            {"organization_id": service.organization_id},
            {"$set": {"control.expires_at": datetime.now(UTC)}},
        )
        assert (await hand.closed())[0] == 4501
    async with HandClient.on(service.url, path, service.token) as hand:
        assert (await hand.closed())[0] == 4501


async def never(*_: object) -> bool:
    """Nothing is ended by looking for what is over."""
    return False


async def test_lease_that_is_renewed_while_it_is_looked_at_goes_on(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = service.server.services.machines.control
    looked = control._controls.all
    async with machine.connected() as link:
        await taken(service, link)

        async def look_too_early() -> list[HeldMachine]:
            return [replace(each, is_over=True) for each in await looked()]

        monkeypatch.setattr(control._controls, "all", look_too_early)
        await control._end_what_is_over()
        assert (await service.get("/v1/machines/desk-1")).json["control"] is not None
