"""Requests to servers of all kinds: when they are sent again, and what their failures say.

The server is scripted, byte for byte; the client is the synchronous one, which is made of this
source, but where both kinds are named.
"""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

import farhand
from farhand import AsyncFarhand, Farhand, _retrying
from farhand._settings import system_trust
from tests.certificates import self_signed
from tests.client.scripted_server import (
    GONE,
    ScriptedServer,
    answer,
    problem,
    result,
    scripted_server,
)
from tests.processes import free_port
from tests.service import until

TOKEN = "fh_secret_of_a_test"
DONE = answer(200, result())


@contextmanager
def called(server: ScriptedServer, **options: Any) -> Iterator[Farhand]:
    with Farhand(server.url, TOKEN, **options) as client:
        yield client


def click(server: ScriptedServer, **options: Any) -> Any:
    with called(server, **options) as client:
        return client.machine("reception").click(640, 360)


def test_request_is_what_the_api_wants() -> None:
    with scripted_server(DONE) as server:
        assert click(server).pointer.x == 640
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/computer/reception/input/mouse/click")
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.body == b'{"x":640,"y":360,"button":"left","clicks":1}'
    assert asked.key


@pytest.mark.parametrize(
    "weather",
    [
        GONE,
        answer(200, result())[:-20],
        answer(502, b"<h1>Bad Gateway</h1>", media="text/html"),
        problem("outcome-pending", 504),
        problem("machine-unavailable", 503, reason="offline"),
        problem("idempotency-key-in-progress", 409),
    ],
    ids=["gone", "cut", "proxy", "pending", "offline", "in-progress"],
)
def test_input_is_sent_again_under_its_key_until_it_has_an_answer(weather: bytes) -> None:
    with scripted_server(weather, weather, DONE) as server:
        done = click(server)
    assert server.keys == [done.key] * 3


async def test_asynchronous_client_does_the_same() -> None:
    with scripted_server(GONE, problem("outcome-pending", 504), DONE) as server:
        async with AsyncFarhand(server.url, TOKEN) as client:
            done = await client.machine("reception").click(640, 360)
    assert server.keys == [done.key] * 3


def test_each_call_has_a_key_of_its_own() -> None:
    with scripted_server(DONE) as server, called(server) as client:
        machine = client.machine("reception")
        first, second = machine.click(), machine.click()
        assert machine.click(key="mine").key == "mine"
    assert server.keys == [first.key, second.key, "mine"]
    assert first.key != second.key


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (502, "outcome-unknown"),
        (502, "input-failed"),
        (503, "not-carried-out"),
        (504, "input-expired"),
        (409, "actions-stopped"),
        (409, "control-ended"),
        (401, "unauthenticated"),
        (403, "forbidden"),
        (404, "not-found"),
        (413, "body-too-large"),
    ],
)
def test_what_is_final_is_not_asked_for_again(status: int, name: str) -> None:
    with (
        scripted_server(problem(name, status, final=True)) as server,
        pytest.raises(farhand.Problem) as caught,
    ):
        click(server)
    assert caught.value.name == name
    assert len(server.asked) == 1
    assert caught.value.key == server.keys[0]


def test_problem_is_raised_when_the_time_is_over() -> None:
    pending = problem("outcome-pending", 504, retry_after="90")
    with scripted_server(pending) as server, pytest.raises(farhand.OutcomePending) as caught:
        click(server, timeout=60.0)
    assert caught.value.may_have_happened
    assert caught.value.key == server.keys[0]
    assert len(server.asked) == 1


def test_lost_answer_may_have_happened_and_its_key_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with scripted_server(GONE) as server:
        # The time is over once there was a second try, however long the tries take.
        clock = SimpleNamespace(monotonic=lambda: 60.0 if len(server.asked) > 1 else 0.0)
        monkeypatch.setattr(_retrying, "time", clock)
        with pytest.raises(farhand.NoAnswer) as caught:
            click(server, timeout=60.0)
    assert caught.value.may_have_happened
    assert server.keys == [caught.value.key] * 2


def test_server_that_is_not_there_is_told_so_and_nothing_happened() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with Farhand(url, TOKEN, timeout=0.2) as client, pytest.raises(farhand.NoAnswer) as caught:
        client.machine("reception").click()
    assert f"no server answers at {url}" in str(caught.value)
    assert "farhand serve" in str(caught.value)
    assert not caught.value.may_have_happened


def test_server_that_is_never_there_is_given_up_before_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("farhand._sync.connection.FIRST_CONTACT_SECONDS", 0.0)
    url = f"http://127.0.0.1:{free_port()}"
    with Farhand(url, TOKEN, timeout=3600.0) as client, pytest.raises(farhand.NoAnswer):
        client.machine("reception").click()


def test_what_drops_each_request_at_once_is_given_up_as_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As what speaks no HTTP does at a wrong port."""
    monkeypatch.setattr("farhand._sync.connection.FIRST_CONTACT_SECONDS", 0.0)
    monkeypatch.setattr("farhand._sync.connection.time", SimpleNamespace(monotonic=lambda: 0.0))
    with scripted_server(GONE) as server, pytest.raises(farhand.NoAnswer):
        click(server, timeout=3600.0)


def test_server_that_is_killed_over_a_first_long_request_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("farhand._sync.connection.FIRST_CONTACT_SECONDS", 0.0)
    with scripted_server(GONE, GONE, DONE) as server:
        assert click(server).pointer.x == 640
    assert len(server.asked) == 3


def test_redirect_is_not_followed() -> None:
    with scripted_server(DONE) as elsewhere:
        moved = answer(302, Location=elsewhere.url)
        with scripted_server(moved) as server, pytest.raises(farhand.NotFarhand) as caught:
            click(server)
    assert "give the final URL" in str(caught.value)
    assert elsewhere.asked == []


@pytest.mark.parametrize(
    "page",
    [
        answer(200, b"<h1>Sign in to the WLAN</h1>", media="text/html"),
        answer(200, {"ok": True}),
        answer(404, b"<h1>Not Found</h1>", media="text/html"),
        answer(403, b"<h1>Blocked</h1>", media="text/html"),
    ],
    ids=["portal", "json", "404", "403"],
)
def test_page_of_somebody_else_is_no_success_and_no_problem(page: bytes) -> None:
    with scripted_server(page) as server, pytest.raises(farhand.NotFarhand) as caught:
        click(server)
    assert server.url in str(caught.value)
    assert len(server.asked) == 1


def test_what_has_no_key_is_not_sent_twice() -> None:
    with (
        scripted_server(GONE) as server,
        called(server) as client,
        pytest.raises(farhand.NoAnswer) as caught,
    ):
        client.workflows.create("Invoices")
    assert len(server.asked) == 1
    assert caught.value.may_have_happened


@pytest.mark.parametrize("items", [3, [{"id": "a"}], ["a"]])
def test_list_that_is_none_is_a_stranger(items: object) -> None:
    with (
        scripted_server(answer(200, {"items": items, "total": 1})) as server,
        called(server) as client,
        pytest.raises(farhand.NotFarhand),
    ):
        list(client.machines.list())


def test_token_is_in_no_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    said: list[str] = []
    for page in (GONE, answer(302), problem("unauthenticated", 401), answer(200, b"x")):
        with scripted_server(page) as server, pytest.raises(farhand.FarhandError) as caught:
            click(server, timeout=0.2)
        said += [str(caught.value), repr(caught.value)]
    assert TOKEN not in "".join(said) + caplog.text


def test_proxy_is_used_where_one_is_given() -> None:
    with (
        scripted_server(DONE) as proxy,
        Farhand("http://farhand.example", TOKEN, proxy=proxy.url) as client,
    ):
        client.machine("reception").click()
    assert proxy.asked[0].path.startswith("http://farhand.example/v1/computer/")


def test_proxy_of_the_environment_is_used_unless_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with scripted_server(DONE) as proxy, scripted_server(DONE) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        click(server)
        click(server, trust_env=False)
    assert (len(proxy.asked), len(server.asked)) == (1, 1)


@pytest.mark.parametrize("is_trusted", [True, False])
def test_certificate_is_trusted_where_the_system_trusts_it(
    is_trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    system_trust.cache_clear()
    with scripted_server(DONE, tls=tls) as server:
        if is_trusted:
            assert click(server).status == "completed"
        else:
            # At once: it does not become better by waiting.
            with pytest.raises(farhand.NoAnswer, match="CERTIFICATE_VERIFY_FAILED"):
                click(server)
    system_trust.cache_clear()


async def test_call_that_is_cancelled_leaves_nothing_open() -> None:
    pending = problem("outcome-pending", 504, retry_after="60")
    with scripted_server(pending) as server:
        async with AsyncFarhand(server.url, TOKEN) as client:
            task = asyncio.get_running_loop().create_task(client.machine("a").click())
            await until(lambda: server.asked)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_transport_of_ones_own_may_have_the_answer_at_once() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=result()))
    with Farhand("http://farhand", TOKEN, transport=transport) as client:
        assert client.machine("reception").click().pointer.x == 640
    async with AsyncFarhand("http://farhand", TOKEN, transport=transport) as client_of_loop:
        assert (await client_of_loop.machine("reception").click()).pointer.x == 640
