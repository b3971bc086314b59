"""A machine: what outlives its client, and what can happen to it."""

import math
from collections.abc import Callable
from uuid import UUID, uuid4

from schemas.link.close_codes import CloseCode
from tests.simulation.client import Client
from tests.simulation.desktop import Desktop
from tests.simulation.disk import Copy, Disk
from tests.simulation.network import Connection, Proxy
from tests.simulation.node import Node
from tests.simulation.screen import XServer
from tests.simulation.world import World

SUPERVISOR_SECONDS = 3.0
"""After how long a client is started again that was told to stop."""


class Machine:
    """The hardware: a disk, a desktop, and whatever client runs on it."""

    def __init__(
        self,
        world: World,
        machine_id: str,
        nodes: list[Node],
        desktop: Desktop,
        *,
        heartbeat_seconds: float,
        proxy: Proxy | None,
    ) -> None:
        self.world = world
        self.machine_id = machine_id
        self.nodes = nodes
        self.desktop = desktop
        self.x_server = XServer()
        self.visits = 0
        """How often a person pressed something."""
        self.disk = Disk()
        self.boot_id = str(uuid4())
        self.clock_offset = world.between(0, 100_000)
        self.losses: list[float] = []
        """When the journal was replaced or restored, or the machine rebooted."""
        self.reboots = 0
        self.replaced_at = -math.inf
        """When the journal was last replaced by another file."""
        self.unfinished: set[UUID] = set()
        """The commands that some kill found begun and not ended."""
        self.starts = 0
        self.is_removed = False
        # What seeds come to is written down in test_rules.py, and begins with this.
        world.random.random()
        self.keeps_its_journal = False
        """Set once a key's life has ended that only the journal remembers."""
        self._heartbeat_seconds = heartbeat_seconds
        self._proxy = proxy
        self._call_at_step: tuple[int, Callable[[], None]] | None = None
        self.start()

    def start(self) -> None:
        """Start the client."""
        if not self.is_removed:
            self.starts += 1
            self._call_at_step = None
            self.client = Client(self)

    def new_connection(self, client: Client, node: Node) -> Connection:
        """A connection from this client to a node."""
        number = self.world.number()
        return Connection(self.world, number, self.machine_id, client, node, self._proxy)

    @property
    def is_running(self) -> bool:
        """Whether a client runs, or stands still."""
        return not self.client.process.is_dead

    @property
    def may_lose_its_journal(self) -> bool:
        """Whether such a fault may happen now."""
        return self.is_running and not self.keeps_its_journal

    # Faults.

    def kill(self, *, silently: bool = False) -> None:
        """SIGKILL the client, or with ``silently`` the whole machine: nobody is told."""
        client, connection = self.client, self.client.connection
        if client.process.is_dead:
            return
        client.process.kill()
        self.unfinished.update(self.disk.intents())
        if connection is not None:
            if silently:
                connection.cut()
                connection.machine.is_over = True
            else:
                connection.reset_by(connection.machine, connection.node)

    def reboot(self) -> None:
        """Lose power, and with it what was not flushed."""
        self.kill(silently=True)
        self.disk.lose_power(self.world.random)
        self.x_server = XServer()
        self.unfinished.update(self.disk.intents())
        self.boot_id = str(uuid4())
        self.reboots += 1
        self.losses.append(self.world.now)

    def replace_journal(self, copy: Copy) -> None:
        """Kill the client and put another file in the place of its journal."""
        self.kill()
        self.disk.replace_with(copy)
        self.replaced_at = self.world.now
        self.losses.append(self.world.now)

    def call_at_step(self, steps: int, call: Callable[[], None]) -> None:
        """Have something happen when the client has done so many more steps."""
        self._call_at_step = (steps, call)

    def stepped(self) -> None:
        """The client does a step."""
        if self._call_at_step is not None:
            steps, call = self._call_at_step
            self._call_at_step = (steps - 1, call) if steps > 1 else None
            if steps == 1:
                call()

    def told_to_stop(self, code: int, reason: str) -> None:
        """The client was told not to come back; whoever looks after it starts it again."""
        self.world.facts[f"stopped {code}"] += 1
        if self._proxy is None and not self.is_removed:
            self.world.violated(f"the client was told to stop: {code} {reason}")
        self.kill()
        self.world.aftermath(SUPERVISOR_SECONDS, self.start)

    def client_ends(self) -> None:
        """The client was stopped; whoever did so starts it again."""
        self.kill()
        self.world.restart(self.start, 4)

    def client_closes(self, code: CloseCode, reason: str) -> None:
        """The client found the server's words wrong."""
        self.world.facts[f"client closed {code.name}"] += 1
        if self._proxy is None:
            self.world.violated(f"the client closed the link: {code} {reason}")
