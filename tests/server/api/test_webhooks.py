"""Webhooks: made, changed and removed; what leads into the own network is refused."""

from typing import Any
from uuid import uuid4

import pytest

from schemas.resources.tokens import Scope
from schemas.resources.webhooks import MOST_WEBHOOKS
from server.store.webhooks.webhooks import StoredWebhook, WebhookStore
from tests.service import Service
from tests.waiting import waited

NEW = {"url": "https://example.com/hook", "events": ["machine_offline"]}


async def made(service: Service, **more: Any) -> Any:
    reply = await service.post("/v1/webhooks", {**NEW, **more})
    assert reply.status == 201, reply.body
    return reply.json


async def test_webhook_is_made_changed_and_removed(service: Service) -> None:
    pool = (await service.post("/v1/pools", {"name": "Berlin"})).json
    webhook = await made(service, pool_ids=[pool["id"]], description="night")
    assert webhook.pop("secret").startswith("whsec_")
    assert webhook["pools"] == [{"id": pool["id"], "name": "Berlin"}]
    path = f"/v1/webhooks/{webhook['id']}"
    assert (await service.get(path)).json == webhook
    assert (await service.get("/v1/webhooks")).json["items"] == [webhook]
    changes = {"url": "http://example.com", "events": ["machine_online"], "pool_ids": []}
    changed = (await service.request("PATCH", path, changes)).json
    assert (changed["url"], changed["events"], changed["pools"], changed["description"]) == (
        "http://example.com",
        ["machine_online"],
        [],
        "night",
    )
    assert (await service.request("PATCH", path, {"url": None})).json == changed
    assert (await service.request("DELETE", path)).status == 204
    assert (await service.get(path)).refusal == (404, "not-found")
    entries = (await service.get("/v1/audit?action=webhook")).json["items"]
    assert [each["action"] for each in reversed(entries)] == [
        "webhook.created",
        "webhook.changed",
        "webhook.changed",
        "webhook.removed",
    ]
    assert {each["target_name"] for each in entries} == {"night"}


@pytest.mark.parametrize(
    "wrong",
    [
        *({"url": url} for url in ("ftp://example.com", "https://", "https://u:p@example.com")),
        *(
            {"url": url}
            for url in ("https://example.com/#a", "https://example.com/ä", "http://a:0")
        ),
        *({"url": f"https://example.com/{'x' * 2000}"}, {"events": []}, {"events": ["nonsense"]}),
        {"pool_ids": [str(uuid4())]},
    ],
)
async def test_wrong_webhook_is_422(service: Service, wrong: dict[str, Any]) -> None:
    assert (await service.post("/v1/webhooks", {**NEW, **wrong})).status == 422


async def test_organization_has_a_bounded_number(service: Service) -> None:
    store = WebhookStore(service.server.services.operation.database)
    await made(service)
    known = await store.of(service.organization_id, "machine_offline")
    for _ in range(MOST_WEBHOOKS - 1):
        await store.insert(StoredWebhook(**{**vars(known[0]), "id": uuid4()}))
    assert (await service.post("/v1/webhooks", NEW)).refusal == (409, "wrong-state")


async def test_webhook_to_the_server_itself_is_refused(service: Service) -> None:
    webhook = await made(service, url=f"{service.url}/v1/webhooks")
    path = f"/v1/webhooks/{webhook['id']}"
    assert (await service.post(f"{path}/test")).status == 202

    async def tried() -> Any:
        [delivery] = (await service.get(f"{path}/deliveries")).json["items"]
        return delivery if delivery["error"] else None

    delivery = await waited(tried)
    assert (delivery["state"], delivery["attempts"], delivery["status"]) == ("waiting", 1, None)
    assert "127.0.0.1, which is no address of the internet" in delivery["error"]


async def test_others_see_and_change_nothing(service: Service) -> None:
    webhook = await made(service)
    other = await service.elsewhere()
    for method, rest in (("POST", "/test"), ("GET", "/deliveries"), ("DELETE", "")):
        reply = await other.request(method, f"/v1/webhooks/{webhook['id']}{rest}")
        assert reply.refusal == (404, "not-found")
    reader = await service.new_token(Scope.MACHINES_WRITE)
    assert (await service.get("/v1/webhooks", token=reader)).refusal[0] == 403
