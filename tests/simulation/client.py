"""A machine client: its real core, between a simulated disk, desktop and network.

What the real connection and executor do with threads and sockets is done here in virtual time:
one command at a time, and beside it, in order, what the journal is asked.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from machine_client.journal.journal import Journal
from machine_client.link.events import (
    CloseLink,
    Effect,
    Event,
    LinkLost,
    LinkOpened,
    MessageReceived,
    SendMessage,
    TimePassed,
)
from machine_client.link.session import Session
from machine_client.work.orders import (
    BeginCommand,
    CommandsInterrupted,
    ExpireCommand,
    InterruptCommands,
    JournalMarked,
    LookUpCommand,
    MarkJournal,
    ReleaseHeld,
)
from machine_client.work.worker import Worker
from schemas.link.close_codes import CloseCode
from schemas.link.messages import (
    PROTOCOLS,
    SERVER_MESSAGES,
    Capability,
    DesktopQuery,
    Display,
    Hello,
    Input,
)
from schemas.programs.failpoints import Failpoint
from tests.simulation.desktop import Desktop, Hand
from tests.simulation.disk import Disk, Killed, SimulatedStorage
from tests.simulation.network import Connection, is_stop, latency
from tests.simulation.node import Node
from tests.simulation.onlookers import SLOWEST_SECONDS, seen_of
from tests.simulation.screen import XServer
from tests.simulation.sights import Eyes
from tests.simulation.world import Process, State, World

TICK_SECONDS = 0.1
SETTLE_AFTER_SECONDS = 0.05
OPEN_SECONDS = 5.0
SUPERVISOR_SECONDS = 3.0
"""After how long a client is started again that was told to stop."""

DISPLAYS = [Display(x=0, y=0, width=1280, height=800)]
CAN = Capability(available=True)

WITHOUT_TIME = (
    Failpoint.BEFORE_REPORT,
    Failpoint.BEFORE_BEGUN,
    Failpoint.AFTER_BEGUN,
    Failpoint.AFTER_ACTION,
)
"""Where no time passes: some come after the last look at the clock, one right before another."""


class Hardware(Protocol):
    """The machine that a client runs on; see `tests.simulation.machine`."""

    world: World
    machine_id: str
    nodes: list[Node]
    desktop: Desktop
    x_server: XServer
    disk: Disk
    boot_id: str
    clock_offset: float
    starts: int

    def new_connection(self, client: "Client", node: Node) -> Connection:
        """A connection from this client to a node."""

    def stepped(self) -> None:
        """The client does a step."""

    def told_to_stop(self, code: int, reason: str) -> None:
        """The client was told not to come back."""

    def client_closes(self, code: CloseCode, reason: str) -> None:
        """The client found the server's words wrong."""

    def client_ends(self) -> None:
        """The client was stopped, and is through with all that it had to do."""


class Client:
    """One process of a machine client."""

    def __init__(self, machine: Hardware) -> None:
        self.machine = machine
        self.machine_id = machine.machine_id
        self.world = machine.world
        self.process = Process(self.world, f"{machine.machine_id}.{machine.starts}")
        self.journal = Journal(SimulatedStorage(machine.disk, self.step))
        self.hand = Hand(machine.desktop, machine.x_server, self)
        self.session = Session(self.clock)
        eyes = Eyes(machine.desktop.texts, self)
        self.worker = Worker(self.journal, self.hand, eyes, self.clock)
        self.connection: Connection | None = None
        self.begin_by = math.inf
        self.is_cut_off = False
        """Whether the link was lost while the command that runs is being carried out."""
        self._interrupts: set[UUID] = set()
        self._jobs: deque[Callable[[], None]] = deque()
        self._beside: deque[Callable[[], None]] = deque()
        self._ticks = self._works = self._works_beside = False
        self._delay = 1.0
        self.process.call_soon(self._connect)

    def clock(self) -> float:
        """Seconds since this machine was started, asleep or not."""
        return self.world.now + self.machine.clock_offset

    def step(self) -> None:
        """Something that a kill may come before."""
        if self.process.is_dead:
            raise Killed
        self.machine.stepped()
        if self.process.is_dead:
            raise Killed

    def pass_time(self, seconds: float, is_over: Callable[[], bool] = bool) -> None:
        """Let time pass in the middle of a command; the rest of the world goes on meanwhile.

        Less where ``is_over`` becomes true.
        """
        world, process = self.world, self.process
        self.step()
        world.run(world.now + seconds, lambda: process.is_dead or is_over())
        while process.state is State.PAUSED:
            world.run(math.inf, lambda: process.state is not State.PAUSED)
        self.step()

    # The connection.

    def _connect(self) -> None:
        node = self.world.random.choice(self.machine.nodes)
        if node.process.is_dead:
            self._connect_later()
            return
        connection = self.machine.new_connection(self, node)
        shaken_at = self.world.now + latency(self.world)
        node.process.call_at(shaken_at, node.open, connection)
        self.connection = connection
        self.process.call_later(OPEN_SECONDS, self._give_up, connection)

    def _give_up(self, connection: Connection) -> None:
        if self.connection is connection and not connection.is_shaken:
            connection.close_by_machine(1006, "no answer to the handshake")

    def _connect_later(self) -> None:
        self.process.call_later(self.world.between(self._delay / 10, self._delay), self._connect)
        self._delay = min(self._delay * 2, 4.0)

    def took(self, connection: Connection, text: str) -> None:
        """A frame came; one of a websocket that is not listened to any more is refused."""
        if connection is not self.connection:
            return
        if not text:
            connection.is_shaken = True
            self.process.call_later(self.world.between(0, 0.01), self._look, connection)
            return
        message = SERVER_MESSAGES.validate_json(text)
        if isinstance(message, DesktopQuery):
            seconds = self.world.looks.uniform(0, SLOWEST_SECONDS)
            self.process.call_later(seconds, self._show, connection, message)
            return
        self._feed(MessageReceived(message))

    def _show(self, connection: Connection, query: DesktopQuery) -> None:
        """Say what the desktop looks like, as what sends pictures does beside the session."""
        if connection is self.connection:
            seen = seen_of(self.world, self.machine_id, query, DISPLAYS[0])
            connection.to_node(seen.model_dump_json())

    def _look(self, connection: Connection) -> None:
        """Make the hello, in a thread, so that it may be a little old when it is sent."""
        connection.opened_at = self.world.now
        hello = Hello(
            protocols=[*PROTOCOLS],
            client_version="0",
            platform="simulation",
            boot_id=self.machine.boot_id,
            displays=DISPLAYS,
            input=CAN,
            screen=CAN,
            journal=self.journal.position,
            yields=False,
            clipboard_read=CAN,
            clipboard_write=CAN,
            elements=CAN,
            desktop=None,
        )
        self.process.call_later(self.world.between(0, 0.01), self._greet, connection, hello)

    def _greet(self, connection: Connection, hello: Hello) -> None:
        if connection is self.connection:
            self._feed(LinkOpened(hello))

    def ended(self, connection: Connection, code: int, reason: str) -> None:
        """A websocket is over."""
        if connection is not self.connection:
            return
        self.connection = None
        self.is_cut_off = True
        self._feed(LinkLost())
        self.world.trace(f"#{connection.number} lost", code, reason)
        if is_stop(code):
            self.machine.told_to_stop(code, reason)
            return
        if self.world.now - connection.opened_at > 5:
            self._delay = 1.0
        self._connect_later()

    # What the session decides.

    def _feed(self, event: Event) -> None:
        for effect in self.session.handle(event):
            self._perform(effect)
        if (self.session.has_queued or self.worker.is_injecting) and not self._ticks:
            self._ticks = True
            self.process.call_later(TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._ticks = False
        if self.worker.is_injecting:
            self._do_beside(self.worker.note_progress)
        self._feed(TimePassed())

    def _perform(self, effect: Effect) -> None:
        match effect:
            case SendMessage(message):
                if self.connection is not None:
                    self.connection.to_node(message.model_dump_json())
            case BeginCommand(command, begin_by):
                self._do_next(lambda: self._carry_out(command, begin_by))
            case LookUpCommand(question):
                self._do_beside(lambda: self._report(self.worker.look_up(question)))
            case ExpireCommand(command):
                self._do_beside(lambda: self._report(self.worker.expire(command)))
            case MarkJournal():
                self._do_beside(lambda: self._report(JournalMarked(*self.journal.mark())))
            case ReleaseHeld():
                self._do_next(self._release_held)
            case InterruptCommands(request):
                self._interrupts.add(request)
                self.hand.interrupt()
                self._do_next(lambda: self._end_interrupt(request))
            case CloseLink(code, reason):
                self.machine.client_closes(code, reason)
                if self.connection is not None:
                    self.connection.close_by_machine(code, reason)

    # The two threads.

    def _release_held(self) -> None:
        self.hand.release_all()
        if self._interrupts:
            self.hand.interrupt()

    def _end_interrupt(self, request: UUID) -> None:
        self._interrupts.discard(request)
        self._release_held()
        self._report(CommandsInterrupted(request))

    def _carry_out(self, command: Input, begin_by: float) -> None:
        self.begin_by = begin_by
        self.is_cut_off = False
        self.world.trace("begin", command.command_id)
        self._report(self.worker.carry_out(command, begin_by))

    def _report(self, event: Event) -> None:
        self.process.call_later(self.world.between(0, 0.002), self._feed, event)

    def _do_next(self, job: Callable[[], None]) -> None:
        self._jobs.append(job)
        if not self._works:
            self._works = True
            self.process.call_later(self.world.between(0, 0.002), self._work)

    def _work(self) -> None:
        try:
            self._jobs.popleft()()
        except Killed:
            return
        if self._jobs:
            self.process.call_later(self.world.between(0, 0.002), self._work)
        else:
            self._works = False
            self.process.call_later(SETTLE_AFTER_SECONDS, self._settle)

    def stop(self) -> None:
        """End as when it is told to: what runs ends early, and what is held is released."""
        self.hand.interrupt()
        self._do_next(self._leave)

    def _leave(self) -> None:
        self.hand.release_all()
        self.journal.close()
        self.machine.client_ends()

    def _settle(self) -> None:
        if not self._works:
            try:
                self.journal.settle()
            except Killed:
                return

    def _do_beside(self, job: Callable[[], None]) -> None:
        self._beside.append(job)
        if not self._works_beside:
            self._works_beside = True
            self.process.call_later(self.world.between(0, 0.005), self._work_beside)

    def _work_beside(self) -> None:
        try:
            self._beside.popleft()()
        except Killed:
            return
        self._works_beside = bool(self._beside)
        if self._beside:
            self.process.call_later(self.world.between(0, 0.005), self._work_beside)

    def passed(self, point: Failpoint) -> None:
        """The code passes a failpoint: time passes, and a kill may come.

        The journal's own steps are where a kill comes between an action's mark and its events.
        """
        if point not in WITHOUT_TIME:
            self.pass_time(self.world.between(0, 0.004))
