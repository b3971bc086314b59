"""A machine that is worked through every worker, of which one has its link, on real parts."""

import http.client
import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.desktop import Witness
from tests.end_to_end.event_streams import told
from tests.end_to_end.system import Workstation
from tests.end_to_end.test_workers import Family, family
from tests.processes import WAIT_SECONDS, until


class Caller:
    """A client whose connection is kept, and so one of a worker's."""

    def __init__(self, found: Family) -> None:
        self._token = found.api.token
        self._connection = http.client.HTTPConnection(
            urlsplit(found.server.url).netloc, timeout=WAIT_SECONDS
        )
        self.node: str = self.call("GET", "/readyz")[1]["node"]

    def call(
        self, method: str, path: str, body: Any = None, key: str | None = None
    ) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        content = None if body is None else json.dumps(body)
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        read = response.read()
        is_json = "json" in response.headers.get("Content-Type", "")
        return response.status, json.loads(read) if is_json else read

    def close(self) -> None:
        self._connection.close()


@contextmanager
def callers(found: Family) -> Iterator[dict[str, Caller]]:
    """One at each worker, by its name."""
    there: dict[str, Caller] = {}
    try:

        def all_are_there() -> bool:
            another = Caller(found)
            if there.setdefault(another.node, another) is not another:
                another.close()
            return len(there) == len(found.workers)

        until(all_are_there, "a connection to each worker")
        yield there
    finally:
        for caller in there.values():
            caller.close()


def test_every_worker_works_a_machine_and_a_killed_one_is_soon_made_up_for(
    tmp_path: Path, display: str, witness: Witness
) -> None:
    with family(tmp_path, node_name="host") as found:
        desk = Workstation.added(found.server.url, found.api, display, tmp_path)
        address = f"/v1/computer/{desk.machine}"
        with desk.joined(), callers(found) as workers:

            def views() -> list[Any]:
                path = f"/v1/machines/{desk.machine}"
                return [worker.call("GET", path)[1] for worker in workers.values()]

            # The one with the link knows of it first.
            until(lambda: {view["state"] for view in views()} == {"online"}, "all know of the link")
            (holder,) = {view["node"] for view in views()}
            for number, (name, worker) in enumerate(sorted(workers.items())):
                place = {"x": 100 + number, "y": 50}
                status, first = worker.call("POST", f"{address}/input/mouse/click", place, name)
                assert status == 200, first
                for other in workers.values():
                    assert other.call("POST", f"{address}/input/mouse/click", place, name) == (
                        200,
                        first,
                    )
                assert worker.call("GET", f"{address}/input/mouse/position") == (200, place)
                status, picture = worker.call("GET", f"{address}/display/screenshot")
                assert (status, picture[:4]) == (200, b"\x89PNG")
                links = {(each, "1.0" if each == holder else "0.0") for each in found.workers}
                # Workers see each other within a second of their start.
                until(lambda: shown_by(worker) == links, "it shows the links of both")  # noqa: B023
            pressed = [str(event) for event in witness.take() if "Button" in event.kind]
            assert pressed == ["ButtonPress 1", "ButtonRelease 1"] * len(workers)
            os.kill(found.workers[holder], signal.SIGKILL)
            (left,) = [worker for name, worker in workers.items() if name != holder]

            def works() -> bool:
                return left.call("POST", f"{address}/input/mouse/move", {"x": 5, "y": 5})[0] == 200

            until(works, "the machine works through the other worker")

            def state() -> str:
                return str(left.call("GET", f"/v1/machines/{desk.machine}")[1]["state"])

            until(lambda: state() == "online", "that one says so")


def shown_by(worker: Caller) -> set[tuple[str, str]]:
    """The links of each worker, as one of them tells Prometheus."""
    _, text = worker.call("GET", "/metrics")
    return set(re.findall(r'farhand_links\{node="([^"]*)"\} (\S+)', text.decode()))


def test_events_of_every_worker_are_heard_at_every_one_in_one_order(tmp_path: Path) -> None:
    with family(tmp_path, node_name="host") as found, callers(found) as workers:
        heard: dict[str, list[str]] = {}
        streams = {name: events(found, name) for name in workers}
        for name in workers:
            for other, worker in workers.items():
                made = worker.call("POST", "/v1/machines", {"id": f"of-{name}-{other}"})
                assert made[0] == 201
        for name, stream in streams.items():
            heard[name] = [next(stream)[0] for _ in range(len(workers) ** 2)]
        one, two = heard.values()
        assert one == two


def events(found: Family, node: str) -> Iterator[tuple[str, Any]]:
    """The ids and data of the events that one worker tells, from now on."""
    connection = http.client.HTTPConnection(urlsplit(found.server.url).netloc, timeout=WAIT_SECONDS)
    while True:
        connection.request("GET", "/readyz")
        if json.loads(connection.getresponse().read())["node"] == node:
            break
        connection.close()
    return told(connection, found.api.token)
