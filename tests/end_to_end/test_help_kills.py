"""Who waits for people waits on, whichever node is killed meanwhile."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path

import farhand
from tests.end_to_end.test_nodes import Caller, callers
from tests.end_to_end.test_workers import Family, family
from tests.processes import ServedApi, until

MACHINE = "reception"


def asked(api: ServedApi, timeout: int) -> str:
    new = {"machine_id": MACHINE, "kind": "approval", "reason": "Send?", "timeout": timeout}
    reply = api.call("POST", "/v1/help", new)
    assert reply.status == 201, reply.body
    help_id: str = reply.json["id"]
    return help_id


def polled(worker: Caller, help_id: str) -> str:
    """How a bare long poll on the connection of one worker ends."""
    try:
        return str(worker.call("GET", f"/v1/help/{help_id}?wait=60")[1]["state"])
    except (OSError, HTTPException):
        return "cut off"


@contextmanager
def waiting(found: Family, threads: ThreadPoolExecutor, help_id: str) -> Iterator[Future[str]]:
    """The state that the library waits for.

    A node has answered it before: where none has ever taken a request, it gives up in ten seconds.
    """
    with farhand.Farhand(found.server.url, found.api.token) as library:
        library.help.get(help_id)
        yield threads.submit(lambda: library.help.wait(help_id).state)


def kill(found: Family, name: str) -> None:
    """Kill a worker, and wait until another is in its place."""
    before = found.workers[name]
    os.kill(before, signal.SIGKILL)
    until(lambda: found.is_another(name, before), "another worker is in its place")


def test_wait_goes_on_over_killed_nodes_until_the_answer_or_the_end_of_its_time(
    tmp_path: Path,
) -> None:
    with (
        family(tmp_path, node_name="host") as found,
        ThreadPoolExecutor() as threads,
        ExitStack() as stack,
    ):
        assert found.api.call("POST", "/v1/machines", {"id": MACHINE}).status == 201
        new = {"name": "reviewer", "scopes": ["help:answer", "machines:read"]}
        # The asker may not approve by a token of its own: it asks with one that makes none.
        scopes = {"name": "program", "scopes": ["input:send", "machines:read"]}
        administrator = found.api.token
        reviewer = found.api.call("POST", "/v1/tokens", new).json["token"]
        found.api.token = found.api.call("POST", "/v1/tokens", scopes).json["token"]
        help_id, late = asked(found.api, 600), asked(found.api, 3)
        waits = [stack.enter_context(waiting(found, threads, each)) for each in (help_id, late)]
        with callers(found) as workers:
            polls: dict[str, Future[str]] = {
                name: threads.submit(polled, worker, help_id) for name, worker in workers.items()
            }
            for name in polls:
                kill(found, name)
            assert {poll.result() for poll in polls.values()} == {"cut off"}
        # Its time was over while nodes were dead, or just came back.
        assert waits[1].result() == "timed_out"
        assert not waits[0].done()
        found.api.token = reviewer
        answer = {"answer": "approve"}
        until(
            lambda: found.api.call("POST", f"/v1/help/{help_id}/answer", answer).status == 200,
            "it is answered",
        )
        assert waits[0].result() == "answered"
        found.api.token = administrator

        def timed_out() -> list[str]:
            audit = found.api.call("GET", "/v1/audit?action=help.timed_out").json
            return [each["target"] for each in audit["items"]]

        until(timed_out, "the audit tells of it")
        assert timed_out() == [late]
