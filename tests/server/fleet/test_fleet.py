"""What may become of a machine, and who has to hear of it."""

import pytest

from schemas.http.queries import PageQuery
from schemas.resources.machine_lists import MachineQuery
from schemas.resources.machines import MachineChange, NewMachine
from server.dispatch.questions.question import RefusalKind
from server.dispatch.refusals import RefusedError
from server.errors import AlreadyExists
from server.fleet.fleet import Fleet
from tests.service import Service


def fleet_of(service: Service) -> Fleet:
    return service.server.services.machines.fleet


async def tokens_of(service: Service, machine_id: str) -> list[str]:
    stored, _ = await service.stores.tokens.list(service.organization_id, PageQuery())
    return [token.name for token in stored if token.machine_id == machine_id]


async def test_added_machine_has_the_token_that_it_connects_with(service: Service) -> None:
    stored, token = await fleet_of(service).add(service.organization_id, NewMachine(id="desk-1"))
    added = await fleet_of(service).view(stored)
    assert (added.id, added.name, added.state) == ("desk-1", "desk-1", "offline")
    assert token.machine_id == "desk-1"
    assert await tokens_of(service, "desk-1") == ["machine desk-1"]


async def test_machine_that_is_there_already_gets_no_second_token(service: Service) -> None:
    await fleet_of(service).add(service.organization_id, NewMachine(id="desk-1"))
    with pytest.raises(AlreadyExists):
        await fleet_of(service).add(service.organization_id, NewMachine(id="desk-1"))
    assert await tokens_of(service, "desk-1") == ["machine desk-1"]


async def test_machine_whose_token_cannot_be_stored_is_not_added(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known(_: object) -> dict[str, object]:
        return {"_id": stored.id, "hash": stored.hash}

    stored = (await service.stores.tokens.list(service.organization_id, PageQuery()))[0][0]
    with monkeypatch.context() as patch:
        patch.setattr("server.store.machines.machines.token_document", known)
        with pytest.raises(AlreadyExists):
            await fleet_of(service).add(service.organization_id, NewMachine(id="desk-1"))
    assert await service.stores.machines.get(service.organization_id, "desk-1") is None
    # So whoever tries again is not told that the machine is there already.
    await fleet_of(service).add(service.organization_id, NewMachine(id="desk-1"))


async def test_each_organization_has_its_own_machines(service: Service) -> None:
    elsewhere = await service.elsewhere()
    await fleet_of(service).add(service.organization_id, NewMachine(id="desk-1"))
    machines = fleet_of(service)
    assert (await machines.page(elsewhere.organization_id, MachineQuery())).total == 0
    for refused in (
        machines.get(elsewhere.organization_id, "desk-1"),
        machines.check(elsewhere.organization_id, "desk-1"),
        machines.change(
            elsewhere.organization_id, "desk-1", MachineChange(name="theirs"), by="them"
        ),
        machines.remove(elsewhere.organization_id, "desk-1"),
    ):
        with pytest.raises(RefusedError) as caught:
            await refused
        assert caught.value.refusal.kind is RefusalKind.UNKNOWN_MACHINE
    assert (await machines.get(service.organization_id, "desk-1")).name == "desk-1"


async def test_removed_machine_takes_its_tokens_along(service: Service) -> None:
    await fleet_of(service).add(service.organization_id, NewMachine(id="desk-1"))
    await fleet_of(service).remove(service.organization_id, "desk-1")
    assert await tokens_of(service, "desk-1") == []
    with pytest.raises(RefusedError):
        await fleet_of(service).check(service.organization_id, "desk-1")
