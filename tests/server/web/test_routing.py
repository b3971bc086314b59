"""Bodies that are too large, however they are sent, and what the access log says."""

import asyncio
from collections.abc import Iterable

import pytest

from server.web.bodies.incoming import MAX_DRAINED_BYTES
from server.web.endpoint import SMALL_BODY
from tests.service import PATIENCE_SECONDS, Service, until


async def raw(service: Service, head: str, pieces: Iterable[bytes]) -> tuple[int, bytes]:
    """Send a request by hand and read its answer until the server closes; status and body."""
    host, port = service.url.removeprefix("http://").split(":")
    async with asyncio.timeout(PATIENCE_SECONDS):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            (
                head + f"Host: x\r\nAuthorization: Bearer {service.token}\r\n"
                "Content-Type: application/json\r\nConnection: close\r\n\r\n"
            ).encode()
        )
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    answered, _, body = answer.partition(b"\r\n\r\n")
    return int(answered.split(b" ", 2)[1]), body


def chunked(total: int, size: int = 16_384) -> Iterable[bytes]:
    """A body of spaces in chunks."""
    for start in range(0, total, size):
        length = min(size, total - start)
        yield f"{length:x}\r\n".encode() + b" " * length + b"\r\n"
    yield b"0\r\n\r\n"


async def test_body_of_exactly_the_limit_is_read(service: Service) -> None:
    content = b'{"name":"a"}'.ljust(SMALL_BODY)
    assert (await service.post("/v1/workflows", content=content)).status == 201


async def test_body_one_byte_too_large_is_413(service: Service) -> None:
    content = b'{"name":"a"}'.ljust(SMALL_BODY + 1)
    reply = await service.post("/v1/workflows", content=content)
    assert (reply.status, reply.problem) == (413, "body-too-large")
    assert reply.json["max_bytes"] == SMALL_BODY
    assert reply.headers["Connection"] == "close"
    assert (await service.get("/v1/workflows")).json["total"] == 0


async def test_chunked_body_of_exactly_the_limit_is_read(service: Service) -> None:
    head = "POST /v1/workflows HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
    status, body = await raw(service, head, chunked(SMALL_BODY))
    assert status == 422
    assert b"json_invalid" in body


async def test_chunked_body_that_is_too_large_is_413(service: Service) -> None:
    head = "POST /v1/workflows HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
    for total in (SMALL_BODY + 1, 10 * SMALL_BODY):
        status, body = await raw(service, head, chunked(total))
        assert status == 413
        assert b"body-too-large" in body


async def test_too_large_body_for_an_unknown_address_is_413_or_404(service: Service) -> None:
    reply = await service.post("/nowhere", content=b" " * (SMALL_BODY + 1))
    assert reply.status in (404, 413)


@pytest.mark.parametrize("length", ["-1", "1e3", "99999999999999999999999", "\u0663"])
async def test_length_that_cannot_be_is_refused(service: Service, length: str) -> None:
    head = f"POST /v1/workflows HTTP/1.1\r\nContent-Length: {length}\r\n"
    status, _ = await raw(service, head, [])
    assert status in (400, 413)


async def test_body_too_large_to_wait_for_is_413_at_once(service: Service) -> None:
    head = f"POST /v1/workflows HTTP/1.1\r\nContent-Length: {MAX_DRAINED_BYTES + 1}\r\n"
    status, body = await raw(service, head, [b" " * 1000])
    assert status == 413
    assert b"body-too-large" in body


async def test_connection_whose_body_does_not_come_is_closed(service: Service) -> None:
    memory = service.server.services.operation.body_memory
    timeout = service.server.services.settings.body_timeout
    reader, writer = await service.open_connection()
    head = b"Host: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    writer.write(b"POST /v1/workflows HTTP/1.1\r\n" + head + b"123")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await until(lambda: memory.receiving)
        memory.close_slow(timeout)
        assert len(memory.receiving) == 1
        for body in memory.receiving:
            memory.receiving[body] -= timeout
        memory.close_slow(timeout)
        assert await reader.read() == b""
        await until(lambda: not memory.receiving)
    writer.close()
