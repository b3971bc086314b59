"""A node: the real core of a server, on the simulation's stores and websockets."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.inputs.bodies import AnyInput
from schemas.link.messages import CloseCode, Released
from schemas.programs.failpoints import Failpoint
from server.dispatch.command import Command
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.ledger.ledger import Ledger
from server.dispatch.ledger.reconciler import Reconciler
from server.dispatch.ledger.resolver import Resolver
from server.dispatch.ledger.under_way import CommandsUnderWay
from server.dispatch.recorder import InputRecorder
from server.events.hub import EventHub
from server.machines.admission import Admission
from server.machines.link.greeting import LinkTerms
from server.machines.maintenance import tick_links
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.metrics import Metrics
from server.store.commands import CommandRecord
from server.store.errors import StoreUnavailable
from server.tasks import Tasks
from tests.simulation.mongo import Mongo, SimulatedAuditStore, SimulatedMachineStore
from tests.simulation.network import Connection
from tests.simulation.stores import SimulatedCommandStore
from tests.simulation.world import Process, World

TOKEN_ID = UUID(int=1)
FINGERPRINTS = Fingerprints(b"simulated")
FINGERPRINTS_AFTER_AN_UPGRADE = Fingerprints(b"simulated", knows_earlier=True)
UNANSWERED_LIMIT = 8
INPUT_TIMEOUT = 30.0


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
        if '"type":"input"' in text and self._connection.machine_id in world.paused:
            world.violated(f"an input was sent to a machine that is paused: {text}")
        self._connection.to_machine(text)

    def close(self, code: int, reason: str) -> None:
        world = self._connection.world
        world.facts[f"closed {CloseCode(code).name}"] += 1
        world.trace(f"#{self._connection.number} closing", code, reason)
        if code == CloseCode.MESSAGE_INVALID:
            world.violated(f"link closed for an invalid message: {reason}")
        self._connection.close_by_node(code, reason)


class Node:
    """One server process; each start makes a new one, which knows nothing of the one before."""

    process: Process

    def __init__(
        self,
        world: World,
        name: str,
        mongo: Mongo,
        organization_id: UUID,
        *,
        heartbeat_seconds: float,
    ) -> None:
        self.world = world
        self.name = name
        self.connections: dict[Connection, LinkSocket] = {}
        self.links: list[tuple[Connection, LinkSocket]] = []
        self.fingerprints = FINGERPRINTS
        self._mongo = mongo
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
        perform = self._mongo.perform_for(self.process)
        machines = self._machines = SimulatedMachineStore(self._mongo, perform)
        commands = SimulatedCommandStore(self._mongo.commands, perform, self._mongo.read)
        self.background = Tasks()
        self.registry = LinkRegistry()
        resolver, under_way = Resolver(commands), CommandsUnderWay(self.background)
        self.ledger = Ledger(commands, resolver, under_way, self.background)
        self._admission = Admission(
            self.registry,
            machines,
            Reconciler(commands, resolver, under_way),
            _NobodyListens(),
            self.background,
            terms=LinkTerms(UNANSWERED_LIMIT, self._heartbeat_seconds),
            reconnects_per_second=1000.0,
        )
        self.dispatcher = Dispatcher(
            registry=self.registry,
            admission=self._admission,
            machines=machines,
            ledger=self.ledger,
            fingerprints=self.fingerprints,
            recorder=InputRecorder(SimulatedAuditStore(), EventHub(), Metrics()),
            input_timeout=INPUT_TIMEOUT,
            most_viewers=0,
        )
        self.process.call_soon(self._watch)

    def _watch(self) -> None:
        self.background.start(tick_links(self.registry), "tick the links")

    def kill(self, *, silently: bool) -> None:
        """End at once; ``silently`` is without a word to the machines, as a host does."""
        connections = list(self.connections)
        self.process.kill()
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

    async def pause(self, machine_id: str, paused: bool, change: int) -> bool:
        """Pause or resume a machine; False where that could not be done.

        ``change`` numbers what an operator wants: an older one that comes late changes nothing.
        """
        try:
            await self._machines.pause(machine_id, paused, change)
            await self.dispatcher.pause_changed(self._organization_id, machine_id)
        except StoreUnavailable:
            return False
        return True

    async def answer(
        self, machine_id: str, body: AnyInput, key: str | None, timeout: float
    ) -> tuple[Answered, UUID]:
        """What an input gets, as HTTP would say it."""
        command = Command.accept(
            organization_id=self._organization_id,
            machine_id=machine_id,
            body=body,
            key=key,
            fingerprints=self.fingerprints,
            timeout=timeout,
            request_id=f"r-{uuid4().hex[:8]}",
            minimal=False,
        )
        try:
            answer, replayed = await self.dispatcher.carry_out(command)
        except ProblemError as problem:
            kind = problem.problem_type
            return Answered(kind.name, kind.status), command.id
        except InvalidRequestError as error:
            return Answered(error.entries[0].type, 422), command.id
        except StoreUnavailable:
            return Answered("storage-unavailable", 503), command.id
        return Answered("final", answer.status, answer.body, replayed), command.id

    async def look(self, command_id: UUID) -> CommandRecord | None:
        """What the ledger says of a command.  Raises StoreUnavailable."""
        return await self.dispatcher.look_up(self._organization_id, command_id)


def connection_of(nodes: list[Node], record: CommandRecord) -> Connection:
    """The connection on which a command was sent, or was to be."""
    return next(
        connection
        for node in nodes
        for connection, link in node.links
        if link.epoch == record.epoch and link.machine_id == record.machine_id
    )
