"""Begins the runs of one machine, one after another, and helps those that are halted.

What it decides it reads in the form's record, as a person looks at the screen: of a step that is
there it says so, one that is not is to be done again, and one that was done in part is over.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from tests.processes import Answer, ServedApi
from tests.run_kills.desk import Desk, Entered
from tests.run_kills.orders import ACTS, Act

POLL_SECONDS: Final = 0.3
SETTLE_SECONDS: Final = 1.5
"""After a halt, before somebody looks: the form has heard what the machine had sent by then."""

HIDDEN: Final = 0.2
"""The part of the runs that have a row hidden, until somebody is asked."""

END_SECONDS: Final = 600.0
"""For a run under ever more kills: one that has no end by then is lost."""


@dataclass
class Halt:
    """A halt that the person saw, and what came of it; ``until`` is when that was said."""

    step: int
    reason: str
    at: float
    is_done: bool
    is_unknown: bool
    until: float = 0.0
    said: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Followed:
    """A run from its beginning to its end, and what the form's record says of it."""

    desk: str
    number: int
    id: str = ""
    view: Any = None
    halts: list[Halt] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """What was said to whoever continued it, where that was not to be refused."""
    entered: Sequence[Entered] = ()
    began: float = 0.0
    ended: float = 0.0
    _span: tuple[float, float] | None = None

    def is_in_a_step_at(self, moment: float) -> bool:
        """Whether it was working then, at any step: from the end of one to the next it is at that.

        A halted one is not.  Only of one that has ended.
        """
        if self._span is None:
            view = self.view
            self._span = time_of(view["started_at"]), time_of(view["ended_at"])
        began, ended = self._span
        is_halted = any(halt.at <= moment <= halt.until for halt in self.halts)
        return began <= moment <= ended and not is_halted


class Person:
    """One machine's, in a thread of its own; ``runs`` are those that have ended or been lost."""

    def __init__(
        self,
        desk: Desk,
        trajectory: str,
        ports: Callable[[], list[int]],
        token: str,
        hidden: float,
    ) -> None:
        self.desk = desk
        self.runs: list[Followed] = []
        self.now: Followed | None = None
        self.failure: BaseException | None = None
        self._trajectory, self._hidden = trajectory, hidden
        self._ports, self._token = ports, token
        self._is_over = threading.Event()
        self._hides = random.Random(desk.name)
        self._thread = threading.Thread(target=self._work, name=desk.name, daemon=True)

    def start(self) -> None:
        """Begin the first run."""
        self._thread.start()

    def finish(self) -> None:
        """Begin no more, and wait until the last has ended."""
        self._is_over.set()
        self._thread.join()

    @property
    def place(self) -> tuple[int, int]:
        """Which run and which step this machine is at."""
        now = self.now
        return (now.number, now.view["step"]) if now and now.view else (0, 0)

    @property
    def is_in_a_step(self) -> bool:
        """Whether its run was so when it was last looked at."""
        view = self.now and self.now.view
        return bool(view and view["status"].startswith("running") and not view["halted"])

    def _work(self) -> None:
        try:
            while not self._is_over.is_set():
                self.runs.append(self._followed())
            self.now = None
        except BaseException as failure:
            self.failure = failure
            raise

    def _followed(self) -> Followed:
        self.now = run = Followed(self.desk.name, self._begun(), began=time.time())
        new = {"trajectory_id": self._trajectory, "machine_id": self.desk.name}
        made = self._answer("POST", "/v1/runs", new, {"Idempotency-Key": str(uuid4())})
        assert made.status == 201, made.body
        run.id, run.view = made.json["id"], made.json
        while run.view["ended_at"] is None and time.time() - run.began < END_SECONDS:
            self.desk.check()
            time.sleep(POLL_SECONDS)
            run.view = self._answer("GET", f"/v1/runs/{run.id}").json
            if run.view["halted"] is not None:
                self._help(run)
        time.sleep(POLL_SECONDS)
        run.ended, run.entered = time.time(), self.desk.entered(run.number)
        return run

    def _begun(self) -> int:
        """Empty the form, now and then with a row that is not there; the run's number."""
        row = self._hides.choice(ACTS).row
        return self.desk.begin(row if self._hides.random() < self._hidden else None)

    def _help(self, run: Followed) -> None:
        """Have a halted run go on, once what is on the screen is sure."""
        halted = run.view["halted"]
        halt = Halt(
            halted["step"],
            halted["reason"],
            time_of(halted["at"]),
            halted["is_done"],
            halted["is_unknown"],
        )
        time.sleep(SETTLE_SECONDS)
        if not (self.desk.client.runs and self.desk.form.runs):
            return
        self.desk.settle(run.number)
        row = ACTS[halt.step - 1].row
        if halt.reason == "focus":
            self.desk.focus(run.number, row)
        elif halt.reason == "missing":
            self.desk.unhide(run.number, row)
        halt.said = {"halted_at": halted["at"], **self._decision(run, halt)}
        halt.until = time.time()
        answer = self._answer("POST", f"/v1/runs/{run.id}/continue", halt.said)
        if answer.status == 200:
            run.halts.append(halt)
            return
        # An answer that was lost may have been to what was done.
        run.view = self._answer("GET", f"/v1/runs/{run.id}").json
        still = run.view["halted"]
        if still is None or time_of(still["at"]) != halt.at:
            run.halts.append(halt)
        else:
            run.refused.append(f"{halt}: {answer.body!r}")

    def _decision(self, run: Followed, halt: Halt) -> dict[str, Any]:
        act = ACTS[halt.step - 1]
        is_there = any(
            each.row == act.row and (each.text is None) == (act.text is None)
            for each in self.desk.entered(run.number)
        )
        if halt.is_unknown:
            return {"skip": True} if is_there else {"at_step": halt.step}
        if halt.is_done and not is_there:
            return {"skip": True}
        return {"skip": True} if halt.is_done and self._is_partial(run, act) else {}

    def _is_partial(self, run: Followed, act: Act) -> bool:
        entered = [each.text for each in self.desk.entered(run.number) if each.row == act.row]
        return act.text is not None and entered[-1] != act.text

    def _answer(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """What any node answers that can; retried for as long as none can."""
        deadline = time.monotonic() + END_SECONDS
        while True:
            port = random.choice(self._ports())
            api = ServedApi(f"http://127.0.0.1:{port}", self._token)
            try:
                answer = api.call(method, path, body, headers)
                if answer.status < 500:
                    return answer
            except OSError:
                pass
            finally:
                api.close()
            assert time.monotonic() < deadline, f"no node answers {method} {path}"
            time.sleep(POLL_SECONDS)


def time_of(text: str) -> float:
    """A moment that an answer names."""
    return datetime.fromisoformat(text).timestamp()
