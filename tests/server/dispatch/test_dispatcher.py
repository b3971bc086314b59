"""Which link carries a command, and why none does."""

from typing import Any

import pytest

from schemas.problems import ProblemError
from schemas.wire import Input
from server.dispatch.dispatcher import Dispatcher
from tests.commands import accepted
from tests.links import COMPLETED, hello
from tests.service import Service


def dispatcher_of(service: Service) -> Dispatcher:
    services = service.server.services
    return Dispatcher(services.registry, services.machines)


async def refused(service: Service) -> tuple[str, dict[str, Any]]:
    """The problem that a command meets now, and its members."""
    with pytest.raises(ProblemError) as caught:
        await dispatcher_of(service).link_for(accepted(service))
    return caught.value.problem_type.name, {**caught.value.members, "detail": caught.value.detail}


@pytest.mark.gen_test
async def test_unknown_machine_and_one_of_another_organization_are_alike(
    service: Service,
) -> None:
    unknown = await refused(service)
    other = await service.elsewhere()
    machine = await other.new_machine()
    async with machine.connected():
        assert await refused(service) == unknown
    assert unknown[0] == "not-found"


@pytest.mark.gen_test
async def test_machine_that_never_connected_is_offline_since_it_was_made(
    service: Service,
) -> None:
    await service.new_machine()
    name, members = await refused(service)
    assert name == "machine-unavailable"
    assert members["reason"] == "offline"
    assert "never connected" in members["detail"]
    view = (await service.get("/v1/machines/desk-1")).json
    assert members["since"] == view["created_at"]


@pytest.mark.gen_test
async def test_paused_machine_takes_nothing_until_it_is_resumed(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected():
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        name, members = await refused(service)
        assert (name, members["reason"]) == ("machine-unavailable", "paused")
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": False})
        link = await dispatcher_of(service).link_for(accepted(service))
        assert link is await machine.until_live()


@pytest.mark.gen_test
async def test_machine_that_cannot_inject_says_why(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected(hello(no_input="no display is open")):
        name, members = await refused(service)
        assert (name, members["reason"]) == ("machine-unavailable", "no_input")
        assert "no display is open" in members["detail"]


@pytest.mark.gen_test
async def test_command_is_carried_out_with_its_outcome(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        services, dispatcher = service.server.services, dispatcher_of(service)
        carrying = services.background.start(dispatcher.carry_out(accepted(service)), "carry")
        await link.obey(COMPLETED)
        assert await carrying == COMPLETED


@pytest.mark.gen_test
async def test_unacknowledged_command_is_pending_when_its_time_is_over(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        command = accepted(service, timeout=0.1)
        with pytest.raises(ProblemError) as caught:
            await dispatcher_of(service).carry_out(command)
        assert caught.value.problem_type.name == "outcome-pending"
        assert caught.value.members == {"command_id": str(command.id)}
        # The acknowledgement still belongs to the link, however late.
        heard = await link.heard(Input)
        await link.acknowledge(heard.command_id)
        await link.nothing_heard()
        assert (await machine.until_live()).unanswered == 0
