"""What the machines of a node are like now: plain data, for every machine that has a link."""

import json

from server.dispatch.here.links import LinksHere
from tests.links import hello
from tests.service import Service


async def test_machines_without_a_link_are_not_among_them(service: Service) -> None:
    machine = await service.new_machine()
    await service.new_machine("desk-2")
    live = LinksHere(service.server.services.machines.registry, "node-1")
    async with machine.connected():
        found = live.of(service.organization_id, ["desk-1", "desk-2", "desk-3"])
        other = await service.elsewhere()
        assert live.of(other.organization_id, ["desk-1"]) == {}
    assert list(found) == ["desk-1"]
    assert found["desk-1"].state == "online"
    assert found["desk-1"].node == "node-1"
    assert found["desk-1"].displays == tuple(hello().displays)


async def test_what_is_known_of_a_machine_could_cross_a_process_border(service: Service) -> None:
    machine = await service.new_machine()
    live = LinksHere(service.server.services.machines.registry, "node-1")
    async with machine.connected(hello(no_input="no display is open")):
        (known,) = (live.of(service.organization_id, ["desk-1"])).values()
    assert (known.state, known.reason) == ("no_input", "no display is open")
    assert json.dumps(dict(known), default=lambda model: model.model_dump())
