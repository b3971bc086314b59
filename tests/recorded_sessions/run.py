"""Sessions that are recorded and sent again, and whether they leave the same behind."""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from schemas.steps.step import GAP
from tests.browser.rig import Site, chromium, served
from tests.desktop import virtual_display
from tests.end_to_end.system import Workstation
from tests.recorded_sessions.places import HEIGHT, WIDTH, opened
from tests.recorded_sessions.plan import ACTIONS, Doing, plan
from tests.recorded_sessions.ways import ByInputs, BySeveral, Way, hand_on, send

KINDS: Final = ("editor", "form", "terminal")
WAYS: Final = ("hand", "inputs", "several")

LONGEST_PAUSE: Final = 3.0
"""Seconds that are waited before a step, however long it took to come."""

CORNER: Final = {"x": WIDTH - 1, "y": HEIGHT - 1}


@dataclass
class Session:
    """What was done, and what it left behind the first time and when it was sent again.

    Where that differs, ``repeated`` is what the same left that was done once more as it was at
    first: what is otherwise there too is no matter of the recording.
    """

    seed: str
    doings: Sequence[Doing]
    steps: list[dict[str, Any]] = field(default_factory=list)
    first: Any = None
    again: Any = None
    repeated: Any = None
    why: str = ""

    @property
    def differs(self) -> bool:
        """Whether anything is otherwise, or could not be sent."""
        return bool(self.why) or self.first != self.again

    @property
    def is_uncertain(self) -> bool:
        """Whether the program came to something else by the same, once more."""
        return self.differs and self.first != self.repeated

    def table(self) -> str:
        """All of it, for a person."""
        done = [json.dumps({"pause": each.pause, **each.action}) for each in self.doings]
        kept = ("operation", "after_ms", "body", "secret")
        steps = [
            json.dumps({name: each[name] for name in kept if name in each}) for each in self.steps
        ]
        return "\n".join(
            [
                f"{self.seed} {self.why or 'leaves something else behind'}",
                *(f"  done  {each}" for each in done),
                *(f"  step  {each}" for each in steps),
                f"  first {json.dumps(self.first, ensure_ascii=False)}",
                f"  again {json.dumps(self.again, ensure_ascii=False)}",
                f"  once more {json.dumps(self.repeated, ensure_ascii=False)}",
            ]
        )


Told = Callable[[Session], object]


@dataclass
class Outcome:
    """The sessions there were."""

    sessions: list[Session] = field(default_factory=list)

    @property
    def different(self) -> list[Session]:
        return [each for each in self.sessions if each.differs]

    def summary(self) -> str:
        """How many of each kind and way, and how many differ."""
        steps = sum(len(each.steps) for each in self.sessions)
        uncertain = sum(each.is_uncertain for each in self.sessions)
        lines = [
            f"{len(self.sessions)} sessions, {steps} steps, {len(self.different)} differ",
            f"  {uncertain} of these also where the same was done once more",
        ]
        for way in WAYS:
            those = [each for each in self.sessions if each.seed.split()[1] == way]
            differ = sum(each.differs for each in those)
            lines.append(f"  by {way}: {len(those)}, {differ} differ")
        return "\n".join(lines)


class Worked:
    """A machine, and the way in which it is worked."""

    def __init__(self, machine: Workstation, way: Way) -> None:
        self.machine = machine
        self.way = way

    def session(self, number: int, actions: int = ACTIONS) -> Session:
        """Do something while it is recorded, and send what was recorded again."""
        kind = kind_of(number)
        seed = f"{number} {way_of(number)} {kind}"
        with self._opened(kind) as place:
            session = Session(seed, plan(seed, kind, place.spots(), actions))
            path = f"/v1/machines/{self.machine.machine}/recordings"
            recording = self._called("POST", path, {"keep_texts": True, "name": seed})
            self.way.do(session.doings, random.Random(seed))
            self._called("POST", f"/v1/recordings/{recording['id']}/stop")
            session.first = place.holds()
        trajectory = self._called("GET", f"/v1/trajectories/{recording['trajectory_id']}")
        session.steps = trajectory["trajectory_data"]
        session.why = next(filter(None, map(_why_not, session.steps)), "")
        if not session.why:
            with self._opened(kind) as place:
                place.spots()
                for step in session.steps:
                    time.sleep(min(step.get("after_ms", 0) / 1000, LONGEST_PAUSE))
                    send(self.machine, step["operation"], step["body"])
                session.again = place.holds()
        if session.differs:
            with self._opened(kind) as place:
                place.spots()
                self.way.do(session.doings, random.Random(seed))
                session.repeated = place.holds()
        return session

    @contextmanager
    def _opened(self, kind: str) -> Iterator[Any]:
        send(self.machine, "mouse.move", CORNER)
        with opened(kind, self.machine.display, self.machine.directory) as place:
            yield place

    def _called(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        answer = self.machine.api.call(method, path, body)
        assert answer.status in (200, 201), answer.body
        return answer.json


def measured(
    directory: Path,
    numbers: Sequence[int],
    actions: int = ACTIONS,
    *,
    told: Told = lambda _: None,
    **settings: str,
) -> Outcome:
    """The sessions of these numbers: each way has its share of them, on a machine of its own.

    ``told`` is told of each that is over, ``settings`` are the server's.
    """
    outcome = Outcome()
    directory.mkdir(exist_ok=True)
    shares = {way: [each for each in numbers if way_of(each) == way] for way in WAYS}
    with served(directory / "server", **settings) as site, ExitStack() as stack:
        machines = {
            way: stack.enter_context(_machine(site, directory)) for way in WAYS if shares[way]
        }

        def share(way: str, worked: Worked) -> None:
            for number in shares[way]:
                outcome.sessions.append(worked.session(number, actions))
                told(outcome.sessions[-1])

        threads = stack.enter_context(ThreadPoolExecutor())
        shared = [
            threads.submit(share, way, Worked(machines[way], own(machines[way])))
            for way, own in (("inputs", ByInputs), ("several", BySeveral))
            if way in machines
        ]
        if "hand" in machines:
            # A browser is driven in this thread.
            with chromium() as browser, hand_on(browser, site, machines["hand"]) as hand:
                share("hand", Worked(machines["hand"], hand))
        for each in shared:
            each.result()
    return outcome


def way_of(number: int) -> str:
    """Each way is taken in turn."""
    return WAYS[number % len(WAYS)]


def kind_of(number: int) -> str:
    """And by each way each kind of program."""
    return KINDS[number // len(WAYS) % len(KINDS)]


@contextmanager
def _machine(site: Site, directory: Path) -> Iterator[Workstation]:
    with virtual_display(f"{WIDTH}x{HEIGHT}x24") as display:
        machine = Workstation.added(site.server.url, site.api, display, directory)
        # Who is halted for a moment has not lost its link.
        with machine.joined(heartbeat="20"):
            yield machine


def _why_not(step: Mapping[str, Any]) -> str:
    """Why a step cannot be sent again; nothing where it can."""
    if step["operation"] == GAP:
        return f"has a gap: {step['body']['reason']}"
    return "has a secret" if step.get("secret") else ""
