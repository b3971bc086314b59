"""Organizations: made, listed, and each on its own."""

import pytest

from schemas.resources.tokens import ADMINISTRATOR_SCOPES
from tests.service import Service


async def test_made_organization_is_empty_and_separate(service: Service) -> None:
    reply = await service.post("/v1/organizations", {"name": "Branch office"})
    assert reply.status == 201
    assert reply.json["name"] == "Branch office"
    scopes = [scope.value for scope in ADMINISTRATOR_SCOPES]
    new = {"name": "there", "scopes": scopes, "organization_id": reply.json["id"]}
    token = (await service.post("/v1/tokens", new)).json["token"]
    await service.new_machine()
    assert (await service.get("/v1/machines", token=token)).json["items"] == []
    await service.post("/v1/machines", {"id": "branch"}, token=token)
    assert (await service.get("/v1/machines/branch")).status == 404


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": "n" * 256}, {"name": "a", "id": "b"}])
async def test_wrong_organization_is_422(service: Service, body: dict[str, object]) -> None:
    assert (await service.post("/v1/organizations", body)).status == 422
