"""New tokens over the link: for one machine, or for many at once."""

from schemas.link.messages import NewToken
from tests.service import ScriptedLink, ScriptedMachine, Service


async def invitations(service: Service) -> list[str]:
    """The machines of the invitations that can be used."""
    listed = (await service.get("/v1/invitations")).json["items"]
    return [each["machine_id"] for each in listed]


async def test_each_machine_is_told_and_who_cannot_be_told_keeps_its_token(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    await service.stores.machines.create(service.organization_id, "away", "Away")
    wanted = ["away", "nowhere", machine.machine_id]
    body = {"action": "rotate", "machine_ids": wanted}
    reply = await service.post("/v1/machines/bulk", body)
    assert (await link.heard(NewToken)).code.startswith("fhj_")
    away, nowhere, told = reply.json["items"]
    assert [away["status"], nowhere["status"], told["status"]] == ["failed", "not_found", "done"]
    assert "not connected" in away["detail"]
    assert (reply.json["done"], reply.json["failed"]) == (1, 2)
    # A code that no machine has heard would be good for nobody but who finds it.
    assert await invitations(service) == [machine.machine_id]
    # It stands in the audit once the machine has come back with its new token.
    assert (await service.get("/v1/audit?action=token.rotated")).json["items"] == []


async def test_one_machine_that_cannot_be_told_is_503(service: Service) -> None:
    await service.stores.machines.create(service.organization_id, "away", "Away")
    reply = await service.post("/v1/machines/away/rotate")
    assert (reply.status, reply.problem) == (503, "machine-unavailable")
    assert await invitations(service) == []
