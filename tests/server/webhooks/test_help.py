"""Webhooks are told that a program asks people, and never why."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tornado.ioloop import IOLoop

from server.app import Server
from server.store.times import now
from tests.receivers import receiving
from tests.server.api.test_help import NEW, asked
from tests.service import Service, running_server
from tests.store import entered


@pytest.fixture(scope="module")
def shared_server(
    io_loop: IOLoop, mongodb: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server whose webhooks may lead to this host."""
    directory = tmp_path_factory.mktemp("data")
    private = "127.0.0.0/8"
    context = running_server(
        mongodb, directory, "test_told_help", webhook_private_addresses=private
    )
    with entered(io_loop, context) as server:
        yield server


async def test_webhooks_of_the_machine_are_told_once_and_not_why(service: Service) -> None:
    await service.new_machine()
    pool = (await service.post("/v1/pools", {"name": "Elsewhere"})).json["id"]
    async with receiving() as receiver, receiving() as elsewhere:
        body = {"events": ["help_requested"]}
        for url, pools in ((receiver.url, []), (elsewhere.url, [pool])):
            new = {**body, "url": url, "pool_ids": pools}
            assert (await service.post("/v1/webhooks", new)).status == 201
        made = await asked(service)
        headers = {"Idempotency-Key": "ask-again"}
        second = await service.post("/v1/help", NEW, headers=headers)
        again = await service.post("/v1/help", NEW, headers=headers)
        assert again.json["id"] == second.json["id"]
        both = await receiver.get(2)
        told = {each.json["data"]["help_id"]: each.json for each in both}
        assert told.keys() == {made["id"], second.json["id"]}
        names = ("machine_id", "kind", "expires_at")
        assert told[made["id"]] == {
            "type": "help_requested",
            "timestamp": made["created_at"],
            "data": {"help_id": made["id"], **{name: made[name] for name in names}},
        }
        for each in (await service.get("/v1/webhooks")).json["items"]:
            path = f"/v1/webhooks/{each['id']}/deliveries"
            wanted = 0 if each["pools"] else 2
            assert (await service.get(path)).json["total"] == wanted
        assert elsewhere.received == []


async def test_what_is_asked_in_quiet_hours_waits_for_their_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = now() + timedelta(hours=1)
    monkeypatch.setattr("server.webhooks.quiet.quiet_until", lambda *_: end)
    await service.new_machine()
    quiet = {"begin": "00:00", "end": "00:00", "time_zone": "UTC"}
    new = {"url": "http://127.0.0.1:1/", "events": ["help_requested"], "quiet_hours": quiet}
    webhook = (await service.post("/v1/webhooks", new)).json
    await asked(service)
    [waiting] = (await service.get(f"/v1/webhooks/{webhook['id']}/deliveries")).json["items"]
    assert (waiting["event"], waiting["attempts"]) == ("digest", 0)
