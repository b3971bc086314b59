import logging

import pytest

from tests.raw_http import connection, head
from tests.service import Service, until


async def test_refusal_is_logged_though_its_client_goes_at_once(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "server"):
        async with connection(service) as client:
            request = head(service, "POST /v1/trajectories", "Content-Length: 9000", token=None)
            await client.say(request)
            status, headers, problem = await client.answer()
        await until(lambda: not service.server.services.operation.body_memory.receiving)
        service.flush_access_log()
    assert status == 401
    assert problem["instance"] == headers["x-request-id"]
    assert headers["www-authenticate"] == "Bearer"
    (line,) = [each for each in caplog.messages if problem["instance"] in each]
    assert "POST /v1/trajectories 401" in line


async def test_refusal_is_logged_once_where_the_body_comes(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "server"):
        reply = await service.post("/v1/trajectories", content=b" " * 9000, token=None)
        service.flush_access_log()
    assert len([each for each in caplog.messages if reply.json["instance"] in each]) == 1
