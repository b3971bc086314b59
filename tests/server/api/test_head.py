"""HEAD works wherever GET does, and says the same but for the body."""

import asyncio
import re

import pytest

from schemas.resources.tokens import Scope
from server.api.routes import ROUTES
from server.web.endpoint import endpoints_of
from tests.raw_http import connection, head
from tests.service import PATIENCE_SECONDS, Service

READABLE = [route for route in ROUTES if "get" in endpoints_of(route.handler)]
CHANGING = {"date", "x-request-id", "transfer-encoding", "content-length"}


@pytest.mark.parametrize("route", READABLE, ids=lambda route: route.template)
async def test_head_answers_what_get_does(service: Service, route: object) -> None:
    template = getattr(route, "template")  # noqa: B009
    handler = getattr(route, "handler")  # noqa: B009
    path = re.sub(r"{\w+}", "00000000-0000-4000-8000-000000000001", template)
    if endpoints_of(handler)["get"].endless:
        path += "?unknown=1"  # A stream would not end; it has a test of its own.
    same = {"X-Request-Id": "the-same-in-both"}
    got = await service.get(path, headers=same)
    asked = await service.request("HEAD", path, headers=same)
    assert asked.status == got.status
    assert asked.body == b""
    mine, its = ({k.lower() for k in reply.headers} - CHANGING for reply in (asked, got))
    assert mine == its
    if "Content-Length" in asked.headers and "Content-Length" in got.headers:
        is_same = asked.headers["Content-Length"] == got.headers["Content-Length"]
        # One has grown in between; in the other it may have been noted who was here.
        assert is_same or template in ("/metrics", "/v1/tokens")


async def test_head_without_a_token_is_401(service: Service) -> None:
    assert (await service.request("HEAD", "/v1/machines", token=None)).status == 401
    other = await service.new_token(Scope.MACHINES_READ)
    assert (await service.request("HEAD", "/v1/trajectories", token=other)).status == 403


async def test_connection_goes_on_after_head_of_what_is_streamed(service: Service) -> None:
    async with connection(service) as client:
        for path in ("/v1/trajectories", "/v1/trajectories/export", "/v1/events"):
            await client.say(head(service, f"HEAD {path}"))
            status, headers, _ = await client.answer()
            assert status == 200, path
            assert "content-length" not in headers
            assert "transfer-encoding" not in headers
            assert headers["content-type"]
    assert service.server.services.events.subscribers == 0


async def test_head_shakes_no_hands(service: Service) -> None:
    machine = await service.new_machine()
    lines = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Protocol: farhand.machine.v1",
    )
    async with connection(service) as client, asyncio.timeout(PATIENCE_SECONDS):
        await client.say(head(service, "HEAD /v1/machines/connect", *lines, token=machine.token))
        assert (await client._reader.readline()).startswith(b"HTTP/1.1 426")
