"""This version beside a next one, which exists in tests alone: real processes of both."""

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.desktop import Witness
from tests.end_to_end.conftest import SHORT
from tests.end_to_end.system import Workstation, presses
from tests.faults.fault_proxy import FaultProxy
from tests.processes import ServedApi, ServerProcess, until

CLICK = ["ButtonPress 1", "ButtonRelease 1"]
PAUSE_SECONDS = 0.05


class Balancer:
    """Leads machines' new connections to one node, as a load balancer does while one drains."""

    def __init__(self, node: ServerProcess) -> None:
        self.node = node

    def target(self) -> tuple[str, int]:
        return "127.0.0.1", self.node.port


@dataclass
class Desk:
    """A machine, as whoever sends requests to one node or the other has it."""

    machine: str
    token: str
    witness: Witness

    def at(self, node: ServerProcess) -> ServedApi:
        return ServedApi(node.url, self.token)

    def is_at(self, node: ServerProcess, name: str) -> None:
        """Wait until a node says that the machine's link is at the node of this name."""

        def is_there() -> bool:
            view = self.at(node).machine(self.machine)
            return (view["state"], view["node"]) == ("online", name)

        until(is_there, f"{self.machine} is at {name}")

    def works_through(self, *nodes: ServerProcess) -> None:
        """Check all that is asked of a node, whether it has the link or another of a version."""
        for node in nodes:
            for key in (None, f"{self.machine}-{node.port}-{time.monotonic()}"):
                self._clicks_once(key, node, *nodes)
            path = f"/v1/computer/{self.machine}"
            seen = self.at(node).call("GET", f"{path}/input/mouse/position")
            assert (seen.status, seen.json) == (200, {"x": 300, "y": 200})
            seen = self.at(node).call("GET", f"{path}/display/screenshot")
            assert (seen.status, seen.body[:4]) == (200, b"\x89PNG")

    def _clicks_once(self, key: str | None, node: ServerProcess, *nodes: ServerProcess) -> None:
        self.witness.take()
        first = self._click(node, key)
        assert first.status == 200, first.body
        for each in nodes if key is not None else ():
            again = self._click(each, key)
            assert (again.status, again.body) == (200, first.body)
            assert again.headers["Idempotency-Replayed"] == "true"
        assert presses(self.witness.take()) == CLICK

    def _click(self, node: ServerProcess, key: str | None) -> Any:
        return self.at(node).send(self.machine, "mouse/click", {"x": 300, "y": 200}, key)

    @contextlib.contextmanager
    def in_work(self, node: ServerProcess) -> Iterator[None]:
        """Send one click after the other through a node; each must happen, and happen once."""
        self.witness.take()
        over = Event()
        with ThreadPoolExecutor(1) as thread:
            clicks = thread.submit(self._clicks_until, over, node)
            try:
                yield
            finally:
                over.set()
        assert presses(self.witness.take()) == CLICK * clicks.result()

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


@pytest.mark.timeout(300)
def test_next_version_works_beside_this_one_and_each_replaces_the_other(
    tmp_path: Path,
    mongodb: str,
    nats_url: str,
    fresh_database_name: str,
    display: str,
    witness: Witness,
) -> None:
    shared = {"mongodb_uri": mongodb, "mongodb_database": fresh_database_name, **SHORT}
    today, newer = (
        ServerProcess(tmp_path / name, node_name=name, nats_url=nats_url, **shared)
        for name in ("today", "newer")
    )
    balancer = Balancer(today)
    with contextlib.ExitStack() as stack:
        start = stack.enter_context
        this = start(today.run())
        proxy, token = start(FaultProxy(balancer.target)), today.administrators_token()
        stations = [
            Workstation.added(url, today.api(), display, tmp_path) for url in (proxy.url, newer.url)
        ]
        ours, its = (Desk(each.machine, token, witness) for each in reversed(stations))
        next_node = start(newer.run(is_next=True))

        # The next version's client on this server, and this one's on the next: under protocol 1.
        start(stations[0].joined(is_next=True))
        start(stations[1].joined())
        its.is_at(newer, "today")
        ours.is_at(today, "newer")
        for desk in (ours, its):
            desk.works_through(today, newer)
        next_node.says(f"the hello of {ours.machine} has the mood None")
        assert "under protocol" not in next_node.output

        # Its client comes to its node, where both speak protocol 2, and goes back to this one.
        balancer.node = newer
        with its.in_work(newer):
            assert this.terminate() == 0
            its.is_at(newer, "newer")
            start(today.run())
        next_node.says(f"the hello of {its.machine} has the mood fine")
        next_node.says(f"{its.machine} is fine under protocol 2")
        its.works_through(today, newer)
        balancer.node = today
        with its.in_work(today):
            assert next_node.terminate() == 0
            its.is_at(today, "today")
        its.works_through(today)
