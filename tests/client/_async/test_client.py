"""Where everything begins: the clients themselves."""

import pytest

import farhand
from farhand import AsyncFarhand, Farhand
from schemas.resources.tokens import Scope
from tests.client.scripted_server import GONE, answer, problem, result, scripted_server
from tests.service import Service


def test_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(answer(200, result())) as server:
        monkeypatch.setenv("FARHAND_URL", server.url)
        monkeypatch.setenv("FARHAND_TOKEN", "fh_t")
        with Farhand() as client:
            assert client.machine("a/b").click().status == "completed"
    assert server.asked[0].path == "/v1/computer/a%2Fb/input/mouse/click"


def test_closed_client_sends_nothing() -> None:
    with Farhand("http://127.0.0.1:1", "fh_t") as client:
        pass
    with pytest.raises(farhand.FarhandError, match="this client is closed"):
        client.machine("a").click()


async def test_sessions_need_a_with_statement(tmp_path: object) -> None:
    async with AsyncFarhand("http://127.0.0.1:1", "fh_t") as client:
        session = client.session("order", file=f"{tmp_path}/s")
        with pytest.raises(farhand.SessionError, match="with statement"):
            await session.machine("a").click()


def test_request_is_for_what_has_no_method() -> None:
    with (
        scripted_server(answer(200, {"a": 1}), answer(204), answer(200, b"<h1>")) as server,
        Farhand(server.url, "fh_t") as client,
    ):
        assert client.request("PUT", "/v1/x", {"b": 2}, query={"c": True}) == {"a": 1}
        assert client.request("DELETE", "/v1/x") is None
        with pytest.raises(farhand.NotFarhand):
            client.request("GET", "/v1/x")
    assert server.asked[0].path == "/v1/x?c=true"
    assert server.asked[0].body == b'{"b":2}'


def test_client_that_does_not_retry_sends_everything_once() -> None:
    for said in (GONE, problem("machine-unavailable", 503), answer(502, b"proxy")):
        with (
            scripted_server(said) as server,
            Farhand(server.url, "fh_t", retry=False) as client,
            pytest.raises(farhand.FarhandError),
        ):
            client.machine("a").click()
        assert len(server.asked) == 1


def test_pages_are_as_the_server_answers_them() -> None:
    listed = {"items": [{"id": "a"}], "total": 1, "skip": 0, "limit": 1000, "included": []}
    with scripted_server(answer(200, listed)) as server, Farhand(server.url, "fh_t") as client:
        assert list(client.pages("/v1/anything", {"q": "x"})) == [listed]
    assert server.asked[0].path == "/v1/anything?q=x&limit=1000&skip=0"


async def test_machine_that_is_not_there_is_told(service: Service) -> None:
    async with AsyncFarhand(service.url, service.token) as client:
        with pytest.raises(farhand.NotFound, match="elsewhere"):
            await client.machine("elsewhere").click()
        reader = await service.new_token(Scope.MACHINES_READ)
        async with AsyncFarhand(service.url, reader) as other:
            with pytest.raises(farhand.Forbidden, match="input:send"):
                await other.machine("elsewhere").click()
