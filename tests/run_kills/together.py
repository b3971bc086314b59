"""Many runs that one request begins, on many machines of two nodes, one of which is killed."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
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

END_SECONDS: Final = 1200.0
POLL_SECONDS: Final = 1.0


@dataclass
class Together:
    """What came of it."""

    machines: int
    statuses: Counter[str] = field(default_factory=Counter)
    pressed: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def table(self) -> str:
        """All of it, as plain text."""
        ended = ", ".join(f"{count} {status}" for status, count in self.statuses.items())
        return (
            f"{self.statuses.total()} runs on {self.machines} machines, a node killed: {ended}; "
            f"{self.pressed} steps in the forms' records, {len(self.wrong)} promises broken, "
            f"{self.seconds:.0f} s"
        )


def run_together(
    number: int, seed: int, world: World, desks: Sequence[Desk], say: Callable[[str], None] = print
) -> Together:
    """Begin so many runs at once, kill a node when half of them have ended; what came of it."""
    came, began = Together(len(desks)), time.monotonic()
    api = ServedApi(world.active.server.url, world.token)
    numbers = [desk.begin() for desk in desks]
    trajectory = approved(api, desks[0].name, [Act(row) for row in PRESSED])
    names = islice(cycle(desk.name for desk in desks), number)
    items = [{"trajectory_id": trajectory, "machine_id": name} for name in names]
    begun = api.call("POST", "/v1/runs/bulk", {"items": items})
    assert begun.status == 200, begun.body
    api.close()
    _until_ended(trajectory, number // 2, world, say)
    killed = process_of(Victim.NODE, world, desks[0], random.Random(seed))
    assert killed.kill()
    say(f"{killed.name} is killed")
    for each in _until_ended(trajectory, number, world, say):
        came.statuses[each["status"]] += 1
        if each["status"] != "success":
            came.wrong.append(f"{each['id']} ended as {each['status']}: {each['error']}")
    for desk, of_desk in zip(desks, numbers, strict=True):
        runs = sum(item["machine_id"] == desk.name for item in items)
        rows = [each.row for each in desk.entered(of_desk)]
        came.pressed += len(rows)
        if rows != [*PRESSED] * runs:
            came.wrong.append(f"{desk.name} has {rows} of {runs} runs")
    until(lambda: all(node.is_awake for node in world.nodes), "both nodes are there")
    came.seconds = time.monotonic() - began
    return came


def _until_ended(
    trajectory: str, number: int, world: World, say: Callable[[str], None]
) -> list[Any]:
    """All runs of it, once so many of them have ended."""
    runs: list[Any] = []

    def have_ended() -> bool:
        runs[:] = _runs(world, trajectory) or runs
        ended = sum(each["ended_at"] is not None for each in runs)
        halted = [each["halted"]["reason"] for each in runs if each["halted"]]
        say(f"{ended} runs have ended, {len(halted)} are halted {sorted(set(halted))}")
        time.sleep(POLL_SECONDS)
        # Nobody has a halted one go on here.
        return bool(runs) and ended + len(halted) >= min(number, len(runs))

    until(have_ended, f"{number} runs have ended", END_SECONDS)
    return runs


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
