"""What machines are like now, on whichever node they are."""

import pytest

from server.bus.bus import NoResponderError
from tests.nodes import at, until_reached
from tests.service import Service


async def test_each_node_is_asked_once_for_all_of_its_machines(nodes: list[Service]) -> None:
    here, there = nodes
    machines = [await here.new_machine(f"desk-{number}") for number in range(3)]
    async with machines[0].connected(), machines[1].connected(), at(there, machines[2]).connected():
        for node in nodes:
            items = (await node.get("/v1/machines")).json["items"]
            assert [(each["state"], each["node"]) for each in items] == [
                ("online", "a"),
                ("online", "a"),
                ("online", "b"),
            ]
            assert all(each["displays"] for each in items)


async def test_machine_of_a_node_that_nats_does_not_reach_is_said_to_be_there(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    machine = await here.new_machine()

    async def nobody(*_: object) -> bytes:
        raise NoResponderError("nobody answers this subject")

    async with machine.connected():
        await until_reached(there, machine)
        monkeypatch.setattr(there.server.services.cluster.bus, "request", nobody)
        view = (await there.get("/v1/machines/desk-1")).json
        assert (view["state"], view["node"]) == ("offline", "a")
        assert view["reason"] == "connected to the node a, which cannot be reached from here"
