"""Webhooks are told that a run has ended, and no value of it."""

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from server.app import Server
from tests.receivers import receiving
from tests.runs import approved, begun, steps
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
        mongodb, directory, "test_told_runs", webhook_private_addresses=private
    )
    with entered(io_loop, context) as server:
        yield server


async def test_webhooks_of_the_machine_are_told_of_the_end(service: Service) -> None:
    await service.new_machine()
    pool = (await service.post("/v1/pools", {"name": "Elsewhere"})).json["id"]
    async with receiving() as receiver, receiving() as elsewhere:
        for url, pools in ((receiver.url, []), (elsewhere.url, [pool])):
            new = {"events": ["run_complete"], "url": url, "pool_ids": pools}
            assert (await service.post("/v1/webhooks", new)).status == 201
        run = await begun(service, await approved(service, steps("a")))
        ended = (await service.post(f"/v1/runs/{run['id']}/cancel")).json
        (told,) = await receiver.get(1)
        names = ("workflow_id", "trajectory_id", "machine_id", "status", "ended_at")
        assert told.json == {
            "type": "run_complete",
            "timestamp": ended["ended_at"],
            "data": {"run_id": run["id"], **{name: ended[name] for name in names}},
        }
        assert elsewhere.received == []
