"""The library's way to the handlers of its own process."""

import asyncio
from typing import Any

import httpx
import pytest
from tornado.web import Application, RequestHandler

from server.mcp.own_handlers import NEVER_SECONDS, Caller, OwnHandlers

CALLER = Caller(
    token="fh_x",
    digest=b"x",
    remote_ip="192.0.2.7",
    protocol="https",
    passed_on={"X-Request-Id": "of-the-host", "X-Forwarded-For": "192.0.2.8"},
    is_ending=lambda: False,
)


class Echo(RequestHandler):
    """Says what came."""

    async def post(self) -> None:
        request = self.request
        self.set_header("Retry-After", "1")
        self.set_status(201)
        self.write(request.body)
        await self.flush()
        headers = sorted(name.lower() for name, _ in request.headers.get_all())
        self.finish(f"|{request.remote_ip}|{request.protocol}|{request.uri}|{headers}")

    async def get(self) -> None:
        await asyncio.Event().wait()

    async def put(self) -> None:
        raise RuntimeError


def client(caller: Caller = CALLER) -> httpx.AsyncClient:
    application = Application([("/echo", Echo)], log_function=lambda _: None)
    return httpx.AsyncClient(transport=OwnHandlers(application, caller), base_url="http://farhand")


async def test_request_comes_as_its_caller_and_its_answer_whole() -> None:
    async with client() as own:
        reply = await own.post("/echo?a=%C3%A9", content=b"body", headers={"X-Own": "1"})
    body, address, protocol, uri, headers = reply.text.split("|")
    assert (reply.status_code, body) == (201, "body")
    assert (address, protocol, uri) == ("192.0.2.7", "https", "/echo?a=%C3%A9")
    for name in ("x-own", "x-request-id", "x-forwarded-for", "host"):
        assert f"'{name}'" in headers
    assert "'user-agent'" not in headers
    assert reply.headers["Retry-After"] == "1"


async def test_no_answer_of_a_server_that_ends_is_worth_waiting_for() -> None:
    ending = Caller(**{**vars(CALLER), "is_ending": lambda: True})
    async with client(ending) as own:
        reply = await own.post("/echo", content=b"")
    assert reply.headers["Retry-After"] == NEVER_SECONDS


async def test_handler_that_does_not_answer_is_given_up_in_time() -> None:
    async with client() as own:
        with pytest.raises(httpx.ReadTimeout):
            await own.get("/echo", timeout=0.01)


async def test_handler_that_fails_answers_so(caplog: Any) -> None:
    async with client() as own:
        reply = await own.put("/echo")
    assert reply.status_code == 500
    assert "RuntimeError" in caplog.text
