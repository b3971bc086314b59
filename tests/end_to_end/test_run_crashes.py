"""A run whose server is killed at each point of a step's way: nothing twice, nothing lost.

Each point has a server, a machine and a database of its own, and all of them live at the same time:
what is waited for, such as the end of a dead process's lease, is waited for once.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any
from uuid import uuid4

from tests.desktop import Witness
from tests.end_to_end.conftest import SHORT
from tests.end_to_end.system import Workstation
from tests.processes import Program, ServedApi, ServerProcess, until

STEPS = 4
KILLED_AT = 3
"""The step at which each server is killed, but for those at the run's end."""

EXPECTED = {"any": [{"still": 0.1}], "timeout": 60}

POINTS = {
    # By its point, how often that step is tried in the end.
    "before-attempt": 1,
    "after-attempt": 2,
    "after-sent": 2,
    "after-bytes": 1,
    "before-step-done": 1,
    "after-step-done": 1,
    "in-checks": 1,
    "after-step": 1,
    "before-run-end": 1,
    "after-run-end": 1,
}


@dataclass
class Row:
    """One point, and who lives for it; its run presses a letter that no other one does."""

    letter: str
    server: ServerProcess
    desk: Workstation
    api: ServedApi
    run: Any = None

    def begin(self) -> None:
        """Begin a run of some steps that press the letter."""
        step = {"operation": "keyboard.key", "body": {"text": self.letter}, "expect": EXPECTED}
        made = self._made("/v1/trajectories", {**SENT, "trajectory_data": [step] * STEPS})
        review = {"decision": "approve", "content_hash": made["content_hash"]}
        path = f"/v1/trajectories/{made['id']}/review"
        assert self.api.call("POST", path, review).status == 200
        new = {"trajectory_id": made["id"], "machine_id": self.desk.machine}
        self.run = self._made("/v1/runs", new)

    def has_ended(self) -> bool:
        """Whether the run has ended; what it is then."""
        self.run = self.api.call("GET", f"/v1/runs/{self.run['id']}").json
        return self.run["ended_at"] is not None or self.run["halted"] is not None

    def _made(self, path: str, body: Any) -> Any:
        reply = self.api.call("POST", path, body)
        assert reply.status == 201, reply.body
        return reply.json


SENT = {"workflow_id": str(uuid4()), "dimensions": {"width": 1280, "height": 800}}


@contextmanager
def killed(mongodb: str, display: str, directory: Path) -> Iterator[dict[str, Row]]:
    """Every row, whose server was killed in the middle of the run; its machine is still there."""
    rows: dict[str, Row] = {}
    with ExitStack() as living:
        programs: dict[str, Program] = {}
        for letter, point in zip(ascii_lowercase, POINTS, strict=False):
            server = ServerProcess(
                directory / point,
                **SHORT,
                mongodb_uri=mongodb,
                mongodb_database=f"run_{uuid4().hex}",
                authors_may_approve="true",
            )
            failpoints = f"{point}=kill@{1 if 'run-end' in point else KILLED_AT}"
            programs[point] = living.enter_context(server.run(failpoints=failpoints))
            api = server.api()
            living.callback(api.close)
            desk = Workstation.added(server.url, api, display, directory)
            living.enter_context(desk.joined())
            rows[point] = Row(letter, server, desk, api)
        for row in rows.values():
            row.begin()
        for program in programs.values():
            program.ends()
        yield rows


def test_run_goes_on_in_another_process_and_does_nothing_twice(
    mongodb: str, display: str, witness: Witness, tmp_path: Path
) -> None:
    with killed(mongodb, display, tmp_path) as rows, ExitStack() as living:
        for row in rows.values():
            living.enter_context(row.server.run())
        # All servers start at once, which takes a busy machine most of a minute.
        until(lambda: all(row.has_ended() for row in rows.values()), "every run has ended", 150)
        ends = {point: (row.run["status"], row.run["error"]) for point, row in rows.items()}
        assert ends == dict.fromkeys(POINTS, ("success", None)), ends
        tries = {
            point: [step["attempts"] for step in row.run["steps"]] for point, row in rows.items()
        }
        others = [1] * (STEPS - 1)
        assert tries == {
            point: [*others[: KILLED_AT - 1], times, *others[KILLED_AT - 1 :]]
            for point, times in POINTS.items()
        }
        pressed = Counter(each.detail for each in witness.take() if each.kind == "KeyPress")
        assert sorted(pressed.values()) == [STEPS] * len(POINTS)
