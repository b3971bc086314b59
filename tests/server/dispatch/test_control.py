"""Whose a lease is, and when it is looked for leases that are over."""

from uuid import uuid4

import pytest

from server.dispatch.control import Caller
from tests.server.api.machines.test_control import CONTROL, begin, confirms, held_by, taken
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
