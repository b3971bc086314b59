"""Several actions while the node with the machine's link ends: real nodes, machine and desktop."""

import contextlib
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.desktop import Witness
from tests.end_to_end.conftest import SHORT
from tests.end_to_end.system import Workstation, presses, sees
from tests.faults.fault_proxy import FaultProxy
from tests.processes import Answer, Program, ServedApi, ServerProcess, until

A_CLICK = {"operation": "mouse.click", "x": 100, "y": 200}
CLICK = ["ButtonPress 1", "ButtonRelease 1"]


def with_a_wait_of(seconds: float) -> list[dict[str, Any]]:
    return [A_CLICK, {"operation": "wait", "seconds": seconds}, A_CLICK]


@dataclass
class Installation:
    """Two nodes, and a machine whose link is at the first, until the load balancer is told."""

    ends: ServerProcess
    stays: ServerProcess
    program: Program
    desk: Workstation
    leads_to: ServerProcess

    @classmethod
    @contextlib.contextmanager
    def running(cls, directory: Path, display: str, **settings: str) -> Iterator["Installation"]:
        ends, stays = (
            ServerProcess(directory / name, node_name=name, **SHORT, **settings)
            for name in ("ends", "stays")
        )
        with contextlib.ExitStack() as stack:
            program = stack.enter_context(ends.run())
            stack.enter_context(stays.run())
            api = ServedApi(stays.url, ends.administrators_token())
            stack.callback(api.close)
            proxy = FaultProxy(lambda: ("127.0.0.1", found.leads_to.port))
            desk = Workstation.added(stack.enter_context(proxy).url, api, display, directory)
            found = cls(ends, stays, program, desk, leads_to=ends)
            stack.enter_context(desk.joined())
            until(lambda: api.machine(desk.machine)["node"] == "ends", "its link is at the first")
            yield found

    def begin(self, node: ServerProcess, actions: list[dict[str, Any]]) -> Future[Answer]:
        """Send several actions through a node."""
        api = ServedApi(node.url, self.desk.api.token)
        return api.begin_to_act(self.desk.machine, actions, "the-key")

    def retried(self, actions: list[dict[str, Any]]) -> Answer:
        """The final answer that a retry gets from the node that stays."""
        answers: list[Answer] = []

        def is_final() -> bool:
            answers.append(self.desk.act(actions, "the-key"))
            return answers[-1].status not in (503, 504)

        until(is_final, "a retry gets a final answer")
        return answers[-1]


@pytest.fixture
def shared(mongodb: str, nats_url: str, fresh_database_name: str) -> dict[str, str]:
    return {"mongodb_uri": mongodb, "mongodb_database": fresh_database_name, "nats_url": nats_url}


@pytest.mark.parametrize("through", ["ends", "stays"])
def test_node_that_stops_lets_several_actions_end(
    tmp_path: Path, shared: dict[str, str], display: str, witness: Witness, through: str
) -> None:
    actions = with_a_wait_of(3)
    with Installation.running(tmp_path, display, **shared) as found:
        running = found.begin(getattr(found, through), actions)
        sees(witness, "ButtonRelease 1")
        found.leads_to = found.stays
        found.program.process.send_signal(signal.SIGTERM)
        answer = running.result()
        assert (answer.status, len(answer.json["actions"])) == (200, 3)
        assert found.program.ends() == 0
        assert found.retried(actions).body == answer.body
    assert presses(witness.take()) == CLICK * 2


@pytest.mark.parametrize("through", ["ends", "stays"])
def test_node_whose_time_to_stop_is_over_ends_them_and_tells_which_are_done(
    tmp_path: Path, shared: dict[str, str], display: str, witness: Witness, through: str
) -> None:
    actions = with_a_wait_of(100)
    with Installation.running(tmp_path, display, stop_timeout="1", **shared) as found:
        running = found.begin(getattr(found, through), actions)
        sees(witness, "ButtonRelease 1")
        found.leads_to = found.stays
        found.program.process.send_signal(signal.SIGTERM)
        answer = running.result()
        has_ended_after_its_first(answer)
        assert found.program.ends() == 0
        assert found.retried(actions).body == answer.body
    assert presses(witness.take()) == CLICK


def test_node_that_is_killed_leaves_it_to_the_retry_to_tell_which_are_done(
    tmp_path: Path, shared: dict[str, str], display: str, witness: Witness
) -> None:
    actions = with_a_wait_of(100)
    with Installation.running(tmp_path, display, **shared) as found:
        running = found.begin(found.ends, actions)
        sees(witness, "ButtonRelease 1")
        found.leads_to = found.stays
        found.program.kill()
        assert isinstance(running.exception(), OSError)
        has_ended_after_its_first(found.retried(actions))
    assert presses(witness.take()) == CLICK


def has_ended_after_its_first(answer: Answer) -> None:
    assert answer.status == 502, answer.body
    told = answer.json
    assert (told["type"], told["code"]) == ("/problems/input-failed", "interrupted")
    assert (told["final"], told["completed"]) == (True, 1)
    assert [each["status"] for each in told["actions"]] == ["completed", "interrupted", "not_begun"]
