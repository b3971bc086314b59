"""The demo's run: an order is shown once, reviewed, and entered again with other values.

The form is another one by then, so that it halts and a person helps; and the node that works at it
is killed.
"""

import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from rich.console import Console
from rich.text import Text

from farhand import Farhand, NoAnswer
from farhand.types import RunWithSteps
from server.demo import DemoError
from server.demo.children import Child, Children
from server.demo.orders import MACHINE_ID, OrderDesk

RECORDED: Final = "Enter an order"
SHOWN: Final = {"Order": "4711", "Reference": "R-2044"}
VALUES: Final = {"order": "4712", "reference": "R-2045"}
RENAMED: Final = "Your reference"
SAVED: Final = "4712||R-2045"
"""What the newer form says of the order: it has a field that nobody has told the run of."""

GONE_AT: Final = 3
"""The step that is done to the field which has gone."""

SEEN_SECONDS: Final = 1.0
"""By then a recording knows what is on the screen, before and after an input."""

END_SECONDS: Final = 120.0
POLL_SECONDS: Final = 0.05


@dataclass
class Repeat:
    """A run of the demo, from the recording to its end."""

    console: Console
    children: Children
    server: Child
    farhand: Farhand
    reviewer: Farhand
    desk: OrderDesk
    _has_killed: bool = False

    def recorded(self) -> UUID:
        """Show how an order is entered; the workflow that can be run of it from then on."""
        desk, began = self.desk.desk, time.monotonic()
        workflow = self.farhand.workflows.create(RECORDED)
        with desk.record(workflow=workflow.id, name=RECORDED) as recording:
            for name, text in SHOWN.items():
                self._clicked("text", name)
                desk.type(text)
                time.sleep(SEEN_SECONDS)
            self._clicked("push button", "Save")
        trajectory = recording.trajectory_id
        steps = self.farhand.trajectories.get(trajectory).step_count
        self._say("recorded", f"{RECORDED}: {steps} steps, in {time.monotonic() - began:.0f} s")
        for number, (name, text) in zip((2, 4), SHOWN.items(), strict=True):
            parameter = {"name": name.lower(), "text": text}
            self.farhand.trajectories.change_step(trajectory, number, parameter=parameter)
        seen = {"element": {"role": "label", "name": "Saved: order *"}}
        self.farhand.trajectories.change_step(trajectory, steps, expect={"any": [seen]})
        self._say("corrected", "its texts become values, and what is to be seen at the end")
        content = self.reviewer.trajectories.get(trajectory).content_hash
        self.reviewer.trajectories.review(trajectory, "approve", content_hash=str(content))
        self.farhand.trajectories.change(trajectory, is_main=True)
        self._say("approved", "by somebody else than who has shown it")
        return workflow.id

    def _clicked(self, role: str, name: str) -> None:
        """Click as a person does: at a place, once it is known what is there."""
        desk = self.desk.desk
        time.sleep(SEEN_SECONDS)
        bounds = desk.element(role, name).bounds
        if bounds is None:
            raise DemoError(f"the form has no place for {name}")
        desk.click(bounds.x + bounds.width // 2, bounds.y + bounds.height // 2)
        time.sleep(SEEN_SECONDS)

    def halted(self, workflow: UUID) -> RunWithSteps:
        """Run it with other values, where a field has gone; the run once it is halted."""
        self.desk = self.desk.renewed()
        run = self.farhand.runs.create(workflow=workflow, machine=MACHINE_ID, values=VALUES)
        self._say("run", f"with {VALUES['order']} and {VALUES['reference']}, on a newer form")
        found = run.wait(timeout=END_SECONDS, halts=True)
        if found.halted is None or found.step != GONE_AT:
            raise DemoError(f"the run was to halt where a field has gone: {_state_of(found)}")
        self._say("halted", f"at step {found.step} of {found.step_count}: its field has gone")
        return found

    def helped(self, run: RunWithSteps) -> None:
        """Do what a person does in the console: point at the field."""
        self.reviewer.runs.resume(run, element={"role": "text", "name": RENAMED})

    def is_helped(self, run: RunWithSteps) -> bool:
        """Whether somebody has let it go on, or has ended it."""
        found = self.farhand.runs.get(run.id)
        return found.halted is None or found.ended_at is not None

    def until_end(self, run: RunWithSteps) -> RunWithSteps:
        """Follow it to its end, or to where it halts once more.

        The first time the node that works at it is killed, in the middle of a step.
        """
        found = self.farhand.runs.get(run.id)
        if found.repairs:
            repair = found.repairs[0]
            self._say("helped", f"by {repair.by}: step {repair.number} is done to another field")
        is_killed = not self._has_killed and found.ended_at is None and self._killed(run)
        self._has_killed |= is_killed
        found = self._until(lambda: self._stopped(run), "the run has ended")
        if is_killed:
            step = re.search(rf"run={run.id} goes on here at step=(\d+)", self.server.output())
            self._say("taken over", f"by another, at step {step[1]}" if step else "by nobody else")
        if found.halted is not None:
            self._say("halted", f"once more, at step {found.step}: {found.halted.reason}")
        elif why := self.why_not_right(found):
            self._say("ended", why)
        else:
            self._say("ended", "verified: the form says that it is saved, once")
        if found.ended_at is not None and found.proposal_id is not None:
            self._say("proposed", "the repair waits for a review, as a new version")
        return found

    def why_not_right(self, run: RunWithSteps) -> str | None:
        """What is wrong with how a run has ended; None where the form's own record is right."""
        if run.status != "success":
            return _state_of(run)
        if not run.steps[-1].verified or self.desk.saved() != [SAVED]:
            return f"otherwise than it should: the form has saved {self.desk.saved()}"
        return None

    def _killed(self, run: RunWithSteps) -> bool:
        """Kill the worker that works at the run, with SIGKILL; False where there is but one."""
        said = self.server.output()
        nodes = re.findall(rf"node=(\S+) .*run={run.id} (?:begins|goes on) here", said)
        ready = dict(re.findall(r"worker=(\S+) pid=(\d+) is ready", said))
        if not nodes or len(ready) < 2:
            return False
        os.kill(int(ready[nodes[-1]]), signal.SIGKILL)
        self._say("killed", f"the node {nodes[-1]} that worked at it, with SIGKILL")
        return True

    def _stopped(self, run: RunWithSteps) -> RunWithSteps | None:
        # The node that was asked may be the one that was killed.
        with suppress(NoAnswer):
            found = self.farhand.runs.get(run.id)
            return found if found.ended_at or found.halted else None
        return None

    def _until(self, find: Callable[[], RunWithSteps | None], what: str) -> RunWithSteps:
        give_up_at = time.monotonic() + END_SECONDS
        while not (found := find()):
            self.children.check()
            if time.monotonic() > give_up_at:
                raise DemoError(f"not within {END_SECONDS:g} s: {what}{self.server.last_words()}")
            time.sleep(POLL_SECONDS)
        return found

    def _say(self, done: str, what: str) -> None:
        self.console.print(Text.assemble((f"  {done:<21}", "cyan"), what), soft_wrap=True)


def _state_of(run: RunWithSteps) -> str:
    if run.halted is not None:
        return f"halted at step {run.step}: {run.halted.detail}"
    return f"{run.status}{f': {run.error}' if run.error else ''}"
