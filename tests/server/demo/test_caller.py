"""The demo's HTTP client against real answers."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from server.demo import DemoError
from server.demo.caller import Caller
from tests.processes import free_port

VALIDATION = b'{"detail":[{"loc":["body","x"],"msg":"must be a number","type":"int_type"}]}'
PROBLEM = b'{"title":"Machine unavailable","detail":"it is away","status":503}'
ANSWERS = {"/good": (200, b'{"a":1}'), "/wrong": (422, VALIDATION), "/away": (503, PROBLEM)}


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        status, body = ANSWERS.get(self.path, (500, b"oh"))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Sent", self.headers["Authorization"])
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def caller() -> Iterator[Caller]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        caller = Caller(f"http://127.0.0.1:{server.server_port}", "fh_x")
        yield caller
        caller.close()
        server.shutdown()


def test_good_answer_has_content_headers_and_time(caller: Caller) -> None:
    for _ in range(2):
        answer = caller.call("POST", "/good", {"b": 2})
        assert (answer.status, answer.json()) == (200, {"a": 1})
        assert answer.headers["X-Sent"] == "Bearer fh_x"
        assert answer.milliseconds > 0


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/wrong", r"POST /wrong was answered 422: .*x.*must be a number"),
        ("/away", "POST /away was answered 503: Machine unavailable: it is away"),
        ("/else", "POST /else was answered 500: no words of its own"),
    ],
)
def test_refusal_is_raised_in_the_servers_words(caller: Caller, path: str, words: str) -> None:
    with pytest.raises(DemoError, match=words):
        caller.call("POST", path, {})


def test_any_status_can_be_looked_at(caller: Caller) -> None:
    assert caller.send("POST", "/away", {}).status == 503


def test_server_that_is_not_there_is_said_to_be_silent() -> None:
    with pytest.raises(DemoError, match="GET /healthz was not answered"):
        Caller(f"http://127.0.0.1:{free_port()}", "fh_x").call("GET", "/healthz")
