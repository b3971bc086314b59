"""Whose a lease is, and when it is looked for leases that are over."""

from typing import Any
from uuid import uuid4

import pytest

from server.dispatch import control as control_module
from server.dispatch.control import Caller
from server.store.errors import StoreUnavailable
from tests.server.api.machines.test_control import CONTROL, begin, confirms, held_by, taken
from tests.server.api.test_console import signed_in
from tests.service import Service, until


def test_lease_is_good_for_the_token_or_session_alone_that_took_it() -> None:
    token = uuid4()
    proofs = {
        caller.proof(lease)
        for caller in (
            Caller(token, "Ada"),
            Caller(uuid4(), "Ada"),
            Caller(token, "Ada", b"one session"),
            Caller(token, "Ada", b"another"),
        )
        for lease in ("one", "two")
    }
    assert len(proofs) == 8
    assert Caller(token, "Ada").proof("one") == Caller(token, "renamed").proof("one")


@pytest.mark.gen_test
async def test_node_looks_often_only_while_there_are_leases(service: Service) -> None:
    control = service.server.services.control
    await until(lambda: not control._are_there.is_set())


@pytest.mark.gen_test
async def test_node_that_looked_while_a_lease_was_being_stored_looks_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "SWEEP_SECONDS", 3600.0)
    monkeypatch.setattr(control_module, "LOOK_SECONDS", 0.01)
    control = service.server.services.control
    take = control._controls.take

    async def take_slowly(*lease: Any, **options: Any) -> Any:
        await until(lambda: not control._are_there.is_set())
        return await take(*lease, **options)

    monkeypatch.setattr(control._controls, "take", take_slowly)
    machine = await service.new_machine()
    async with machine.connected() as link:
        session = await signed_in(service)
        taking = begin(service, "POST", token=None, headers=session)
        await confirms(link)
        assert (await taking).status == 201
        await service.request("DELETE", "/console/session", token=None, headers=session)
        await confirms(link)


@pytest.mark.gen_test
async def test_node_that_could_not_look_looks_again_soon(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "SWEEP_SECONDS", 3600.0)
    monkeypatch.setattr(control_module, "LOOK_SECONDS", 0.01)
    control, looks = service.server.services.control, 0

    async def fail() -> Any:
        nonlocal looks
        looks += 1
        raise StoreUnavailable("away")

    monkeypatch.setattr(control._controls, "all", fail)
    control.look_soon()
    await until(lambda: looks > 2)


@pytest.mark.gen_test
async def test_through_another_node(nodes: list[Service]) -> None:
    here, there = nodes
    machine = await here.new_machine()
    async with machine.connected() as link:
        lease = await taken(there, link)
        for node in nodes:
            shown = (await node.get("/v1/machines/desk-1")).json
            assert shown["control"]["by"] == "administrator"
            path = machine.input_path()
            refused = await node.post(path, {"x": 1, "y": 1})
            assert refused.json["reason"] == "controlled"
            moving = begin(node, "POST", path, body={"x": 1, "y": 1}, headers=held_by(lease))
            await link.obey()
            assert (await moving).status == 200
        held = await here.post(CONTROL)
        assert held.problem == "control-held"
        ending = begin(there, "DELETE", f"{CONTROL}/{lease}")
        await confirms(link)
        assert (await ending).status == 204
        moving = machine.moving()
        await link.obey()
        assert (await moving).status == 200
