"""A node of the first version that mixes beside one of this, real processes of both."""

import contextlib
import http.client
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.desktop import Witness
from tests.end_to_end.conftest import SHORT
from tests.end_to_end.event_streams import told
from tests.end_to_end.system import Workstation, presses
from tests.faults.fault_proxy import FaultProxy
from tests.processes import WAIT_SECONDS, ServedApi, ServerProcess, until
from tests.versions import source_of

FIRST_THAT_MIXES = "771e1ca5f3ceae2d3582fb4034c54378d4715517"
"""The first commit whose nodes work beside those of the next version, and drain."""

CLICK = ["ButtonPress 1", "ButtonRelease 1"]
PAUSE_SECONDS = 0.05


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The source of the first version that mixes."""
    return source_of(FIRST_THAT_MIXES, tmp_path / "before")


class Balancer:
    """Leads the machine's new connections to one node, as a load balancer does while one drains."""

    def __init__(self, node: ServerProcess) -> None:
        self.node = node

    def target(self) -> tuple[str, int]:
        return "127.0.0.1", self.node.port


class Desk:
    """A machine, as whoever sends requests to one node or the other has it."""

    def __init__(self, machine: str, token: str, witness: Witness) -> None:
        self.machine = machine
        self._token = token
        self._witness = witness

    def at(self, node: ServerProcess) -> ServedApi:
        return ServedApi(node.url, self._token)

    def is_at(self, node: ServerProcess, name: str) -> bool:
        """Whether a node says that the machine's link is at the node of this name."""
        view = self.at(node).machine(self.machine)
        return (view["state"], view["node"]) == ("online", name)

    def works_through(self, other: ServerProcess, holder: ServerProcess, run: str) -> None:
        """Check all that is asked of another node than the one that has the link."""
        for key in (None, f"{run}-elsewhere"):
            self._clicks_once(key, other, holder)
        self._clicks_once(f"{run}-here", holder, other)
        seen = self.at(other).call("GET", f"/v1/computer/{self.machine}/input/mouse/position")
        assert (seen.status, seen.json) == (200, {"x": 300, "y": 200})
        seen = self.at(other).call("GET", f"/v1/computer/{self.machine}/display/screenshot")
        assert (seen.status, seen.body[:4]) == (200, b"\x89PNG")

    def _clicks_once(self, key: str | None, node: ServerProcess, other: ServerProcess) -> None:
        self._witness.take()
        first = self._click(node, key)
        assert first.status == 200, first.body
        for each in (node, other) if key is not None else ():
            again = self._click(each, key)
            assert (again.status, again.body) == (200, first.body)
            assert again.headers["Idempotency-Replayed"] == "true"
        assert presses(self._witness.take()) == CLICK

    def _click(self, node: ServerProcess, key: str | None) -> Any:
        return self.at(node).send(self.machine, "mouse/click", {"x": 300, "y": 200}, key)

    def is_told_everywhere(self, *nodes: ServerProcess) -> None:
        """Check that each node tells of what is changed at the others, in one order."""
        streams = [told(_connection(node), self._token) for node in nodes]
        heard: list[list[tuple[str, Any]]] = [[] for _ in nodes]
        for node in nodes:
            name = f"changed at {node.port}"
            changed = self.at(node).call("PATCH", f"/v1/machines/{self.machine}", {"name": name})
            assert changed.status == 200, changed.body
            for stream, events in zip(streams, heard, strict=True):
                _hear(stream, events, name)
        assert heard[0] == heard[1]

    @contextlib.contextmanager
    def in_work(self, node: ServerProcess) -> Iterator[None]:
        """Send one click after the other through a node; each must happen, and happen once."""
        self._witness.take()
        over = Event()
        with ThreadPoolExecutor(1) as thread:
            clicks = thread.submit(self._clicks_until, over, node)
            try:
                yield
            finally:
                over.set()
        assert presses(self._witness.take()) == CLICK * clicks.result()

    def _clicks_until(self, over: Event, node: ServerProcess) -> int:
        count = 0
        # One while the nodes change, and one after that, however soon it is over.
        while count < 2 or not over.is_set():
            count += 1
            while (answer := self._click(node, f"work-{node.port}-{count}")).status == 503:
                time.sleep(float(answer.headers["Retry-After"]))
            assert answer.status == 200, answer.body
            time.sleep(PAUSE_SECONDS)
        return count


def _hear(stream: Iterator[tuple[str, Any]], events: list[tuple[str, Any]], name: str) -> None:
    """Add what a stream tells until the machine has a name.

    What else became of the machine may be told meanwhile.  Before the first name that belongs to
    when the stream began, and is left out.
    """
    for event in stream:
        has_name = event[1]["name"] == name
        if events or has_name:
            events.append(event)
        if has_name:
            return


def _connection(node: ServerProcess) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(node.url).netloc, timeout=WAIT_SECONDS)


@pytest.mark.timeout(300)
def test_node_of_the_version_before_works_beside_this_one_and_each_replaces_the_other(
    tmp_path: Path,
    mongodb: str,
    nats_url: str,
    fresh_database_name: str,
    display: str,
    witness: Witness,
    before: Path,
) -> None:
    shared = {"mongodb_uri": mongodb, "mongodb_database": fresh_database_name}
    one, two = (
        ServerProcess(tmp_path / name, node_name=name, nats_url=nats_url, **shared, **SHORT)
        for name in ("one", "two")
    )
    balancer = Balancer(one)
    with contextlib.ExitStack() as stack:
        start = stack.enter_context
        older = start(one.run(source=before))
        newer = start(two.run())
        proxy = start(FaultProxy(balancer.target))
        workstation = Workstation.added(proxy.url, one.api(), display, tmp_path)
        start(workstation.joined())
        desk = Desk(workstation.machine, one.administrators_token(), witness)
        until(lambda: desk.is_at(two, "one"), "this version reaches the one before")
        desk.works_through(two, holder=one, run="before-has-it")
        desk.is_told_everywhere(one, two)

        balancer.node = two
        with desk.in_work(two):
            assert older.terminate() == 0
            until(lambda: desk.is_at(two, "two"), "the machine has moved")
            start(one.run())

        balancer.node = one
        with desk.in_work(one):
            assert newer.terminate() == 0
            until(lambda: desk.is_at(one, "one"), "the machine has moved back")
            start(two.run(source=before))
        until(lambda: desk.is_at(two, "one"), "the version before reaches this one")
        desk.works_through(two, holder=one, run="this-has-it")
        desk.is_told_everywhere(one, two)
