"""What machines are like now, on whichever node they are."""

import pytest

from server.bus.bus import NoResponderError
from tests.desktop_states import GREETING
from tests.links import hello
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


async def test_list_is_filtered_by_what_every_node_knows(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    # So that what one node has of others takes several questions.
    monkeypatch.setattr("server.dispatch.here.links.MOST_DESCRIBED", 1)
    monkeypatch.setattr("server.dispatch.forwarding.elsewhere.MOST_DESCRIBED", 1)
    fine, *broken = [await here.new_machine(f"desk-{number}") for number in range(3)]

    async def listed(node: Service, query: str) -> list[str]:
        return [each["id"] for each in (await node.get(f"/v1/machines?{query}")).json["items"]]

    gone = hello(no_input="no display")
    async with (
        fine.connected(GREETING),
        broken[0].connected(gone),
        broken[1].connected(gone),
    ):
        for node in nodes:
            assert await listed(node, "state=online") == ["desk-0"]
            assert await listed(node, "state=no_input&search=display") == ["desk-1", "desk-2"]
        await there.request("PATCH", "/v1/machines/desk-1", {"tags": ["bad"], "paused": True})
        for node in nodes:
            assert await listed(node, "tag=bad&state=paused") == ["desk-1"]

        async def nobody(*_: object) -> bytes:
            raise NoResponderError("nobody answers this subject")

        monkeypatch.setattr(there.server.services.cluster.bus, "request", nobody)
        assert await listed(there, "state=offline&search=reached") == ["desk-0", "desk-2"]
        assert await listed(here, "state=offline") == []
