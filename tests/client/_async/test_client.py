"""Where everything begins: the clients themselves."""

import pytest

import farhand
from farhand import AsyncFarhand, Farhand
from tests.client.scripted_server import answer, result, scripted_server


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
