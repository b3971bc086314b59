# Made of farhand/_async by client/unasync.py: change it there.
"""Runs: approved trajectories, done again on machines."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from farhand._run_types import RunStatus
from farhand._sync.connection import Connection
from farhand._sync.lists import Lists
from farhand._waiting import sleep
from farhand.types import BulkRuns, NewRun, Run, RunWithSteps

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Between two looks at a run, in seconds."""


class BegunRun:
    """A run that was begun: ``run`` is how it was then."""

    def __init__(self, runs: "Runs", run: RunWithSteps) -> None:
        self._runs = runs
        self.run = run

    @property
    def id(self) -> UUID:
        """Its id."""
        return self.run.id

    def wait(self, *, timeout: float | None = None, halts: bool = False) -> RunWithSteps:
        """Wait until it has ended; see `Runs.wait`."""
        return self._runs.wait(self.id, timeout=timeout, halts=halts)


class Runs:
    """Approved trajectories, done again on machines."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        *,
        workflow: UUID | str | None = None,
        trajectory: UUID | str | None = None,
        machine: str | None = None,
        pools: Sequence[UUID | str] | None = None,
        values: Mapping[str, str] | None = None,
        sensitive_values: Mapping[str, str] | None = None,
        priority: int | None = None,
        halt_timeout: int | None = None,
        key: str | None = None,
    ) -> BegunRun:
        """Begin a run of a workflow's main trajectory, or of one trajectory.

        It waits for its turn on the ``machine``, or on whichever machine of the ``pools`` is free
        first.  A program that is started again and begins it under the same ``key`` gets the run
        that it began before.  Its ``wait`` waits for its end.
        """
        new = NewRun(
            workflow=workflow,
            trajectory=trajectory,
            machine=machine,
            pools=pools,
            values=values,
            sensitive_values=sensitive_values,
            priority=priority,
            halt_timeout=halt_timeout,
        )
        return self._begun("/v1/runs", _body_of(new), key)

    def create_many(
        self, runs: Sequence[NewRun], *, all_or_none: bool = False, key: str | None = None
    ) -> BulkRuns:
        """Begin up to 1,000 runs, each as `create` does; one that cannot be run stops no other.

        With ``all_or_none`` none of them begins where one would be refused.
        Under the same ``key`` all of them are begun once, as if they were one.  The answer says of
        each, in their order, its ``run_id``, or why it was refused.
        """
        key = key or str(uuid4())
        body: dict[str, Any] = {"items": [_body_of(new) for new in runs]}
        if all_or_none:
            body["all_or_none"] = True
        reply = self._connection.send("POST", "/v1/runs/bulk", json=body, key=key)
        return self._connection.parsed(BulkRuns, reply, key)

    def retry(
        self,
        run_id: UUID | str,
        *,
        sensitive_values: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> BegunRun:
        """Begin a run that has ended once more, with the same content and values.

        Its secrets were erased at its end, and have to be given again.
        """
        body = {"sensitive_input_values": dict(sensitive_values or {})}
        return self._begun(f"/v1/runs/{run_id}/retry", body, key)

    def wait(
        self, run_id: UUID | str, *, timeout: float | None = None, halts: bool = False
    ) -> RunWithSteps:
        """Wait until a run has ended, or with ``halts`` is halted, and somebody has to look.

        With a ``timeout`` in seconds it is answered as it is then.
        """
        give_up_at = None if timeout is None else time.monotonic() + timeout
        pause = FIRST_PAUSE
        while True:
            found = self.get(run_id)
            if found.ended_at is not None or (halts and found.halted is not None):
                return found
            if give_up_at is not None and time.monotonic() >= give_up_at:
                return found
            sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def list(
        self,
        *,
        status: RunStatus | None = None,
        machine_id: str | None = None,
        workflow_id: UUID | str | None = None,
        limit: int | None = None,
    ) -> Iterator[Run]:
        """All, or the first ``limit``, newest first."""
        asked = {
            "status": status,
            "machine_id": machine_id,
            "workflow_id": workflow_id and str(workflow_id),
        }
        given = {name: value for name, value in asked.items() if value is not None}
        return Lists(self._connection).items(Run, "/v1/runs", given, limit)

    def get(self, run_id: UUID | str) -> RunWithSteps:
        """One run, with what became of each step that is behind it."""
        return self._connection.call(RunWithSteps, "GET", f"/v1/runs/{run_id}")

    def cancel(self, run_id: UUID | str) -> RunWithSteps:
        """End a run: what it does on its machine is interrupted."""
        path = f"/v1/runs/{run_id}/cancel"
        return self._connection.call(RunWithSteps, "POST", path, is_repeatable=True)

    def resume(
        self,
        run: Run | UUID | str,
        *,
        at_step: int | None = None,
        skip: bool = False,
        place: tuple[int, int] | None = None,
        element: Mapping[str, Any] | None = None,
        by_hand: UUID | str | None = None,
    ) -> RunWithSteps:
        """Have a halted run go on: where it is, at a later step, or behind it with ``skip``.

        Whoever decides about a step gives the ``run`` as it was read: where it has gone on since,
        and is halted anew, nothing is done.  With its id alone it goes on where it is.

        A repair says what the step is done to now, by a ``place`` of the screen or an ``element``;
        or, with ``skip``, ``by_hand`` is the trajectory in which it was recorded how somebody did
        it.  It is proposed as a new version, the run's ``proposal_id``.  Raises
        :class:`farhand.WrongState` where that is so, or somebody else was faster.
        """
        run_id, halted = (run.id, run.halted) if isinstance(run, Run) else (run, None)
        body: dict[str, Any] = {
            "halted_at": halted and halted.at.isoformat(),
            "at_step": at_step,
            "skip": skip,
            "place": place and {"x": place[0], "y": place[1]},
            "element": element and dict(element),
            "by_hand": by_hand and str(by_hand),
        }
        path = f"/v1/runs/{run_id}/continue"
        given = {name: value for name, value in body.items() if value is not None}
        return self._connection.call(RunWithSteps, "POST", path, given)

    def _begun(self, path: str, body: Mapping[str, Any], key: str | None) -> BegunRun:
        key = key or str(uuid4())
        reply = self._connection.send("POST", path, json=body, key=key)
        run = self._connection.parsed(RunWithSteps, reply, key)
        return BegunRun(self, run)


def _body_of(new: NewRun) -> dict[str, Any]:
    """What the server is asked for.  Raises ValueError for a name that a run does not have."""
    if unknown := new.keys() - NewRun.__annotations__.keys():
        raise ValueError(f"a run has no {', '.join(sorted(unknown))}")
    workflow, trajectory, pools = new.get("workflow"), new.get("trajectory"), new.get("pools")
    values, sensitive_values = new.get("values"), new.get("sensitive_values")
    asked = {
        "workflow_id": workflow and str(workflow),
        "trajectory_id": trajectory and str(trajectory),
        "machine_id": new.get("machine"),
        "pool_ids": pools and [str(each) for each in pools],
        "input_values": values and dict(values),
        "sensitive_input_values": sensitive_values and dict(sensitive_values),
        "priority": new.get("priority"),
        "halt_timeout": new.get("halt_timeout"),
    }
    return {name: value for name, value in asked.items() if value is not None}
