"""Many runs that one request begins, on many machines of two nodes, one of which is killed."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any, Final

from tests.faults.world import World
from tests.processes import ServedApi, until
from tests.run_kills.desk import Desk
from tests.run_kills.orders import Act, approved
from tests.run_kills.victims import Victim, process_of

PRESSED: Final = (1, 2, 4, 5)
"""The rows that every run presses, in this order: a form that is not emptied takes them again."""

STILL_SECONDS: Final = 180.0
"""Without a step by any run, after which nobody waits any longer."""

POLL_SECONDS: Final = 1.0
SAID_EVERY_SECONDS: Final = 10.0


@dataclass
class Together:
    """What came of it."""

    machines: int
    killed: str = "nobody"
    statuses: Counter[str] = field(default_factory=Counter)
    pressed: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def table(self) -> str:
        """All of it, as plain text."""
        ended = ", ".join(f"{count} {status}" for status, count in self.statuses.items())
        return (
            f"{self.statuses.total()} runs on {self.machines} machines, {self.killed} was killed: "
            f"{ended}; {self.pressed} steps in the forms' records, {len(self.wrong)} promises "
            f"broken, {self.seconds:.0f} s"
        )


def run_together(
    number: int, seed: int, world: World, desks: Sequence[Desk], say: Callable[[str], None] = print
) -> Together:
    """Begin so many runs at once, kill a node when half of them have ended; what came of it.

    Whoever interrupts it is told what came of it until then.
    """
    came, began = Together(len(desks)), time.monotonic()
    numbers = [desk.begin() for desk in desks]
    watched = _Watched(_begun(number, world, desks), world, say)
    with suppress(KeyboardInterrupt):
        if watched.until_ended(number // 2):
            node = process_of(Victim.NODE, world, desks[0], random.Random(seed))
            assert node.kill()
            came.killed = node.name
            say(f"{node.name} is killed")
            watched.until_ended(number)
    came.seconds = time.monotonic() - began
    came.statuses.update(_status(run) for run in watched.runs)
    came.wrong += _unended(watched.runs)
    for desk, of_desk in zip(desks, numbers, strict=True):
        ended = [run["status"] for run in watched.runs if run["machine_id"] == desk.name]
        rows = [each.row for each in desk.entered(of_desk)]
        came.pressed += len(rows)
        wanted = [*PRESSED] * len(ended)
        if rows != (wanted if {*ended} == {"success"} else wanted[: len(rows)]):
            came.wrong.append(f"{desk.name} has {rows} of {len(ended)} runs")
    if len(watched.runs) < number:
        came.wrong.append(f"there are {len(watched.runs)} runs of {number}")
    try:
        until(lambda: all(node.is_awake for node in world.nodes), "both nodes are there")
    except AssertionError as error:
        came.wrong.append(str(error))
    return came


def _begun(number: int, world: World, desks: Sequence[Desk]) -> str:
    """The trajectory of so many runs, which one request has begun."""
    api = ServedApi(world.active.server.url, world.token)
    trajectory = approved(api, desks[0].name, [Act(row) for row in PRESSED])
    names = islice(cycle(desk.name for desk in desks), number)
    items = [{"trajectory_id": trajectory, "machine_id": name} for name in names]
    begun = api.call("POST", "/v1/runs/bulk", {"items": items})
    assert begun.status == 200, begun.body
    api.close()
    return trajectory


class _Watched:
    """The runs of a trajectory, as they were seen last."""

    def __init__(self, trajectory: str, world: World, say: Callable[[str], None]) -> None:
        self.runs: list[Any] = []
        self._trajectory, self._world, self._say = trajectory, world, say

    def until_ended(self, number: int) -> bool:
        """Wait until so many have ended, or none goes on any more; whether they have.

        Nobody has a halted one go on here, so its machine does no other meanwhile.
        """
        clock = time.monotonic
        come, give_up_at, say_at = -1, clock() + STILL_SECONDS, clock()
        while clock() < give_up_at:
            self.runs = _runs(self._world, self._trajectory) or self.runs
            ended = sum(run["ended_at"] is not None for run in self.runs)
            if clock() >= say_at or ended >= number:
                self._tell(ended)
                say_at = clock() + SAID_EVERY_SECONDS
            if ended >= number:
                return True
            if (so_far := sum(run["step"] for run in self.runs)) != come:
                come, give_up_at = so_far, clock() + STILL_SECONDS
            time.sleep(POLL_SECONDS)
        self._say(f"no run has done a step for {STILL_SECONDS:g} s")
        return False

    def _tell(self, ended: int) -> None:
        halted = Counter(run["halted"]["reason"] for run in self.runs if run["halted"])
        said = "".join(f", {count} halted: {reason}" for reason, count in halted.items())
        self._say(f"{ended} runs have ended{said}")


def _status(run: Any) -> str:
    return "halted" if run["halted"] else run["status"]


def _unended(runs: Sequence[Any]) -> Iterator[str]:
    """What is wrong with runs that have not ended well, those that are halted first."""
    for run in sorted(runs, key=lambda run: run["halted"] is None):
        at = f"{run['id']} on {run['machine_id']}"
        if (halt := run["halted"]) is not None:
            yield f"{at} is halted at step {run['step']}, {halt['reason']}: {halt['detail']}"
        elif run["status"] != "success":
            yield f"{at} is {run['status']} at step {run['step']}: {run['error'] or 'no end yet'}"


def _runs(world: World, trajectory: str) -> list[Any]:
    """All runs of it; none where the node that is asked has just been killed."""
    api = ServedApi(f"http://127.0.0.1:{random.choice(world.ports())}", world.token)
    try:
        answer = api.call("GET", "/v1/runs?limit=1000")
    except OSError:
        return []
    finally:
        api.close()
    found = answer.json["items"] if answer.status == 200 else []
    return [each for each in found if each["trajectory_id"] == trajectory]
