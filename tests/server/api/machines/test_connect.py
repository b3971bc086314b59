"""The handshake of the machines' websocket."""

import gc
import logging

import pytest
from tornado.httputil import HTTPServerRequest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from schemas.link.messages import CONNECT_PATH, SUBPROTOCOL, Welcome
from schemas.resources.tokens import Scope
from server.api.machines.connect import ConnectHandler
from server.machines.link.greeting import reconnect_spread
from server.machines.socket import LinkSocket
from tests.links import hello
from tests.service import ScriptedMachine, Service


def handshake(
    service: Service,
    token: str | None,
    *,
    subprotocol: str = SUBPROTOCOL,
    origin: str | None = None,
) -> connect:
    """Begin a websocket with these credentials."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    if origin is not None:
        headers["Origin"] = origin
    return connect(
        service.url.replace("http:", "ws:") + CONNECT_PATH,
        additional_headers=headers,
        subprotocols=[Subprotocol(subprotocol)],
        proxy=None,
    )


async def refused(attempt: connect) -> int:
    """The status with which the handshake is refused."""
    with pytest.raises(InvalidStatus) as caught:
        await attempt
    return caught.value.response.status_code


async def test_machines_token_opens_the_websocket_without_compression(service: Service) -> None:
    machine = await service.new_machine()
    async with handshake(service, machine.token) as websocket:
        assert websocket.subprotocol == SUBPROTOCOL
        assert websocket.response is not None
        assert "Sec-WebSocket-Extensions" not in websocket.response.headers


async def test_websocket_asks_for_a_machines_own_token(service: Service) -> None:
    assert await refused(handshake(service, None)) == 401
    assert await refused(handshake(service, "fh_unknown")) == 401
    assert await refused(handshake(service, service.token)) == 403
    reader = await service.new_token(Scope.MACHINES_READ)
    assert await refused(handshake(service, reader)) == 403


async def test_token_in_the_address_does_not_help(service: Service) -> None:
    machine = await service.new_machine()
    assert (await service.get(f"{CONNECT_PATH}?token={machine.token}", token=None)).status == 401


async def test_other_subprotocol_is_426(service: Service, machine: ScriptedMachine) -> None:
    assert await refused(handshake(service, machine.token, subprotocol="chat")) == 426


async def test_plain_request_is_426_and_says_what_to_speak(service: Service) -> None:
    machine = await service.new_machine()
    reply = await service.get(CONNECT_PATH, token=machine.token)
    assert (reply.status, reply.problem) == (426, "websocket-required")
    assert reply.headers["Upgrade"] == "websocket"
    assert SUBPROTOCOL in reply.json["detail"]


async def test_page_of_another_origin_opens_no_websocket(service: Service) -> None:
    machine = await service.new_machine()
    assert await refused(handshake(service, machine.token, origin="http://evil.example")) == 403


async def test_websocket_that_breaks_before_its_hello_leaves_nothing(service: Service) -> None:
    machine = await service.new_machine()
    async with handshake(service, machine.token) as websocket:
        await websocket.close()
    await machine.until_closed()
    reply = await service.get("/v1/machines/desk-1")
    assert reply.json["reason"] == "it has never connected"


def of_the_handshake() -> list[object]:
    """What there is of any machine's handshake, which the garbage collector has not seen."""
    return [
        each
        for each in gc.get_objects()
        if type(each) is ConnectHandler
        or (type(each) is HTTPServerRequest and each.path == CONNECT_PATH)
    ]


async def test_nothing_of_the_handshake_is_kept_as_long_as_the_link(service: Service) -> None:
    machine = await service.new_machine()
    gc.disable()
    try:
        before = of_the_handshake()
        async with machine.connected():
            await machine.until_live()
            assert len(of_the_handshake()) <= len(before)
    finally:
        gc.enable()


async def test_mistake_about_a_frame_is_logged_and_ends_the_link(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def mistaken(_: LinkSocket, message: str | bytes) -> None:
        raise ZeroDivisionError(message)

    monkeypatch.setattr(LinkSocket, "received", mistaken)
    machine = await service.new_machine()
    async with machine.open_websocket() as websocket:
        await websocket.send("something")
        await machine.until_closed()
    (failed,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert failed.getMessage().startswith("machine=desk-1 link=")
    assert failed.exc_text is not None
    assert "ZeroDivisionError: something" in failed.exc_text


@pytest.mark.parametrize(
    ("links", "per_second", "seconds"),
    [(0, 200, 1), (1, 200, 1), (200, 200, 1), (10_000, 200, 50), (5, 0.5, 10), (9, 0.001, 3600)],
)
def test_machines_come_back_over_a_time_that_grows_with_their_number(
    links: int, per_second: float, seconds: float
) -> None:
    assert reconnect_spread(links, per_second) == seconds


@pytest.mark.parametrize("settings", [{"reconnects_per_second": 0.01}])
async def test_welcome_says_over_how_long_reconnects_are_spread(machine: ScriptedMachine) -> None:
    async with machine.opened(hello()) as link:
        assert (await link.heard(Welcome)).reconnect_spread_seconds == 100.0
