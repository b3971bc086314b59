"""A node: the real core of a server, on the simulation's stores and websockets."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast
from uuid import UUID, uuid4

from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.inputs.actions import AnyBody
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Released
from schemas.programs.failpoints import Failpoint
from schemas.runs.requests import ContinuedRun
from schemas.steps.reviews import Editor
from server.api.machines.answers import answer_to, problem_of
from server.api.machines.hand import LEASE_POLL_SECONDS
from server.bus.subjects import Subjects
from server.dispatch.command import Command, CommandReply, Ended, Pending, Sender
from server.dispatch.control import Caller, MachineControl
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.forwarding.addresses import LinkAddresses
from server.dispatch.forwarding.elsewhere import MachinesElsewhere
from server.dispatch.forwarding.membership import Membership
from server.dispatch.forwarding.responder import Responder
from server.dispatch.hand.hand import Hand, HandClosedError
from server.dispatch.hand.hands import control_ended, end_of
from server.dispatch.here.links import LinksHere
from server.dispatch.here.machines import MachinesHere
from server.dispatch.ledger.ledger import Ledger
from server.dispatch.ledger.reconciler import Reconciler
from server.dispatch.ledger.resolver import Resolver
from server.dispatch.ledger.under_way import CommandsUnderWay
from server.dispatch.questions.control import PauseChanged
from server.dispatch.questions.inputs import KnownCommand, LookUp
from server.dispatch.questions.question import LinkQuestion, Refusal, RefusalKind
from server.dispatch.questions.screens import DesktopSeen, LookAtDesktop
from server.dispatch.recorder import InputRecorder
from server.dispatch.refusals import RefusedError
from server.dispatch.stretches import StretchRecorder
from server.errors import StoreUnavailable, WrongState
from server.events.memory_hub import MemoryEventHub
from server.machines.admission import Admission
from server.machines.link.greeting import LinkTerms
from server.machines.maintenance import check_restrictions, tick_links
from server.machines.registry import LinkRegistry
from server.machines.shown_frames import ShownFrames
from server.machines.socket import LinkSocket
from server.metrics.metrics import Metrics
from server.nodes.presence import Presence
from server.process.node import Node as NodeIdentity
from server.store.commands import CommandRecord
from server.store.machines.troubles import StoredTrouble
from server.tasks import Tasks
from server.vision.vision import Vision
from tests.observers import NoObserver
from tests.recordings import recording_nothing
from tests.simulation.bus import Exchange, SimulatedBus
from tests.simulation.controls import AllTokens, NoAudit, NoSessions, SimulatedControlStore
from tests.simulation.hands import HandWork
from tests.simulation.mongo import (
    Mongo,
    SimulatedAuditStore,
    SimulatedMachineStore,
    SimulatedNodeStore,
)
from tests.simulation.network import Connection, latency
from tests.simulation.runs import RunsOfNode
from tests.simulation.stores import SimulatedCommandStore
from tests.simulation.world import Process, World

TOKEN_ID = UUID(int=1)
PERSON_EDITS = Editor(token_id=UUID(int=2), token_name="a person", user_id=None)
PERSON = Caller(UUID(int=2), "a person")
FINGERPRINTS = Fingerprints(b"simulated")
METRICS = Metrics()
"""Of all nodes, as nobody reads them, and it takes long to make new ones."""
BY_HAND = "by hand"
"""The id of the requests of whoever has control: a pause is none for them."""
UNANSWERED_LIMIT = 8
INPUT_TIMEOUT = 30.0
SUBJECTS = Subjects(b"simulated")


@dataclass(frozen=True)
class Answered:
    """What a request got.

    ``name`` is "final" for a final answer, else the problem's; ``body`` are the answer's bytes.
    """

    name: str
    status: int
    body: bytes = b""
    replayed: bool = False

    @property
    def is_final(self) -> bool:
        """Whether every retry must get the same."""
        return self.name == "final"


class _NobodyListens:
    """Stands in for those who would hear that a machine has changed."""

    def changed(self, organization_id: UUID, machine_id: str) -> None:
        pass

    def released(self, organization_id: UUID, machine_id: str, released: Released) -> None:
        pass


class _Connection:
    """The server's websocket, at its end of a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send_text(self, text: str) -> None:
        world = self._connection.world
        # A link that its machine has left already, and its node does not know that, reaches nobody.
        is_heard = not self._connection.is_over
        is_input = '"type":"input"' in text and f'"request_id":"{BY_HAND}"' not in text
        if is_heard and is_input and self._connection.machine_id in world.paused:
            world.violated(f"an input was sent to a machine that is paused: {text}")
        self._connection.to_machine(text)

    def close(self, code: int, reason: str) -> None:
        world = self._connection.world
        world.facts[f"closed {CloseCode(code).name}"] += 1
        world.trace(f"#{self._connection.number} closing", code, reason)
        if code == CloseCode.MESSAGE_INVALID:
            world.violated(f"link closed for an invalid message: {reason}")
        self._connection.close_by_node(code, reason)


def _name_of(reply: CommandReply | None) -> str:
    match reply:
        case None:
            return "no link elsewhere"
        case Refusal(kind=RefusalKind.KEY_REUSED):
            return "invalid"
        case Refusal(kind=kind):
            return kind.value
        case Pending():
            return "outcome-pending"
        case _:
            return "answered"


class _Elsewhere(MachinesElsewhere):
    """Counts what becomes of commands for other nodes, and notes whether a pause was told."""

    def __init__(self, world: World, bus: SimulatedBus, *parts: Any) -> None:
        super().__init__(bus, *parts)
        self._world = world
        self.has_told_pause = False

    async def carry_out(self, command: Command) -> CommandReply | None:
        how = "lost"
        try:
            reply = await super().carry_out(command)
        except StoreUnavailable:
            how = "storage-unavailable"
            raise
        else:
            how = _name_of(reply)
            return reply
        finally:
            key = "with" if command.is_keyed else "without"
            self._world.facts[f"forwarded {key} a key: {how}"] += 1

    async def tell(self, question: LinkQuestion[Any]) -> bool:
        is_done = await super().tell(question)
        if isinstance(question, PauseChanged):
            self.has_told_pause = is_done
        return is_done


class NoTroubles:
    """What was wrong with a machine is not looked at here."""

    async def add(self, organization_id: UUID, machine_id: str, trouble: StoredTrouble) -> None:
        """Nobody asks for it."""


class Node:
    """One server process; each start makes a new one, which knows nothing of the one before."""

    process: Process

    def __init__(
        self,
        world: World,
        name: str,
        mongo: Mongo,
        exchange: Exchange,
        organization_id: UUID,
        *,
        heartbeat_seconds: float,
    ) -> None:
        self.world = world
        self.name = name
        self.connections: dict[Connection, LinkSocket] = {}
        self.links: list[tuple[Connection, LinkSocket]] = []
        self._mongo = mongo
        self._exchange = exchange
        self._organization_id = organization_id
        self._heartbeat_seconds = heartbeat_seconds
        self._skew = world.between(-3, 3)
        self._starts = 0
        self._kill_at: tuple[Failpoint, int] | None = None
        self.start()

    def start(self) -> None:
        """Begin as after a crash."""
        self._starts += 1
        self._kill_at = None
        self.process = Process(self.world, f"{self.name}.{self._starts}", skew=self._skew)
        self.connections = {}
        self.requests: dict[int, Callable[[], None]] = {}
        self.takes_over = 0
        perform = self._mongo.perform_for(self.process)
        machines = self._machines = SimulatedMachineStore(self._mongo, self.process)
        self._controls = SimulatedControlStore(self._mongo, self.process)
        commands = SimulatedCommandStore(self._mongo.commands, perform, self._mongo.read)
        self.background = Tasks()
        self.registry = LinkRegistry()
        self._assemble(machines, commands, SimulatedNodeStore(self._mongo, self.process))
        self.process.call_soon(self._begin)

    def _assemble(
        self,
        machines: SimulatedMachineStore,
        commands: SimulatedCommandStore,
        nodes: SimulatedNodeStore,
    ) -> None:
        """Put the parts together as `server.assembly` does."""
        self.identity = node = NodeIdentity.new(self.name)
        resolver, under_way = Resolver(commands, NoObserver()), CommandsUnderWay(self.background)
        ledger = Ledger(commands, resolver, under_way, self.background, NoObserver())
        self.bus = SimulatedBus(self._exchange, self.process, self.background)
        self._elsewhere = _Elsewhere(
            *(self.world, self.bus, SUBJECTS),
            *(LinkAddresses(machines, node.node_id), self.background, ledger.has_ended),
        )
        listener, recordings = _NobodyListens(), recording_nothing(self.background)
        self._membership = Membership(
            *(self.bus, SUBJECTS, node.node_id, self._elsewhere, self.registry, machines),
            listener.changed,
        )
        vision = Vision(1, 0, 0.0, self.background)  # Nothing is looked at there.
        self._admission = Admission(
            self.registry,
            machines,
            Reconciler(commands, resolver, under_way),
            listener,
            self._membership,
            NoTroubles(),
            recordings,
            self.background,
            frames=ShownFrames(vision, self.background),
            node=node,
            terms=LinkTerms(UNANSWERED_LIMIT, self._heartbeat_seconds),
            reconnects_per_second=1000.0,
        )
        recorder = InputRecorder(SimulatedAuditStore(), MemoryEventHub(), METRICS)
        here = MachinesHere(
            *(self.registry, self._admission, ledger, recorder, vision, recordings),
            cast("Any", None),
        )
        links_here = LinksHere(self.registry, node.name)
        self._responder = Responder(here, links_here, self._elsewhere.texts, lambda: b"")
        self._presence = Presence(
            *(node, nodes),
            on_gone=self._membership.gone,
            on_missed=self._membership.announce_links,
            clock=self.process.time,
        )
        self.dispatcher = Dispatcher(
            here=here,
            elsewhere=self._elsewhere,
            node_id=node.node_id,
            is_alive=self._presence.is_alive,
            machines=machines,
            ledger=ledger,
            fingerprints=FINGERPRINTS,
            recorder=recorder,
            input_timeout=INPUT_TIMEOUT,
            most_viewers=0,
        )
        self.control = MachineControl(
            *(self._controls, machines, AllTokens(), NoSessions(), NoAudit(), self.dispatcher),
            listener.changed,
            session_idle=timedelta(days=1),
        )
        self.runs = RunsOfNode(
            self._mongo, self.process, machines, self.dispatcher, self.control, self.background
        )

    def _begin(self) -> None:
        """What `server.app` begins."""
        supervise, admission = self.background.supervise, self._admission
        node_id, controls = self.identity.node_id, self._controls
        supervise(lambda: tick_links(self.registry), "tick the links")
        self._membership.begin(self._responder)
        self.bus.on_reconnect(self._membership.announce_links)
        supervise(self._presence.run, "be among the nodes")
        supervise(self._membership.keep_links_announced, "state the links")
        supervise(
            lambda: check_restrictions(
                self.registry, controls, admission, node_id, self.control.look_soon
            ),
            "check whom machines take inputs from",
        )
        supervise(self.control.run, "end control leases that are over")
        if self._mongo.runs:
            supervise(self.runs.executor.run, "work at runs")
            supervise(self.runs.executor.unattended.run, "look after runs that wait")

    @property
    def looks(self) -> int:
        """How often this process has looked whom machines take inputs from, and acted on it."""
        return self._controls.looks

    def kill(self, *, silently: bool) -> None:
        """End at once; ``silently`` is without a word to the machines, as a host does."""
        connections = list(self.connections)
        self.process.kill()
        self.bus.vanish()
        for hang_up in list(self.requests.values()):
            hang_up()
        for connection in connections:
            if silently:
                connection.cut()
                connection.node.is_over = True
            else:
                connection.reset_by(connection.node, connection.machine)
            connection.break_for(
                connection.machine, self.world.between(0, 2 * self._heartbeat_seconds)
            )

    def kill_at(self, point: Failpoint, passes: int) -> None:
        """Be killed when the code passes this failpoint so many times more."""
        self._kill_at = (point, passes)

    def passed(self, point: Failpoint) -> None:
        """The code passes a failpoint."""
        if self._kill_at is None or self._kill_at[0] is not point:
            return
        self._kill_at = (point, self._kill_at[1] - 1)
        if self._kill_at[1] == 0:
            self.world.faults[f"node killed {point}"] += 1
            self.world.trace("killed at", point)
            self.kill(silently=False)
            self.world.restart(self.start, 3)

    # Machines.

    def open(self, connection: Connection) -> None:
        """A machine client shakes hands."""
        if connection.node.is_over:
            return
        link = self._admission.open(
            _Connection(connection),
            organization_id=self._organization_id,
            machine_id=connection.machine_id,
            token_id=TOKEN_ID,
        )
        self.connections[connection] = link
        self.links.append((connection, link))
        connection.to_machine("")

    def took(self, connection: Connection, text: str) -> None:
        """A frame came from a machine client."""
        self.connections[connection].received(text)

    def ended(self, connection: Connection, code: int, reason: str) -> None:
        """A machine's websocket is gone."""
        link = self.connections.pop(connection, None)
        if link is None:
            return
        self.background.start_and_report(
            self._admission.closed(link, f"{code} {reason}"), "note a disconnected machine"
        )

    # Requests.

    async def pause(self, machine_id: str, paused: bool, change: int) -> bool | None:
        """Pause or resume a machine; whether its link keeps to it.

        None where that could not be done.  ``change`` numbers what an operator wants: an older one
        that comes late changes nothing.
        """
        is_here = self.registry.find(self._organization_id, machine_id) is not None
        try:
            await self._machines.pause(machine_id, paused, change)
            await self.dispatcher.ask(
                PauseChanged(organization_id=self._organization_id, machine_id=machine_id)
            )
        except StoreUnavailable:
            return None
        return is_here or self._elsewhere.has_told_pause

    async def take_control(
        self, machine_id: str, *, take_over: bool, private: bool = False
    ) -> str | None:
        """Take control as a person does; the lease's id, or None where there is none.

        Whoever has control may lose it to one who takes it over, also where that one gets nothing.
        """
        self.world.wanted.add(machine_id)
        if take_over:
            self.takes_over += 1
            self.world.controlled.pop(machine_id, None)
        try:
            control = await self.control.take(
                *(self._organization_id, machine_id, PERSON), take_over=take_over, private=private
            )
        except (RefusedError, StoreUnavailable):
            return None
        finally:
            self.takes_over -= take_over
        self.world.given[machine_id] = control.id
        return control.id

    async def make_private(self, machine_id: str, lease: str) -> bool:
        """Have control be private from now on; whether it is."""
        try:
            await self.control.make_private(
                *(self._organization_id, machine_id, PERSON, lease), private=True
            )
        except (RefusedError, StoreUnavailable):
            return False
        return True

    async def see(self, machine_id: str) -> DesktopSeen | Refusal | None:
        """What somebody without control sees of a machine, or why nothing; None is no database."""
        asked = LookAtDesktop(organization_id=self._organization_id, machine_id=machine_id)
        try:
            return await self.dispatcher.ask(asked)
        except StoreUnavailable:
            return None

    async def give_back(self, machine_id: str, lease: str) -> bool:
        """Give control back; whether it is over by now."""
        try:
            await self.control.end(self._organization_id, machine_id, PERSON, lease)
        except RefusedError:
            return True
        except StoreUnavailable:
            return False
        return True

    async def begin_hand(self, work: HandWork) -> bool:
        """Shake hands with somebody who has control; whether they have a hand now."""
        hand_id = await self._open_hand(work)
        if hand_id is None or work.is_closed:
            return False
        person, world = work.person, self.world

        def hang_up() -> None:
            person.call_later(latency(world), work.was_closed)

        self.requests[world.number()] = hang_up
        sender = Sender(
            organization_id=self._organization_id,
            token_id=TOKEN_ID,
            token_name=PERSON.name,
            request_id=BY_HAND,
            lease_hash=PERSON.lease_hash(work.lease),
            in_segment=True,
        )
        stretches = StretchRecorder(NoAudit(), self.background)
        work.hand = Hand(
            *(sender, work.machine_id, self.dispatcher, stretches, self.background),
            tell=work.tell,
            close=work.close,
        )
        self.background.start_and_report(self._watch(work, work.hand, hand_id), "watch a hand")
        return True

    async def _watch(self, work: HandWork, hand: Hand, hand_id: UUID) -> None:
        """What `server.api.machines.hand` looks for while a hand is open."""
        while work.hand is hand:
            hand.rest()
            await asyncio.sleep(LEASE_POLL_SECONDS)
            reason = await self._reason_to_end(work, hand_id)
            if reason is not None and work.hand is hand:
                work.close(reason)

    async def _open_hand(self, work: HandWork) -> UUID | None:
        lease = self._organization_id, work.machine_id, PERSON, work.lease
        try:
            return await self.control.open_hand(*lease)
        except (RefusedError, StoreUnavailable):
            return None

    async def _reason_to_end(self, work: HandWork, hand_id: UUID) -> HandClosedError | None:
        lease = self._organization_id, work.machine_id, PERSON, work.lease
        try:
            return end_of(hand_id, await self.control.in_force(*lease))
        except RefusedError:
            return control_ended()
        except StoreUnavailable:
            return None

    async def answer(
        self, machine_id: str, body: AnyBody, key: str | None, timeout: float
    ) -> tuple[Answered, UUID]:
        """What an input gets, as HTTP would say it."""
        sender = Sender(
            organization_id=self._organization_id,
            token_id=TOKEN_ID,
            token_name="a program",
            request_id=f"r-{uuid4().hex[:8]}",
        )
        command = Command.accept(
            sender, machine_id, body, key=key, fingerprints=FINGERPRINTS, timeout=timeout
        )
        try:
            reply = await self.dispatcher.ask(command)
        except StoreUnavailable:
            return Answered("storage-unavailable", 503), command.id
        if isinstance(reply, Ended):
            answer = answer_to(reply)
            return Answered("final", answer.status, answer.body, reply.is_replayed), command.id
        match problem_of(reply):
            case ProblemError(problem_type=kind):
                return Answered(kind.name, kind.status), command.id
            case InvalidRequestError(entries=[entry, *_]):
                return Answered(entry.type, 422), command.id
            case _:
                return Answered("storage-unavailable", 503), command.id

    async def resume(self, run_id: UUID, how: ContinuedRun) -> bool:
        """Have a halted run go on as somebody said; whether it does."""
        try:
            await self.runs.runs.resume(self._organization_id, PERSON_EDITS, run_id, how)
        except (WrongState, StoreUnavailable):
            return False
        return True

    async def look(self, command_id: UUID) -> KnownCommand | None:
        """What the ledger says of a command.  Raises StoreUnavailable."""
        asked = LookUp(organization_id=self._organization_id, command_id=command_id)
        known = await self.dispatcher.ask(asked)
        return None if isinstance(known, Refusal) else known


def connection_of(nodes: list[Node], record: CommandRecord) -> Connection:
    """The connection on which a command was sent, or was to be."""
    return next(
        connection
        for node in nodes
        for connection, link in node.links
        if link.epoch == record.epoch and link.machine_id == record.machine_id
    )
