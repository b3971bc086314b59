"""Kills at random moments while several actions under a key are carried out, beside a witness.

Each time two batches are sent at once, and server or machine client is killed when so many events
have been seen; every other kill of a machine client takes what its journal had not flushed.  What
both answers say in the end is held against all that the witness saw.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from tests import power_cuts
from tests.batches import Act, Broken, Violation, bodies, broken, five, seen_of, whole, with_pause
from tests.desktop import DeviceEvent, Witness
from tests.end_to_end.system import Workstation, final_of, is_final
from tests.processes import Answer, Program, ServerProcess, kind_of

BATCHES_AT_ONCE = 2
LONGEST_PAUSE = 0.03
LATEST_SECONDS = 0.01
"""After the event that a kill waits for, at most."""

PROGRESS_EVERY = 25

SERVER, CLIENT, CUT = "server killed", "machine client killed", "machine client's power cut"


@dataclass(frozen=True)
class KillPlan:
    """How many kills, and what chooses their moments."""

    kills: int
    seed: int


@dataclass
class Kills:
    """What came of it."""

    kills: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    wrong: list[Violation] = field(default_factory=list)
    cut_short: int = 0
    """Batches of which some actions happened, and not all."""

    def table(self) -> str:
        """The run as a table of plain text."""
        counts = Counter(violation.broken for violation in self.wrong)
        rows: list[tuple[str, int] | None] = [
            *sorted(self.kills.items()),
            None,
            ("batches", self.answers.total()),
            ("batches that were cut short", self.cut_short),
            *sorted((f"answered with {kind}", count) for kind, count in self.answers.items()),
            *sorted((f"actions told as {status}", count) for status, count in self.actions.items()),
            None,
            *((each.value, counts[each]) for each in Broken),
        ]
        width = max(len(row[0]) for row in rows if row)
        rule = "-" * (width + 8)
        return "\n".join(rule if row is None else f"{row[0]:{width}} {row[1]:7}" for row in rows)


def measure(
    plan: KillPlan,
    directory: Path,
    mongodb: str,
    display: str,
    say: Callable[[str], None] = print,
) -> Kills:
    """Kill so often, with a database of its own on a MongoDB; what came of it."""
    database = {"mongodb_uri": mongodb, "mongodb_database": f"kills-{plan.seed}"}
    server, kills = ServerProcess(directory, **database), Kills()
    with ExitStack() as stack:
        witness = stack.enter_context(closing(Witness(display)))
        bench = stack.enter_context(closing(_Bench(server, witness, display, directory)))
        for number in range(plan.kills):
            bench.kill_within_batches(number, random.Random(f"{plan.seed}/{number}"), kills)
            if (number + 1) % PROGRESS_EVERY == 0:
                say(f"{number + 1} kills, {len(kills.wrong)} promises broken")
    return kills


class _Bench:
    """A server and a machine client, each of which is killed and started again."""

    def __init__(
        self, server: ServerProcess, witness: Witness, display: str, directory: Path
    ) -> None:
        self._server, self._witness = server, witness
        self._server_runs, self._client_runs = ExitStack(), ExitStack()
        self._server_program = self._start_server()
        self._api = server.api()
        self._machine = Workstation.added(server.url, self._api, display, directory)
        self._client_program = self._start_client()

    def close(self) -> None:
        self._client_runs.close()
        self._server_runs.close()
        self._api.close()

    def kill_within_batches(self, number: int, rng: random.Random, kills: Kills) -> None:
        """Send two, kill within them, and judge what is told of them in the end."""
        batches = {
            f"kill-{number}-{each}": _batch(BATCHES_AT_ONCE * number + each, rng)
            for each in range(BATCHES_AT_ONCE)
        }
        victim = rng.choice([SERVER, CLIENT, CUT])
        begun = {
            key: self._machine.begin_to_act(bodies(acts), key) for key, acts in batches.items()
        }
        expected = sum(len(act.events) for acts in batches.values() for act in acts)
        self._witness.until_seen(rng.randrange(expected))
        time.sleep(rng.uniform(0, LATEST_SECONDS))
        self._kill(victim)
        firsts = {key: each.result() for key, each in begun.items() if each.exception() is None}
        answers = {key: self._final(key, acts) for key, acts in batches.items()}
        events = self._witness.take()
        kills.kills[victim] += 1
        for key, acts in batches.items():
            _judge(kills, acts, answers[key], events, journal_was_lost=victim is CUT)
        kills.wrong += _strays([*batches.values()], events)
        kills.wrong += _differing(firsts, answers)

    def _kill(self, victim: str) -> None:
        if victim is SERVER:
            self._server_program.kill()
            self._server_runs.close()
            self._server_program = self._start_server()
            self._machine.is_in_state("online")
            return
        self._client_program.kill()
        self._client_runs.close()
        if victim is CUT:
            power_cuts.cut_power(self._machine.directory)
        self._client_program = self._start_client()

    def _start_server(self) -> Program:
        return self._server_runs.enter_context(self._server.run())

    def _start_client(self) -> Program:
        joined = self._machine.joined(program=power_cuts.PROGRAM)
        return self._client_runs.enter_context(joined)

    def _final(self, key: str, acts: Sequence[Act]) -> Answer:
        return final_of(lambda: self._machine.act(bodies(acts), key))


def _batch(number: int, rng: random.Random) -> list[Act]:
    acts = five(number)
    if rng.random() < 0.5:
        return acts
    return with_pause(acts, rng.randrange(1, len(acts)), rng.uniform(0.001, LONGEST_PAUSE))


def _judge(
    kills: Kills,
    acts: Sequence[Act],
    answer: Answer,
    events: Sequence[DeviceEvent],
    *,
    journal_was_lost: bool,
) -> None:
    kills.wrong += broken(acts, answer, events, journal_was_lost=journal_was_lost)
    results = answer.json.get("actions") or []
    kills.answers[kind_of(answer) + ("" if results else " and no word of its actions")] += 1
    kills.actions.update(each["status"] for each in results)
    inputs = sum(bool(act.events) for act in acts)
    kills.cut_short += 0 < whole(acts, events) < inputs


def _differing(firsts: Mapping[str, Answer], answers: Mapping[str, Answer]) -> Iterator[Violation]:
    """Final answers that were given before or within the kill, and were others later."""
    for key, first in firsts.items():
        if is_final(first) and first.body != answers[key].body:
            yield Violation(Broken.OTHERWISE, f"{key} was answered otherwise before")


def _strays(batches: Sequence[Sequence[Act]], events: Sequence[DeviceEvent]) -> list[Violation]:
    """Events of no action that was sent."""
    own = frozenset().union(*(act.own for acts in batches for act in acts))
    seen = [each for each in map(seen_of, events) if each is not None]
    strays = (each for each in seen if each[1] not in own)
    return [Violation(Broken.OTHERWISE, f"{each} is of no action") for each in strays]
