"""Kills at random moments under programs with a session, beside a witness of what happens.

A program sends the steps of one session through one of two nodes to a machine that is linked to the
second.  It, the nodes and the machine client are killed and started again, until it comes to its
end; then the next session begins.
"""

import json
import random
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import farhand
from tests import power_cuts
from tests.batches import Act, Violation, bodies
from tests.desktop import Witness
from tests.end_to_end.system import Workstation
from tests.faults import session_program
from tests.faults.session_judge import Broken, Session, judged
from tests.faults.session_plan import PROGRAMS, Places, Strike, Victim, steps, strikes
from tests.processes import Program, ServedApi, ServerProcess, environment, until

END_SECONDS = 120.0
"""For a program that nobody kills any more."""

ENDS = (session_program.DONE, session_program.FINISHED_BEFORE)
"""Exit codes of a program that has done all: one may be killed behind its session's end."""

PROGRESS_EVERY = 10
_LIBRARY = Path(farhand.__file__).parent.parent


@dataclass(frozen=True)
class SessionPlan:
    """How many kills, and what chooses their moments."""

    kills: int
    seed: int


@dataclass
class SessionKills:
    """What came of it."""

    kills: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    starts: int = 0
    found_out: int = 0
    """Steps that a killed program was told nothing of, and that the next run found to be over."""
    new_tries: int = 0
    """Of inputs that never happened, each under a new key."""
    wrong: list[Violation] = field(default_factory=list)

    def table(self) -> str:
        """The run as a table of plain text."""
        counts = Counter(violation.broken for violation in self.wrong)
        rows: list[tuple[str, int] | None] = [
            *sorted(self.kills.items()),
            None,
            ("sessions", self.sessions),
            ("starts of their programs", self.starts),
            ("steps", self.told.total()),
            *sorted((f"steps told as {kind}", count) for kind, count in self.told.items()),
            ("steps that went on without their program", self.found_out),
            ("new tries of what never happened", self.new_tries),
            None,
            *sorted((str(broken), count) for broken, count in counts.items()),
            ("promises broken", len(self.wrong)),
        ]
        width = max(len(row[0]) for row in rows if row)
        rule = "-" * (width + 8)
        return "\n".join(rule if row is None else f"{row[0]:{width}} {row[1]:7}" for row in rows)


def measure(
    plan: SessionPlan,
    directory: Path,
    mongodb: str,
    nats: str,
    display: str,
    say: Callable[[str], None] = print,
) -> SessionKills:
    """Kill so often, with a database of its own on a MongoDB; what came of it."""
    shared = {"mongodb_uri": mongodb, "mongodb_database": f"sessions-{plan.seed}"}
    rng = random.Random(plan.seed)
    kills, places = SessionKills(), Places()
    with ExitStack() as stack:
        witness = stack.enter_context(closing(Witness(display)))
        nodes = [
            ServerProcess(directory / name, node_name=name, nats_url=nats, **shared)
            for name in ("node-a", "node-b")
        ]
        bench = stack.enter_context(closing(_Bench(nodes, witness, display, directory)))
        left = deque(strikes(plan.kills, rng))
        while left:
            bench.disturb(steps(places, rng), left, places, kills)
            if kills.sessions % PROGRESS_EVERY == 0:
                say(f"{kills.kills.total()} kills, {len(kills.wrong)} promises broken")
    return kills


class _Bench:
    """Two nodes, a machine client and one program after another, all of which are killed."""

    def __init__(
        self, nodes: Sequence[ServerProcess], witness: Witness, display: str, directory: Path
    ) -> None:
        self._witness = witness
        self._directory = directory
        self._nodes = [_Node(each) for each in nodes]
        for node in self._nodes:
            node.start()
        self._api = ServedApi(nodes[1].url, nodes[0].administrators_token())
        self._machine = Workstation.added(nodes[1].url, self._api, display, directory)
        self._client_runs = ExitStack()
        self._client = self._start_client()

    def close(self) -> None:
        self._client_runs.close()
        for node in self._nodes:
            node.close()
        self._api.close()

    def disturb(
        self, wanted: list[list[Act]], left: deque[Strike], places: Places, kills: SessionKills
    ) -> None:
        """One session, from its program's first start to its end; and what is broken in it."""
        kills.sessions += 1
        session = Session(wanted)
        with closing(self._program(f"order {kills.sessions}", wanted, kills.sessions)) as program:
            program.start()
            while left and self._comes_to(left[0], program):
                self._strike(left.popleft(), program, session, places, kills)
            until(program.has_ended, f"{program.name} comes to its end", END_SECONDS)
            session.told = program.told()
            kills.wrong += self._other_steps(program, places, farhand.SessionFinished)
            program.file.rename(program.file.with_suffix(".done"))
            kills.wrong += self._other_steps(program, places, farhand.SessionChanged)
            if program.exit_code not in ENDS:
                kills.wrong.append(Violation(Broken.ENDED, program.said()))
        session.events = self._witness.take()
        kills.wrong += judged(session)
        kills.starts += program.starts
        kills.found_out += _found_out(session)
        kills.new_tries += program.new_tries()
        kills.told.update({each["step"]: each["told"] for each in session.told}.values())

    def _program(self, name: str, wanted: list[list[Act]], number: int) -> "_SessionProgram":
        node = self._nodes[number % len(self._nodes)].server
        directory = self._directory / name
        directory.mkdir()
        return _SessionProgram(name, wanted, node.url, self._machine.machine, self._api, directory)

    def _comes_to(self, strike: Strike, program: "_SessionProgram") -> bool:
        """Wait for a strike's moment; False where the program has ended before."""
        wanted = len(self._witness.seen()) + strike.events
        until(
            lambda: len(self._witness.seen()) >= wanted or program.has_ended(),
            f"{program.name} does something",
            END_SECONDS,
        )
        time.sleep(strike.delay)
        return not program.has_ended()

    def _strike(
        self,
        strike: Strike,
        program: "_SessionProgram",
        session: Session,
        places: Places,
        kills: SessionKills,
    ) -> None:
        """Kill, then start again: the program first, which has to wait for what it needs."""
        victims = strike.victims
        for victim in victims:
            self._kill(victim, program)
            session.victims.append(victim)
            kills.kills[victim] += 1
        if PROGRAMS & {*victims}:
            if program.told() and program.file.exists():
                refusals = farhand.SessionChanged, farhand.SessionFinished
                kills.wrong += self._other_steps(program, places, *refusals)
            program.start()
        for node in self._nodes:
            node.start()
        if not self._client.runs:
            self._client = self._start_client()

    def _kill(self, victim: Victim, program: "_SessionProgram") -> None:
        match victim:
            case Victim.PROGRAM | Victim.ITS_POWER | Victim.ITS_FILE:
                program.kill()
            case Victim.OTHER_NODE:
                self._nodes[0].kill()
            case Victim.LINKED_NODE:
                self._nodes[1].kill()
            case Victim.CLIENT | Victim.POWER:
                self._client.kill()
                self._client_runs.close()
        if victim is Victim.POWER:
            power_cuts.cut_power(self._machine.directory)
        elif victim is Victim.ITS_POWER:
            program.lose_what_was_not_flushed()
        elif victim is Victim.ITS_FILE:
            program.file.unlink(missing_ok=True)

    def _other_steps(
        self, program: "_SessionProgram", places: Places, *refused: type[farhand.SessionError]
    ) -> Iterator[Violation]:
        """Another program under the same name, which must be refused before anything happens."""
        try:
            with program.client() as client, program.session(client) as session:
                session.machine(self._machine.machine).click(*places.next())
        except refused:
            return
        except farhand.FarhandError as error:
            yield Violation(Broken.NOT_REFUSED, f"{program.name} {error!r}")
        else:
            yield Violation(Broken.NOT_REFUSED, program.name)

    def _start_client(self) -> Program:
        joined = self._machine.joined(program=power_cuts.PROGRAM)
        return self._client_runs.enter_context(joined)


def _found_out(session: Session) -> int:
    """How many steps were answered "replayed" when they were first told of."""
    firsts = {note["step"]: note["replayed"] for note in reversed(session.told)}
    return sum(firsts.values())


class _Node:
    """A server that is killed and started again."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self._runs = ExitStack()
        self._program: Program | None = None

    def start(self) -> None:
        """Start it, unless it runs."""
        if self._program is None:
            self._program = self._runs.enter_context(self.server.run())

    def kill(self) -> None:
        """End it as a crash does."""
        if self._program is not None:
            self._program.kill()
        self.close()

    def close(self) -> None:
        self._runs.close()
        self._program = None


class _SessionProgram:
    """A program with a session, in a process of its own each time that it is started."""

    def __init__(
        self,
        name: str,
        wanted: Sequence[Sequence[Act]],
        url: str,
        machine: str,
        api: ServedApi,
        directory: Path,
    ) -> None:
        self.name = name
        self.file = directory / "session"
        self.starts = 0
        self._server = url, api.token
        self._machine = machine
        self._steps, self._told = directory / "steps.json", directory / "told"
        self._steps.write_text(json.dumps([bodies(acts) for acts in wanted]))
        self._log = directory / "program.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it from its beginning."""
        self.starts += 1
        url, token = self._server
        arguments = (self._machine, self.name, self.file, self._steps, self._told)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, session_program.__file__, *map(str, arguments)],
                env=environment(FARHAND_URL=url, FARHAND_TOKEN=token, PYTHONPATH=str(_LIBRARY)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def exit_code(self) -> int | None:
        """None as long as it runs."""
        assert self._process is not None
        return self._process.poll()

    def has_ended(self) -> bool:
        """Whether it has come to its end; where it got no answer it is started again."""
        if self.exit_code == session_program.NO_ANSWER:
            self.start()
        return self.exit_code is not None

    def kill(self) -> None:
        """End it as a crash does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def lose_what_was_not_flushed(self) -> None:
        """Take from its file what a power cut may take: an answer, where that was written last."""
        if not self.file.exists():
            return
        lines = self.file.read_bytes().splitlines(keepends=True)
        if lines and b'"ended"' in lines[-1]:
            self.file.write_bytes(b"".join(lines[:-1]))

    def close(self) -> None:
        """End it, unless it has ended."""
        self.kill()

    def told(self) -> list[Any]:
        """What it was told so far, in all of its runs."""
        if not self._told.exists():
            return []
        # A line that was killed within has no end.
        *whole, _ = self._told.read_text().split("\n")
        return [json.loads(line) for line in whole if line]

    def new_tries(self) -> int:
        """How many of its inputs' tries were not the first."""
        lines = map(json.loads, self.file.with_suffix(".done").read_text().splitlines())
        return sum("fingerprint" in line and line["attempt"] > 0 for line in lines)

    def said(self) -> str:
        """The end of what it printed, and its exit code."""
        return f"{self.name} ended with {self.exit_code}: {self._log.read_text()[-2000:]}"

    def client(self) -> farhand.Farhand:
        """A client in this process."""
        return farhand.Farhand(*self._server)

    def session(self, client: farhand.Farhand) -> farhand.Session:
        """Its session, in this process."""
        return client.session(self.name, file=self.file)
