import pytest

from server.errors import StoreUnavailable
from tests.service import Service


async def test_health_needs_no_token(service: Service) -> None:
    live, ready = [await service.get(path, token=None) for path in ("/healthz", "/readyz")]
    assert (live.status, live.json) == (200, {"status": "ok"})
    assert (ready.status, ready.json) == (200, {"status": "ok", "node": None, "bus": "alone"})


async def test_unready_server_says_that_the_database_does_not_answer(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ping() -> None:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(service.server.services.operation.database, "ping", ping)
    reply = await service.get("/readyz", token=None)
    assert reply.status == 503
    assert reply.problem == "storage-unavailable"
    assert reply.headers["Retry-After"] == "1"
    assert (await service.get("/healthz", token=None)).status == 200
