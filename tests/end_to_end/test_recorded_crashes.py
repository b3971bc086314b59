"""The server is killed while it records: what was answered is among the steps, and each once."""

import time
from functools import partial
from itertools import accumulate, pairwise
from typing import Any
from uuid import uuid4

from schemas.steps.step import GAP
from tests.desktop import Witness
from tests.end_to_end.system import System, Workstation, presses
from tests.end_to_end.test_restart import came_back
from tests.processes import until

SAFE_SECONDS = 1.0
"""What was answered so long before a kill is not lost."""

STALL_SECONDS = 0.1
"""From one answer to the next: of a longer time the server, its database or their machine had no
processor, in which nobody could have written anything either."""

LATER = 700_000
"""The numbers of what is done after the kill."""


def number_of(step: dict[str, Any]) -> int:
    """The number of the place that a step clicked at."""
    return int(step["body"]["x"] + 1000 * step["body"]["y"])


def begun(workstation: Workstation) -> Any:
    """Begin a recording."""
    path = f"/v1/machines/{workstation.machine}/recordings"
    reply = workstation.api.call("POST", path, {"name": "of a crash"})
    assert reply.status == 201, reply.body
    return reply.json


def stopped(workstation: Workstation, recording: Any) -> list[dict[str, Any]]:
    """Stop a recording; its steps."""
    reply = workstation.api.call("POST", f"/v1/recordings/{recording['id']}/stop")
    assert reply.status == 200, reply.body
    path = f"/v1/trajectories/{recording['trajectory_id']}"
    steps: list[dict[str, Any]] = workstation.api.call("GET", path).json["trajectory_data"]
    return steps


def clicked(workstation: Workstation, number: int, key: str | None = None) -> float:
    """Click at a place of this number; when that was answered."""
    reply = workstation.send("mouse/click", key, x=number % 1000, y=number // 1000)
    assert reply.status == 200, reply.body
    return time.monotonic()


def ages(answered: list[float], now: float) -> list[float]:
    """How long ago each was answered, as far as inputs were answered since."""
    moments = [*answered, now]
    steps = [min(late - early, STALL_SECONDS) for early, late in pairwise(moments)]
    return [*accumulate(reversed(steps))][::-1]


def test_killed_server_loses_no_step_that_was_answered_a_second_ago(
    system: System, witness: Witness
) -> None:
    workstation = system.workstation
    recording = begun(workstation)
    answered: list[float] = []
    while not answered or ages(answered, answered[-1])[0] < 2 * SAFE_SECONDS:
        # Under a key, which the database stores: so they tell how fast that is as well.
        answered.append(clicked(workstation, len(answered), f"of-a-click-{uuid4()}"))
    killed_at = time.monotonic()
    system.program.kill()
    with system.server.run():
        came_back(system)
        again = f"of-a-retry-{uuid4()}"
        for number in range(LATER, LATER + 3):
            clicked(workstation, number)
        # The same input under the same key is one step, however often it is sent.
        for _ in range(3):
            clicked(workstation, LATER + 3, again)
        steps = stopped(workstation, recording)
    places = [number_of(step) for step in steps if step["operation"] != GAP]
    assert len(places) == len(set(places)), "there twice"
    old = [number for number, age in enumerate(ages(answered, killed_at)) if age > SAFE_SECONDS]
    assert old
    assert not set(old) - set(places), "lost"
    assert places[-4:] == [LATER, LATER + 1, LATER + 2, LATER + 3]
    gaps = [number for number, step in enumerate(steps) if step["operation"] == GAP]
    assert gaps == [len(places) - 4], "the gap stands where the server was killed"
    assert presses(witness.take()).count("ButtonPress 1") == len(answered) + 4


def test_recording_goes_on_without_a_gap_where_the_server_ends_in_order(
    system: System,
) -> None:
    workstation = system.workstation
    recording = begun(workstation)
    for x in range(4):
        clicked(workstation, x)
        # Of inputs that follow at once a busy machine has no picture in between.
        until(partial(steps_are, workstation, recording, x + 1), "the step is written")
    clicked(workstation, 4)
    assert system.program.terminate() == 0
    with system.server.run():
        came_back(system)
        clicked(workstation, 10)
        until(lambda: steps_are(workstation, recording, 6), "the step is written")
        steps = stopped(workstation, recording)
    assert [step["body"].get("x") for step in steps] == [0, 1, 2, 3, 4, 10]
    assert all(step["picture"] for step in steps[1:5])


def steps_are(workstation: Workstation, recording: Any, number: int) -> bool:
    """Whether a recording has so many steps by now."""
    path = f"/v1/recordings/{recording['id']}"
    return bool(workstation.api.call("GET", path).json["steps"] == number)
