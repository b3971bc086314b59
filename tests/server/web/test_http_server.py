"""What Tornado refuses by itself is answered as a problem as well."""

import asyncio
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from server.web.http_server import MAX_HEADER_BYTES
from tests.raw_http import connection, head
from tests.service import PATIENCE_SECONDS, Service


@pytest.mark.parametrize("size", [MAX_HEADER_BYTES + 1, 200_000, 2_000_000])
async def test_headers_that_are_too_large_are_431(service: Service, size: int) -> None:
    async with connection(service) as client:
        await client.say(head(service, "GET /v1/workflows", f"X-Long: {'x' * size}"))
        status, headers, problem = await client.answer()
        assert (status, problem["type"]) == (431, "/problems/headers-too-large")
        assert problem["max_bytes"] == MAX_HEADER_BYTES
        assert problem["instance"] == headers["x-request-id"]
        assert headers["connection"] == "close"
        assert await client.rest() == b""


@contextmanager
def no_further_files() -> Iterator[None]:
    """While this process may open nothing more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


# What another test has opened could be closed meanwhile.
@pytest.mark.own_server
async def test_connection_is_closed_where_no_file_is_left_to_say_why(service: Service) -> None:
    async with connection(service) as client, asyncio.timeout(PATIENCE_SECONDS):
        with no_further_files():
            await client.say(head(service, "GET /v1/workflows", f"X-Long: {'x' * 200_000}"))
            with suppress(ConnectionError):
                assert await client.rest() == b""
    assert (await service.get("/v1/workflows")).status == 200


async def test_headers_that_just_fit_are_read(service: Service) -> None:
    room = MAX_HEADER_BYTES - len(head(service, "GET /v1/workflows", "X-Long: "))
    async with connection(service) as client:
        await client.say(head(service, "GET /v1/workflows", f"X-Long: {'x' * room}"))
        assert (await client.answer())[0] == 200


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"nonsense\r\n\r\n", "request line"),
        (b"GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n", "version"),
        (b"GET /healthz HTTP/1.1\r\n\r\n", "Host"),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", "header"),
        (b"GET /healthz?" + b"&".join([b"a=1"] * 2000) + b" HTTP/1.1\r\nHost: x\r\n\r\n", "fields"),
        (b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "Length"),
        (
            b"PUT /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
            "chunk size",
        ),
    ],
    ids=["line", "version", "host", "header", "query", "length", "chunk"],
)
async def test_what_is_not_http_is_400_and_says_why(
    service: Service, sent: bytes, words: str
) -> None:
    async with connection(service) as client:
        await client.say(sent)
        status, headers, problem = await client.answer()
        assert (status, problem["type"]) == (400, "/problems/malformed-request")
        assert words in problem["detail"]
        assert len(problem["detail"]) < 300
        assert problem["instance"] == headers["x-request-id"]
        assert await client.rest() == b""


async def test_what_follows_a_refused_request_on_other_connections_is_served(
    service: Service,
) -> None:
    async with connection(service) as client:
        await client.say(b"nonsense\r\n\r\n")
        await client.answer()
    assert (await service.get("/v1/workflows")).status == 200
