"""What ends a machine client and what is tried again; with what else could be made of an answer."""

import errno
import json
import socket
import ssl

import pytest
from websockets.exceptions import (
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidProxyStatus,
    InvalidStatus,
    InvalidUpgrade,
    NegotiationError,
    ProxyError,
)
from websockets.http11 import Response

from machine_client.link.failures import (
    MisconfiguredError,
    MustStopError,
    foreign,
    reason_to_retry,
    without_credentials,
)
from schemas.http import problems
from tests.machine_client.scripted import problem, response


@pytest.mark.parametrize("final", [problems.UNAUTHENTICATED, problems.FORBIDDEN])
def test_servers_own_refusal_of_the_token_is_final(final: problems.ProblemType) -> None:
    refusal = InvalidStatus(problem(final, "it was revoked"))
    with pytest.raises(MustStopError, match=rf"HTTP {final.status}: it was revoked\); make a new"):
        reason_to_retry(refusal)


@pytest.mark.parametrize(
    "passing",
    [each for each in problems.PROBLEM_TYPES.values() if each.status not in (401, 403)],
    ids=lambda each: each.name,
)
def test_every_other_problem_of_the_server_passes(passing: problems.ProblemType) -> None:
    said = reason_to_retry(InvalidStatus(problem(passing, "not just now")))
    assert said == f"the server answered HTTP {passing.status}: not just now"


def lookalike(answered: int, media_type: str = problems.MEDIA_TYPE, **members: object) -> Response:
    """Nearly the server's own refusal of the token."""
    body = {
        "type": problems.UNAUTHENTICATED.reference,
        "title": problems.UNAUTHENTICATED.title,
        "status": 401,
        "detail": "no",
        "instance": "1",
        **members,
    }
    return response(answered, json.dumps(body).encode(), Content_Type=media_type)


@pytest.mark.parametrize(
    "answer",
    [
        response(401, WWW_Authenticate="Basic"),
        response(401, b"<html>Sign in", Content_Type="text/html"),
        response(401, b"{", Content_Type=problems.MEDIA_TYPE),
        response(401, b"[]", Content_Type=problems.MEDIA_TYPE),
        lookalike(401, "application/json"),
        lookalike(403),
        lookalike(401, type="about:blank"),
        lookalike(401, type="https://portal.example/problems/unauthenticated"),
        lookalike(401, status=403),
    ],
)
def test_refusal_that_is_not_the_servers_own_passes(answer: Response) -> None:
    said = reason_to_retry(InvalidStatus(answer))
    assert said.startswith(f"what answered is no Farhand server: HTTP {answer.status_code}")
    assert "<html>" not in said


@pytest.mark.parametrize("status", [200, 301, 302, 307, 403, 404, 407, 426, 429, 500, 502, 511])
def test_answer_of_something_between_passes_and_its_page_is_not_repeated(status: int) -> None:
    page = b"<html>" + b"x" * 100_000
    said = reason_to_retry(InvalidStatus(response(status, page, Content_Type="text/html")))
    assert f"HTTP {status} " in said
    assert len(said) < 100


def test_redirect_is_named_without_what_could_be_secret_in_it() -> None:
    location = "https://user:secret@portal.example:8443/login?token=secret#secret"
    said = reason_to_retry(InvalidStatus(response(302, Location=location)))
    assert "HTTP 302 Found, a redirect to https://portal.example:8443/login;" in said
    assert "secret" not in said
    assert "an address that is none" in reason_to_retry(
        InvalidStatus(response(302, Location="http://[::1/"))
    )


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "connection refused"),
        (OSError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 9)"), "connection refused"),
        (OSError(errno.EHOSTUNREACH, "?"), "no route to host"),
        (TimeoutError(errno.ETIMEDOUT, "?"), "connection timed out"),
        (TimeoutError("timed out during opening handshake"), "there was no answer in time"),
        (ConnectionResetError(), "the connection was ended without an answer"),
        (OSError("Multiple exceptions: one, another"), "Multiple exceptions: one, another"),
        (socket.gaierror(-2, "Name or service not known"), "a name is not known: Name or"),
        (ssl.SSLError("?"), "no TLS connection came about"),
        (InvalidMessage("?"), "does not speak HTTP"),
        (InvalidUpgrade("Upgrade", "h2c"), "no Farhand server, but a websocket"),
        (NegotiationError("unsupported subprotocol: x"), "unsupported subprotocol: x"),
        (InvalidProxyStatus(response(407)), "the proxy answered HTTP 407 Proxy Authentication"),
        (caused(ProxyError("no way"), OSError("it is dark")), "no way: it is dark"),
        (InvalidHandshake("?"), "?"),
        (EOFError(), "EOFError"),
    ],
)
def test_trouble_on_the_way_passes_and_has_a_word(error: Exception, said: str) -> None:
    assert said in reason_to_retry(error)


def test_certificate_of_a_portal_passes() -> None:
    error = ssl.SSLCertVerificationError(1, "?")
    error.verify_message = "Hostname mismatch"
    assert reason_to_retry(error) == "its certificate is not trusted: Hostname mismatch"


def test_proxy_that_cannot_be_one_is_a_mistake_and_its_password_is_not_said() -> None:
    with pytest.raises(MisconfiguredError, match="hostname isn't provided") as caught:
        reason_to_retry(InvalidProxy("http://user:secret@", "hostname isn't provided"))
    assert "secret" not in str(caught.value)


def test_mistake_of_our_own_is_not_hidden_by_trying_again() -> None:
    with pytest.raises(KeyError, match="a mistake"):
        reason_to_retry(KeyError("a mistake"))


def test_foreign_words_are_cut_and_kept_in_one_line() -> None:
    assert foreign("one\r\ntwo\x1b[2J") == "one  two [2J"
    assert len(foreign("x" * 100_000)) == 201
    assert foreign("Grüße") == "Grüße"


def test_address_is_shown_without_credentials() -> None:
    assert without_credentials("http://user:secret@proxy:3128") == "http://proxy:3128"
    assert without_credentials("socks5h://proxy:1080") == "socks5h://proxy:1080"
