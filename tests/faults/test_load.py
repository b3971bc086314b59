"""The clients of a fault run ask until the answer is final, always under the same key."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.faults.history import Clock, CommandHistory
from tests.faults.inputs import Input
from tests.faults.load import ClientTiming, Load, address_of
from tests.processes import until

WAIT_SECONDS = 60.0
COMMANDS = 40


class Answers(ThreadingHTTPServer):
    """Answers each key's requests with 503, then not at all, then with 504, then finally."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: dict[str, list[tuple[str, Any]]] = defaultdict(list)
        self.looks: list[str] = []
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: Answers

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["Authorization"] == "Bearer secret"
        with self.server.lock:
            requests = self.server.requests[self.headers["Idempotency-Key"]]
            requests.append((self.path, body))
            number = len(requests)
        if number == 2:
            self.close_connection = True
            return
        status = {1: 503, 3: 504}.get(number, 200)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b'{"command_id": "17"}')

    do_PUT = do_POST  # noqa: N815  as http.server calls it

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.looks.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"final": false, "answer": null}')

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def answers() -> Iterator[Answers]:
    with Answers() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def load(answers: Answers) -> Iterator[Load]:
    load = Load(
        seed=1,
        machines=["desk-0", "desk-1"],
        ports=lambda: [answers.server_port],
        token="secret",
        clock=Clock(),
        rate=200,
        timing=ClientTiming(
            patience=30.0, impatience=(10.0, 20.0), retry=(0.0, 0.05), again=(0.0, 0.1)
        ),
    )
    yield load
    load.close()


def send_commands(load: Load) -> None:
    """Send some commands, and wait until every client has what it wants."""
    load.start()
    until(lambda: len(load.commands) >= COMMANDS, "enough commands were sent")
    load.stop()
    assert load.wait(WAIT_SECONDS)


def test_clients_ask_again_until_the_answer_is_final(load: Load, answers: Answers) -> None:
    send_commands(load)
    for command in load.commands:
        first = command.first_final()
        assert first is not None
        assert max(command.tries, key=lambda each: each.ended_at).status == 200
        assert {0, 503, 504} <= {each.status for each in command.tries}
        bodies = [body for _, body in answers.requests[command.key]]
        assert bodies.count(command.input.body) == len(command.tries)
        assert {path for path, _ in answers.requests[command.key]} == {address_of(command)[1]}
    assert load.requests == sum(map(len, answers.requests.values()))


@pytest.mark.parametrize(
    ("operation", "address"),
    [
        ("mouse/click", ("POST", "/v1/computer/desk/input/mouse/click")),
        ("clipboard/write", ("PUT", "/v1/computer/desk/clipboard")),
        ("element/set_value", ("POST", "/v1/computer/desk/input/element/set_value")),
        ("actions", ("POST", "/v1/computer/desk/actions")),
    ],
)
def test_every_operation_has_its_address(operation: str, address: tuple[str, str]) -> None:
    body = Input(operation, {})
    assert address_of(CommandHistory(0, "key", "desk", body, body)) == address


def test_several_actions_are_never_sent_without_a_key(answers: Answers) -> None:
    load = Load(
        seed=2,
        machines=["desk"],
        ports=lambda: [answers.server_port],
        token="secret",
        clock=Clock(),
        rate=200,
        without_key=1.0,
    )
    load.start()
    until(lambda: len(load.commands) >= COMMANDS, "enough commands were sent")
    load.close()
    several = [command for command in load.commands if command.input.parts]
    assert several
    assert all(command.is_keyed for command in several)
    assert not all(command.is_keyed for command in load.commands)


def test_some_ask_again_after_the_final_answer_and_some_with_another_body(
    load: Load, answers: Answers
) -> None:
    send_commands(load)
    finals = [sum(each.is_final for each in command.tries) for command in load.commands]
    assert max(finals) > 1
    others = [command for command in load.commands if command.other_tries]
    assert others
    for command in others:
        assert any(body != command.input.body for _, body in answers.requests[command.key])


def test_some_look_while_the_outcome_is_pending(load: Load, answers: Answers) -> None:
    send_commands(load)
    looks = [command for command in load.commands if command.looks]
    assert looks
    assert sorted(answers.looks) == sorted(
        f"/v1/machines/{command.machine}/commands/17" for command in looks for _ in command.looks
    )


def test_closed_load_gives_up(load: Load, answers: Answers) -> None:
    load.start()
    until(lambda: load.commands, "a command was sent")
    answers.shutdown()
    # What nobody accepts any more would be waited for.
    answers.server_close()
    load.stop()
    load.close()
    assert not any(thread.name == "client" for thread in threading.enumerate())
