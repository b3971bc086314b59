"""Kills at random moments while a machine is recorded, beside a witness of what happens there.

Through one of two nodes after another, one input follows the other: clicks and texts alone and
several in one request, under keys, and clicks by hand.  Meanwhile the machine client, the node that
records, the other one, MongoDB's primary or NATS is killed, and started again.
"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from schemas.steps.step import GAP
from tests.batches import Violation
from tests.end_to_end.system import is_final
from tests.faults.arrivals import Kind, Place
from tests.faults.history import Clock
from tests.faults.inputs import place_of
from tests.faults.recording_judge import (
    SAFE_SECONDS,
    Broken,
    Input,
    Kill,
    Recorded,
    Victim,
    judged,
)
from tests.faults.stalls import StallWatch
from tests.faults.supervised_process import SupervisedProcess
from tests.faults.world import World
from tests.hand_client import SUBPROTOCOL, button, hand_path, move
from tests.processes import Answer, ServedApi, until

BEFORE: Final = (1.1, 2.0)
"""Seconds of inputs before a kill: some of them have to be safe by then."""

AFTER: Final = 2
"""Rounds of inputs after it."""

PAUSES: Final = (0.0, 0.0, 0.02, 0.2)
"""Seconds between two of them."""

HAND_SECONDS: Final = 5.0
"""For a hand to be told that what it did has its end."""

PROGRESS_EVERY: Final = 10
NO_ANSWER: Final = OSError, http.client.HTTPException


@dataclass(frozen=True)
class RecordingPlan:
    """How many recordings, how many kills under each, and what chooses their moments."""

    recordings: int
    seed: int
    kills: int = 1


@dataclass
class RecordingKills:
    """What came of it."""

    kills: Counter[str] = field(default_factory=Counter)
    recordings: int = 0
    answered: int = 0
    steps: int = 0
    gaps: int = 0
    missing: int = 0
    """Inputs that were answered less than a second before the kill of the node that recorded."""
    lost_seconds: float = 0.0
    """How long before such a kill the earliest of them was answered."""
    stalled_seconds: float = 0.0
    """How long the database stood still, at most, beside the second before such a kill."""
    wrong: list[Violation] = field(default_factory=list)

    def add(self, recorded: Recorded) -> list[Violation]:
        """Judge one more; what is broken in it."""
        self.recordings += 1
        self.kills.update(kill.victim for kill in recorded.kills)
        self.answered += sum(each.answered_at is not None for each in recorded.inputs)
        self.steps += len(recorded.steps)
        self.gaps += sum(step["operation"] == GAP for step in recorded.steps)
        self.missing += len(recorded.missing)
        self.lost_seconds = max(self.lost_seconds, recorded.lost_seconds)
        of_recorders = (kill for kill in recorded.kills if kill.victim is Victim.RECORDER)
        stalls = (kill.stalled_seconds for kill in of_recorders)
        self.stalled_seconds = max((self.stalled_seconds, *stalls))
        broken = [*judged(recorded)]
        self.wrong += broken
        return broken

    def table(self) -> str:
        """The run as a table of plain text."""
        counts = Counter(violation.broken for violation in self.wrong)
        rows: list[tuple[str, int] | None] = [
            *sorted(self.kills.items()),
            None,
            ("recordings", self.recordings),
            ("clicks and texts that were answered", self.answered),
            ("steps", self.steps),
            ("gaps among them", self.gaps),
            ("answered in the last second of a node, and missing", self.missing),
            ("milliseconds before its end, the earliest of them", round(self.lost_seconds * 1000)),
            (
                "milliseconds that the database stood still then, at most",
                round(self.stalled_seconds * 1000),
            ),
            None,
            *((broken.value, counts[broken]) for broken in Broken),
        ]
        width = max(len(row[0]) for row in rows if row)
        rule = "-" * (width + 8)
        return "\n".join(rule if row is None else f"{row[0]:{width}} {row[1]:7}" for row in rows)


def measure(
    plan: RecordingPlan, directory: Path, say: Callable[[str], None] = print, *, members: int = 3
) -> RecordingKills:
    """Record so often, with a MongoDB of so many members; what came of it."""
    kills, rng = RecordingKills(), random.Random(plan.seed)
    victims = _victims(rng)
    clock = Clock()
    with (
        World.running(directory, clock, machines=1, nodes=2, members=members) as world,
        closing(_Bench(world, clock, rng)) as bench,
    ):
        for number in range(plan.recordings):
            under_it = [next(victims) for _ in range(plan.kills)]
            for violation in kills.add(bench.record(f"recording {number}", under_it)):
                say(f"{violation.broken}: {violation.detail}")
            if (number + 1) % PROGRESS_EVERY == 0:
                say(f"{number + 1} recordings, {len(kills.wrong)} promises broken")
    return kills


def _victims(rng: random.Random) -> Iterator[Victim]:
    """Each comes before any comes again."""
    while True:
        yield from rng.sample([*Victim], len(Victim))


class _Bench:
    """Records the one machine of a world, and kills what it consists of."""

    def __init__(self, world: World, clock: Clock, rng: random.Random) -> None:
        self._world, self._clock, self._rng = world, clock, rng
        self._apis = [ServedApi(node.server.url, world.token) for node in world.nodes]
        (self._machine,) = world.machines
        self._stalls = StallWatch(world.replica_set.uri, clock)
        self._numbers = count()
        self._seen = 0

    def close(self) -> None:
        self._stalls.close()
        for api in self._apis:
            api.close()

    def record(self, name: str, victims: Sequence[Victim]) -> Recorded:
        """One recording, and kills under it."""
        recorded = Recorded(name)
        machine = self._machine.name
        recording = self._call("POST", f"/v1/machines/{machine}/recordings", {"name": name})
        for victim in victims:
            self._work_until_killed(victim, recorded)
            for _ in range(AFTER):
                recorded.inputs += self._inputs()
            self._is_whole()
        path = f"/v1/recordings/{recording['id']}"
        until(lambda: self._is_stopped(path), f"{name} is stopped")
        trajectory = self._call("GET", f"/v1/trajectories/{recording['trajectory_id']}")
        recorded.steps = trajectory["trajectory_data"]
        recorded.pressed = self._pressed()
        return recorded

    def _work_until_killed(self, victim: Victim, recorded: Recorded) -> None:
        process = self._process_of(victim)
        starts = process.starts
        killing = threading.Timer(
            self._rng.uniform(*BEFORE), lambda: recorded.kills.append(self._killed(victim, process))
        )
        killing.start()
        while killing.is_alive():
            recorded.inputs += self._inputs()
            time.sleep(self._rng.choice(PAUSES))
        killing.join()
        until(lambda: process.starts > starts, f"it is started again: {victim}")

    def _killed(self, victim: Victim, process: SupervisedProcess) -> Kill:
        began_at = self._clock()
        stalled_seconds = self._stalls.before(began_at, SAFE_SECONDS)
        until(process.kill, victim)
        return Kill(victim, began_at, self._clock(), stalled_seconds)

    def _process_of(self, victim: Victim) -> SupervisedProcess:
        match victim:
            case Victim.CLIENT:
                return self._machine.process
            case Victim.DATABASE:
                until(self._world.replica_set.primary, "there is a primary")
                primary = self._world.replica_set.primary()
                assert primary is not None
                return primary.process
            case Victim.BUS:
                assert self._world.nats is not None
                return self._world.nats.process
        recorder = self._call("GET", f"/v1/machines/{self._machine.name}")["node"]
        (found,) = (
            node
            for node in self._world.nodes
            if (node.name == recorder) is (victim is Victim.RECORDER)
        )
        return found.process

    def _inputs(self) -> list[Input]:
        """Do some more, in one of the ways, until it is known what became of it."""
        return self._rng.choice((self._click, self._text, self._several, self._by_hand))()

    def _click(self) -> list[Input]:
        number, place = self._next()
        answer, sent_at = self._answer("input/mouse/click", place._asdict())
        return [Input(number, place, sent_at, self._clock() if answer.status == 200 else None)]

    def _text(self) -> list[Input]:
        number = next(self._numbers)
        answer, sent_at = self._answer("input/keyboard/type", {"text": "some text"})
        if answer.status != 200:
            return [Input(number, None, sent_at)]
        return [Input(number, answer.json["command_id"], sent_at, self._clock())]

    def _several(self) -> list[Input]:
        places = [self._next() for _ in range(3)]
        actions = [{"operation": "mouse.click", **place._asdict()} for _, place in places]
        answer, sent_at = self._answer("actions", {"actions": actions})
        at, told = self._clock(), answer.json.get("actions") or [{"status": "unknown"}] * 3
        return [
            Input(number, place, sent_at, at if each["status"] == "completed" else None)
            for (number, place), each in zip(places, told, strict=True)
        ]

    def _by_hand(self) -> list[Input]:
        """Clicks of somebody with control, for as long as that works."""
        inputs: list[Input] = []
        path = f"/v1/machines/{self._machine.name}/control"
        lease = self._call("POST", path, {"take_over": True})["id"]
        with suppress(OSError, WebSocketException):
            self._clicks_by_hand(lease, inputs)
        until(lambda: self._has_given_back(f"{path}/{lease}"), "control is given back")
        return inputs

    def _clicks_by_hand(self, lease: str, inputs: list[Input]) -> None:
        port = self._rng.choice(self._world.ports())
        with connect(
            f"ws://127.0.0.1:{port}{hand_path(self._machine.name, lease)}",
            additional_headers={"Authorization": f"Bearer {self._world.token}"},
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            proxy=None,
            open_timeout=HAND_SECONDS,
            close_timeout=HAND_SECONDS,
            ping_interval=None,
        ) as hand:
            for sequence in range(1, 4):
                number, place = self._next()
                at = place._asdict()
                inputs.append(Input(number, place, self._clock()))
                events = [move(*place), button(True, **at), button(False, **at)]
                hand.send(json.dumps({"sequence": sequence, "events": events}))
                acknowledged = 0
                while acknowledged < sequence:
                    told = json.loads(hand.recv(HAND_SECONDS))
                    if told["type"] == "refused":
                        return
                    acknowledged = told["sequence"]
                inputs[-1] = Input(number, place, inputs[-1].sent_at, self._clock())

    def _next(self) -> tuple[int, Place]:
        number = next(self._numbers)
        return number, place_of(number)

    def _answer(self, what: str, body: Mapping[str, Any]) -> tuple[Answer, float]:
        """The final answer to an input under a key, and when that was asked for."""
        key, answers, sent_at = {"Idempotency-Key": str(uuid4())}, list[Answer](), 0.0
        path = f"/v1/computer/{self._machine.name}/{what}"

        def ends() -> bool:
            nonlocal sent_at
            sent_at = self._clock()
            with suppress(*NO_ANSWER):
                answers.append(self._rng.choice(self._apis).call("POST", path, body, key))
                return is_final(answers[-1])
            return False

        until(ends, f"the answer to {what} is final")
        return answers[-1], sent_at

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        """What any node answers, once one does what is asked."""
        answers: list[Answer] = []

        def has_answer() -> bool:
            with suppress(*NO_ANSWER):
                answers.append(self._rng.choice(self._apis).call(method, path, body))
                return answers[-1].status < 300
            return False

        until(has_answer, f"{method} {path}")
        return answers[-1].json

    def _has_given_back(self, path: str) -> bool:
        with suppress(*NO_ANSWER):
            return self._rng.choice(self._apis).call("DELETE", path).status in (204, 409)
        return False

    def _is_stopped(self, path: str) -> bool:
        """Stop a recording, unless it is."""
        if self._call("GET", path)["state"] == "stopped":
            return True
        with suppress(*NO_ANSWER):
            self._rng.choice(self._apis).call("POST", f"{path}/stop")
        return False

    def _is_whole(self) -> None:
        """Wait until all parts do their work again."""
        self._world.replica_set.wait_until_whole()
        until(self._world.is_online, "the machine is online")

    def _pressed(self) -> list[Place]:
        """Where the button went down since the last time."""
        arrivals = self._machine.desktop.arrivals()
        fresh, self._seen = arrivals[self._seen :], len(arrivals)
        return [each.place for each in fresh if (each.kind, each.what) == (Kind.PRESS, "left")]
