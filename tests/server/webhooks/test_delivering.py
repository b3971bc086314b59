"""Deliveries: signed, tried until they arrive, bounded, and gone on with where a node is killed."""

import asyncio
import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError
from tornado.ioloop import IOLoop

from schemas.http.queries import PageQuery
from server.app import Server
from server.store.mongodb.database import Database
from server.store.times import now
from server.store.webhooks.outbox import Outbox, new_delivery
from server.store.webhooks.webhooks import WebhookStore
from server.webhooks import delivering
from server.webhooks.delivering import PAUSES, next_try
from tests.processes import running
from tests.receivers import OK, SILENCE, Receiver, receiving
from tests.service import Service, running_server
from tests.store import ORGANIZATION, entered, there
from tests.waiting import waited

PAGE = PageQuery()
PRIVATE = "127.0.0.0/8"


@pytest.fixture(scope="module")
def shared_server(
    io_loop: IOLoop, mongodb: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server whose webhooks may lead to this host, where a few deliveries are kept."""
    context = running_server(
        mongodb,
        tmp_path_factory.mktemp("data"),
        "test_webhooks",
        webhook_private_addresses=PRIVATE,
        webhook_outbox=12,
    )
    with entered(io_loop, context) as server:
        yield server


async def made(service: Service, receiver: Receiver) -> Any:
    body = {"url": receiver.url, "events": ["machine_offline"]}
    return (await service.post("/v1/webhooks", body)).json


def path_of(webhook: Any) -> str:
    return f"/v1/webhooks/{webhook['id']}"


async def deliveries(service: Service, webhook: Any) -> list[Any]:
    items: list[Any] = (await service.get(f"{path_of(webhook)}/deliveries")).json["items"]
    return items


async def ended(service: Service, webhook: Any, state: str) -> Any:
    """The newest delivery, once it is in a state and was tried."""

    async def newest() -> Any:
        first = (await deliveries(service, webhook))[0]
        return first if first["state"] == state and (first["error"] or first["status"]) else None

    return await waited(newest)


async def test_delivery_is_signed_as_the_standard_has_it(service: Service) -> None:
    async with receiving() as receiver:
        webhook = await made(service, receiver)
        sent = (await service.post(f"{path_of(webhook)}/test")).json
        [received] = await receiver.get(1)
        told = Verifier(webhook["secret"]).verify(received.body, received.headers)
        assert (told["type"], told["data"]) == ("test", {"webhook_id": webhook["id"]})
        assert received.id == sent["id"]
        with pytest.raises(WebhookVerificationError):
            Verifier(webhook["secret"]).verify(received.body + b" ", received.headers)
        delivered = await ended(service, webhook, "delivered")
        assert (delivered["attempts"], delivered["status"]) == (1, 200)
        assert delivered["next_attempt_at"] is None


async def test_both_secrets_sign_until_the_overlap_is_over(service: Service) -> None:
    async with receiving() as receiver:
        webhook = await made(service, receiver)
        rotated = (await service.post(f"{path_of(webhook)}/rotate", {})).json
        await service.post(f"{path_of(webhook)}/test")
        [first] = await receiver.get(1)
        for secret in (webhook["secret"], rotated["secret"]):
            Verifier(secret).verify(first.body, first.headers)
        last = (await service.post(f"{path_of(webhook)}/rotate", {"overlap": 0})).json
        await service.post(f"{path_of(webhook)}/test")
        [_, second] = await receiver.get(2)
        Verifier(last["secret"]).verify(second.body, second.headers)
        with pytest.raises(WebhookVerificationError):
            Verifier(rotated["secret"]).verify(second.body, second.headers)


async def test_failed_delivery_is_tried_again_later_or_when_one_asks(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Later than the test asks, however long that takes.
    monkeypatch.setattr(delivering, "PAUSES", (3600,))
    async with receiving(OK.replace(b"200 OK", b"503 No")) as receiver:
        webhook = await made(service, receiver)
        await service.post(f"{path_of(webhook)}/test")
        waiting = await ended(service, webhook, "waiting")
        assert (waiting["attempts"], waiting["status"]) == (1, 503)
        assert waiting["next_attempt_at"] > waiting["last_attempt_at"]
        receiver.answer = OK
        path = f"{path_of(webhook)}/deliveries/{waiting['id']}/resend"
        assert (await service.post(path)).status == 202
        delivered = await ended(service, webhook, "delivered")
        assert delivered["attempts"] == 2
        [first, second] = await receiver.get(2)
        assert (first.id, first.body) == (second.id, second.body)


async def test_receiver_that_does_not_answer_holds_up_no_other(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # None of them is given up meanwhile, as a further one would be tried then.
    monkeypatch.setattr(service.server.services.delivering._poster, "_seconds", 3600)
    async with receiving(SILENCE) as silent, receiving() as quick:
        stuck, webhook = await made(service, silent), await made(service, quick)
        for _ in range(6):
            await service.post(f"{path_of(stuck)}/test")
        await silent.get(4)
        await service.post(f"{path_of(webhook)}/test")
        await quick.get(1)
        assert silent.connections == 4
        for each in (stuck, webhook):
            await service.request("DELETE", path_of(each))


async def test_oldest_are_dropped_and_told(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    async with receiving(SILENCE) as receiver:
        webhook = await made(service, receiver)
        path = path_of(webhook)
        with caplog.at_level(logging.WARNING):
            ids = [(await service.post(f"{path}/test")).json["id"] for _ in range(15)]
        page = (await service.get(f"{path}/deliveries")).json
        assert [each["id"] for each in page["items"]] == ids[:2:-1]
        assert (page["total"], page["dropped"]) == (12, 3)
        assert (await service.get(path)).json["dropped"] == 3
        assert "were dropped unsent" in caplog.text
        text = (await service.get("/metrics")).body.decode()
        assert "farhand_webhook_dropped_total 3.0" in text
        await service.request("DELETE", path)


def test_tries_end_after_three_days() -> None:
    queued = now()
    waits = [(there(next_try(each, queued)) - now()).total_seconds() for each in (1, 2, 3, 50)]
    expected = [*PAUSES[:3], PAUSES[-1]]
    assert all(0.85 * b < a < 1.15 * b for a, b in zip(waits, expected, strict=True))
    assert next_try(1, queued - timedelta(days=2, hours=23)) is not None
    assert next_try(1, queued - timedelta(days=3)) is None


async def test_delivery_is_claimed_by_one(database: Database) -> None:
    outbox, webhook = Outbox(database, 100), uuid4()
    for _ in range(2):
        await outbox.add(new_delivery(ORGANIZATION, webhook, uuid4(), "test", "{}"))
    assert (await outbox.size()).waiting == 2
    claimed = [each for each in [await outbox.claim(webhook) for _ in range(3)] if each is not None]
    assert len({each.id for each in claimed}) == len(claimed) == 2
    first = claimed[0]
    # Its lease is over, and another node has it: what the first says then is late.
    await _end_leases(database)
    again = there(await outbox.claim(webhook))
    assert (again.attempts, again.claim != first.claim) == (2, True)
    stale = next(each for each in claimed if each.id == again.id)
    await outbox.note(stale, None, "late", again_at=None)
    [seen] = [each for each in (await outbox.list(webhook, PAGE))[0] if each.id == again.id]
    assert (seen.state, seen.error) == ("waiting", None)


async def _end_leases(database: Database) -> None:
    deliveries = database.collection("webhook_deliveries")
    past = {"next_attempt_at": now() - timedelta(seconds=1)}
    await deliveries.update_many({"state": "waiting"}, {"$set": past})


async def test_killed_nodes_delivery_goes_on_under_its_id(
    service: Service, mongodb: str, tmp_path: Path
) -> None:
    """Nobody else is told of it meanwhile: this server looks at it, but the node has its lease."""
    database = service.server.services.operation.database
    async with receiving(SILENCE) as receiver:
        webhook = await made(service, receiver)
        stored = there(
            await WebhookStore(database).get(service.organization_id, UUID(webhook["id"]))
        )
        # Due to nobody until the other node runs.
        delivery = new_delivery(service.organization_id, stored.id, uuid4(), "test", "{}")
        variables = {
            "FARHAND_MONGODB_URI": mongodb,
            "FARHAND_MONGODB_DATABASE": "test_webhooks",
            "FARHAND_WEBHOOK_PRIVATE_ADDRESSES": PRIVATE,
            "FARHAND_DATA_DIR": str(tmp_path / "node"),
        }
        own = service.server.services.delivering
        with running(tmp_path / "log", variables, "farhand", "serve", "--port", "0") as node:
            await asyncio.to_thread(node.says, "listening on")
            # As if this one had enough to do.
            own._under_way[stored.id] = 10
            await Outbox(database, 100).add(delivery)
            [first] = await receiver.get(1)
            await asyncio.to_thread(node.kill)
        del own._under_way[stored.id]
        receiver.answer = OK
        await _end_leases(database)
        own.look_soon()
        [_, second] = await receiver.get(2)
        assert first.id == second.id == str(delivery.id)
        assert (await ended(service, webhook, "delivered"))["attempts"] == 2
