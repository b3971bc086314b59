"""What answers in the place of the handshake: who it was, and what would mend it."""

import pytest
from websockets.http11 import Response

from machine_client.doctor.handshake_failures import Hops, explained
from schemas.http import problems
from tests.machine_client.doctor.test_network_check import fault
from tests.machine_client.raw_servers import http_answer, raw_server
from tests.machine_client.scripted import problem, scripted_server

PAGE = "<html><form>Sign in</form></html>"


@pytest.mark.parametrize(
    ("answer", "hop", "words"),
    [
        (
            problem(problems.UNAUTHENTICATED, "the token is not known or was revoked"),
            "token",
            ["not known or was revoked", "farhand token create --name NAME --machine ID"],
        ),
        (
            problem(problems.UNAUTHENTICATED, "the token has expired"),
            "token",
            ["has expired", "make a new one"],
        ),
        (
            problem(problems.FORBIDDEN, "this needs a token with the scope machine:connect"),
            "token",
            ["not a machine's", "farhand machine add ID"],
        ),
        (
            problem(problems.WEBSOCKET_REQUIRED, "this address speaks websocket only"),
            "reverse proxy",
            ["Upgrade", "config/nginx.conf"],
        ),
        (
            problem(problems.STORAGE_UNAVAILABLE, "the database does not answer"),
            "server",
            ["the database does not answer", "farhand doctor"],
        ),
    ],
)
async def test_farhands_own_refusal(answer: Response, hop: str, words: list[str]) -> None:
    async with scripted_server(statuses=(answer,)) as server:
        bad = await fault(server.address)
    assert bad.hop == hop
    assert all(word in bad.what for word in words), bad.what


@pytest.mark.parametrize(
    ("answer", "hop", "words"),
    [
        (http_answer("403 Forbidden", PAGE), "portal", "sign in"),
        (http_answer("401 Unauthorized", PAGE), "portal", "sign in"),
        (http_answer("200 OK", PAGE, Content_Type="text/html"), "portal", "login page"),
        (http_answer("511 Network Authentication Required", PAGE), "portal", "sign in"),
        (http_answer("302 Found", Location="https://login.example/?next=x"), "portal", "redirect"),
        (http_answer("301 Moved Permanently", Location="/login"), "portal", "redirect to /login"),
        (
            http_answer("301 Moved Permanently", Location="https://127.0.0.1/v1/x"),
            "TLS",
            "https address as --server",
        ),
        (http_answer("404 Not Found", PAGE), "server", "--server"),
        (http_answer("426 Upgrade Required"), "reverse proxy", "Upgrade"),
        (http_answer("400 Bad Request"), "server", "--server"),
        (http_answer("502 Bad Gateway", PAGE), "reverse proxy", "farhand serve"),
        (http_answer("503 Service Unavailable", PAGE), "reverse proxy", "farhand serve"),
        (http_answer("407 Proxy Authentication Required"), "proxy", "--proxy"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "server", "does not speak HTTP"),
        (b"", "server", "ended the connection"),
    ],
)
async def test_answer_of_something_between(answer: bytes, hop: str, words: str) -> None:
    async with raw_server(answer) as port:
        bad = await fault(f"http://127.0.0.1:{port}")
    assert bad.hop == hop
    assert words in bad.what


def test_mistake_of_ours_is_no_hop() -> None:
    with pytest.raises(ZeroDivisionError):
        explained(ZeroDivisionError(), Hops("http://a", "a", 80, None))
