"""Everything that a fault run strikes at: server nodes, machines behind fault proxies, MongoDB."""

import contextlib
import random
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any
from uuid import UUID

import pymongo
from pymongo.database import Database

from server.store.commands import record_of
from tests.answers import answer_of
from tests.faults.fault_proxy import FaultProxy
from tests.faults.hand_history import HandHistory
from tests.faults.history import Clock, FinalAnswer
from tests.faults.node import Nats, Node, NodeCables
from tests.faults.other_desktops import AnyDesktop, DesktopName, running_desktop
from tests.faults.replica_set import ReplicaSet
from tests.faults.supervised_process import SupervisedProcess
from tests.faults.verdict import JournalLoss
from tests.processes import Process, ServedApi, joined, until

MACHINES = 3
START_SECONDS = 60.0
DATABASE = "farhand"


class Machine:
    """A machine client with its desktop, behind a fault proxy; started again whenever it ends."""

    def __init__(self, name: str, directory: Path, desktop: AnyDesktop, proxy: FaultProxy) -> None:
        self.name = name
        self.desktop = desktop
        self.proxy = proxy
        self.token = ""
        self.next_failpoints = ""
        self.journal_losses = 0
        self._directory = directory / name
        self._state = self._directory / "state"
        self.process = SupervisedProcess(name, self._run)

    def lose_journal(self, *, to_copy: bool) -> bool:
        """Take the journal of a client that does not run away; put an earlier copy in its place.

        False, and nothing done, where a copy is wanted and there is none.  A copy was made before
        the client was last started, so that every link since has left a mark that it lacks.
        """
        copy = self._directory / "copy"
        if to_copy and not any(copy.glob("journal*")):
            return False
        self.journal_losses += 1
        lost = self._directory / f"lost-{self.journal_losses}"
        lost.mkdir()
        for file in self._state.glob("journal*"):
            file.rename(lost / file.name)
        if to_copy:
            for file in copy.glob("journal*"):
                shutil.copy(file, self._state)
        return True

    def copy_journal(self) -> None:
        """Keep a copy of the journal of a client that does not run."""
        copy = self._directory / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        for file in self._state.glob("journal*"):
            shutil.copy(file, copy)

    def journal(self) -> Mapping[UUID, str]:
        """The state of each command, of all journals that this machine ever had.

        Where several know one, INTENT counts: it was begun, and that journal never saw it end.
        Call once the client has ended.
        """
        states: dict[UUID, str] = {}
        for file in sorted(self._directory.glob("*/journal*.sqlite3")):
            if file.parent.name == "copy":
                continue
            with contextlib.closing(sqlite3.connect(file)) as database:
                for command_id, state in database.execute("SELECT command_id, state FROM entries"):
                    known = UUID(bytes=command_id)
                    if states.get(known) != "INTENT":
                        states[known] = state
        return states

    def said(self) -> str:
        """The end of what the client has printed."""
        return (self._state / "machine.log").read_text(errors="replace")[-2000:]

    @contextlib.contextmanager
    def _run(self) -> Iterator[Process]:
        settings: dict[str, Any] = {
            "heartbeat": "1",
            "reconnect_longest": "2",
            **self.desktop.settings,
        }
        failpoints, self.next_failpoints = self.next_failpoints, ""
        with joined(
            self.proxy.url,
            self.token,
            self._state,
            self.desktop.named,
            wait=False,
            failpoints=failpoints,
            **settings,
        ) as program:
            yield program.process


class World:
    """The system under test.

    With ``nats`` all nodes run, and machines come to any of them.  Without there are two, of which
    one runs, but for the time in which it is replaced by the other.  ``active`` is that one, or
    the first of all.
    """

    def __init__(
        self,
        replica_set: ReplicaSet,
        nodes: Sequence[Node],
        clock: Clock,
        nats: Nats | None = None,
    ) -> None:
        self.clock = clock
        self.replica_set = replica_set
        self.nodes = nodes
        self.nats = nats
        self.active = nodes[0]
        self.machines: list[Machine] = []
        self.journal_losses: list[JournalLoss] = []
        self.hands: list[HandHistory] = []
        self.token = ""
        self._serving = [self.active] if nats is None else list(nodes)
        self._lock = threading.Lock()

    @classmethod
    @contextlib.contextmanager
    def running(
        cls,
        directory: Path,
        clock: Clock,
        machines: int = MACHINES,
        nodes: int = 1,
        desktop: DesktopName = "x11",
        members: int = 3,
    ) -> Iterator["World"]:
        """Start everything; yields once every machine, on that kind of desktop, is online."""
        with contextlib.ExitStack() as stack:
            replica_set = stack.enter_context(ReplicaSet.running(directory / "mongodb", members))
            if nodes == 1:
                world = _with_one_node(directory, replica_set, clock)
            else:
                world = _with_several_nodes(directory, replica_set, clock, nodes, stack)
            world._start_nodes(stack)
            for number in range(machines):
                name = f"desk-{number}"
                # One has: a bus and a program for each would take as long as all the rest.
                running = running_desktop(desktop, clock, directory / name, has_field=number == 0)
                witnessed = stack.enter_context(running)
                proxy = stack.enter_context(FaultProxy(world.address))
                machine = Machine(name, directory, witnessed, proxy)
                world.machines.append(machine)
                stack.callback(machine.process.close)
            world._join_machines()
            yield world

    @classmethod
    @contextlib.contextmanager
    def of_nodes(
        cls, directory: Path, clock: Clock, count: int, members: int = 1, **settings: str
    ) -> Iterator["World"]:
        """Several nodes alone, without machines, whose connections nobody holds up or cuts.

        ``members`` are MongoDB's, ``settings`` the nodes', instead of the run's own.
        """
        with contextlib.ExitStack() as stack:
            replica_set = stack.enter_context(
                ReplicaSet.running(directory / "mongodb", members=members)
            )
            nats = stack.enter_context(Nats.running(directory))
            direct = {"nats_url": nats.url, "mongodb_uri": replica_set.uri, **settings}
            nodes = [Node(name, directory, direct) for name in _names(count)]
            world = cls(replica_set, nodes, clock, nats)
            world._start_nodes(stack)
            yield world

    @classmethod
    @contextlib.contextmanager
    def of_cabled_nodes(
        cls, directory: Path, clock: Clock, count: int, **settings: str
    ) -> Iterator["World"]:
        """As `of_nodes`, but each node has cables of its own to NATS and to MongoDB."""
        with contextlib.ExitStack() as stack:
            replica_set = stack.enter_context(ReplicaSet.running(directory / "mongodb", members=1))
            world = _with_several_nodes(directory, replica_set, clock, count, stack, **settings)
            world._start_nodes(stack)
            yield world

    def address(self) -> tuple[str, int]:
        """Where a machine finds a node now, as a load balancer chooses one for it."""
        with self._lock:
            node = self.active
            if self.nats is not None:
                awake = [each for each in self._serving if each.is_awake]
                node = random.choice(awake or self._serving)
        return "127.0.0.1", node.server.port

    def ports(self) -> list[int]:
        """Where HTTP clients find a node."""
        with self._lock:
            return [node.server.port for node in self._serving]

    def serve_by(self, *nodes: Node) -> None:
        """Send HTTP clients to these nodes, and machines to the first."""
        with self._lock:
            self._serving = list(nodes)
            self.active = nodes[0]

    def stop(self) -> None:
        """End machine clients and servers, so that what they have stored can be read.

        Machine clients end as they are asked to, and so release what their last link held.
        """
        for machine in self.machines:
            machine.process.close(gracefully=True)
        for node in self.nodes:
            node.process.close()

    def journals(self) -> dict[UUID, str]:
        """The state of each command in the machines' journals.  Call after `stop`."""
        return {
            command_id: state
            for machine in self.machines
            for command_id, state in machine.journal().items()
        }

    def ledger(self) -> tuple[UUID, dict[UUID, tuple[str, FinalAnswer | None]]]:
        """The organization, and the stored state and answer of each command."""
        client: pymongo.MongoClient[dict[str, Any]]
        with pymongo.MongoClient(
            self.replica_set.uri, uuidRepresentation="standard", tz_aware=True
        ) as client:
            database: Database[dict[str, Any]] = client[DATABASE]
            organization = database.organizations.find_one({"is_default": True})
            assert organization is not None
            records = {
                record["_id"]: (record["state"], _answer(record))
                for record in database.commands.find({})
            }
        return organization["_id"], records

    def ends(self) -> list[str]:
        """Machine clients that ended without being killed."""
        return [
            f"{machine.name} ended with {code}: {machine.said()}"
            for machine in self.machines
            for code in machine.process.exit_codes
            if code != -9
        ]

    def is_online(self, machines: Sequence[Machine] = ()) -> bool:
        """Whether a node says that each of these machines, or all, have a link."""
        awake = next((each for each in self._serving if each.is_awake), self.active)
        api = ServedApi(awake.server.url, self.token)
        try:
            return all(
                api.is_in_state(machine.name, "online") for machine in machines or self.machines
            )
        except (OSError, KeyError):
            return False
        finally:
            api.close()

    def _start_nodes(self, stack: contextlib.ExitStack) -> None:
        """Start the first alone, as it makes what is to be in an empty database."""
        if self.nats is None:
            self.nodes[1].process.disable_restart()
        for node in self.nodes:
            stack.callback(node.process.close)
            node.process.start()
            if node in self._serving:
                assert node.process.wait_for_start(1, START_SECONDS), f"{node.name} did not start"
        self.token = self.active.server.administrators_token()

    def _join_machines(self) -> None:
        api = ServedApi(self.active.server.url, self.token)
        for machine in self.machines:
            machine.token = api.add_machine(machine.name)
            machine.process.start()
        api.close()
        until(self.is_online, "all machines are online", START_SECONDS)


def _with_one_node(directory: Path, replica_set: ReplicaSet, clock: Clock) -> World:
    settings = {"mongodb_uri": replica_set.uri}
    nodes = [Node(name, directory, settings) for name in ("node-a", "node-b")]
    return World(replica_set, nodes, clock)


def _with_several_nodes(
    directory: Path,
    replica_set: ReplicaSet,
    clock: Clock,
    count: int,
    stack: contextlib.ExitStack,
    **settings: str,
) -> World:
    nats = stack.enter_context(Nats.running(directory))
    nodes = []
    for name in _names(count):
        cables = stack.enter_context(NodeCables.laid(nats, replica_set))
        nodes.append(Node(name, directory, {**cables.settings, **settings}, cables))
    return World(replica_set, nodes, clock, nats)


def _names(count: int) -> Sequence[str]:
    return [f"node-{letter}" for letter in ascii_lowercase[:count]]


def _answer(stored: dict[str, Any]) -> FinalAnswer | None:
    """What the ledger keeps of a command's end, as HTTP says it."""
    answer = answer_of(record_of(stored))
    return None if answer is None else FinalAnswer(answer.status, answer.body)
