"""Websockets between nodes and machine clients: in order, late, cut, half open, stalled.

Whatever was on its way when it is cut is lost, and each side notices by
itself, or by its heartbeats.
"""

import math
from collections.abc import Callable
from typing import Protocol

from schemas.link.close_codes import CloseCode
from tests.simulation.world import Process, World

ABORT_SECONDS = 5.0
"""How long a server waits for the other side to agree that a websocket ends."""

BROKEN = 1006


def latency(world: World) -> float:
    """Seconds that a message takes: mostly a few milliseconds, now and then a third of a second."""
    return 0.001 + 0.3 * world.random.random() ** 6


class Ends(Protocol):
    """What a side of a connection does with what arrives."""

    process: Process

    def took(self, connection: "Connection", text: str) -> None:
        """A message came."""

    def ended(self, connection: "Connection", code: int, reason: str) -> None:
        """The connection is over; called once."""


class Side:
    """One end of a connection."""

    def __init__(self, ends: Ends) -> None:
        self.ends = ends
        self.is_over = False
        self.free_at = 0.0
        """When the last message on its way to this side will be there."""


class Proxy:
    """A broken one: inputs that an old link carried come again on a new one, each once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._kept: list[tuple[Connection, str]] = []

    def passes(self, connection: "Connection", text: str) -> None:
        """The server's words on a connection."""
        if '"type":"input"' in text:
            self._kept.append((connection, text))
        elif '"type":"welcome"' in text:
            kept, self._kept = self._kept, []
            for old, words in kept:
                if old is connection or old.machine_id != connection.machine_id:
                    self._kept.append((old, words))
                elif self.world.chance(0.7):
                    self.world.faults["input repeated"] += 1
                    self.world.aftermath(self.world.between(0, 3), connection.repeat, words)


class Connection:
    """One connection; ``opened_at`` is when its hello looked at the journal."""

    def __init__(
        self,
        world: World,
        number: int,
        machine_id: str,
        machine: Ends,
        node: Ends,
        proxy: Proxy | None,
    ) -> None:
        self.world = world
        self._proxy = proxy
        self.number = number
        self.machine_id = machine_id
        self.opened_at = world.now
        self.is_shaken = False
        self.machine, self.node = Side(machine), Side(node)
        self._cut_at = math.inf

    @property
    def is_over(self) -> bool:
        """Whether nothing passes any more, or one side has given it up."""
        return self._cut_at <= self.world.now or self.machine.is_over or self.node.is_over

    def to_machine(self, text: str) -> None:
        """The server writes."""
        if not self.node.is_over:
            self._send(self.machine, self._deliver, text)
            if self._proxy is not None:
                self._proxy.passes(self, text)

    def repeat(self, text: str) -> None:
        """Something between says what the server once said."""
        self._send(self.machine, self._deliver, text)

    def to_node(self, text: str) -> None:
        """The machine client writes."""
        if not self.machine.is_over:
            self._send(self.node, self._deliver, text)

    def close_by_node(self, code: int, reason: str) -> None:
        """The server begins the closing handshake; the client agrees, or is given up."""
        self._send(self.machine, self._closed, code, reason, True)
        self.node.ends.process.call_later(ABORT_SECONDS, self.end, self.node, code, reason)

    def close_by_machine(self, code: int, reason: str) -> None:
        """The machine client ends it, by itself or because it agrees."""
        self._send(self.node, self._closed, code, reason, False)
        self.end(self.machine, code, reason)

    def cut(self) -> None:
        """Lose what is on its way, and all that follows; nobody is told."""
        self._cut_at = min(self._cut_at, self.world.now)

    def break_for(self, side: Side, after: float) -> None:
        """Have a side notice, after so many seconds, that the connection is over."""
        if not side.is_over:
            side.ends.process.call_later(after, self.end, side, BROKEN, "the connection broke")

    def break_for_unanswered_ping(self, after: float) -> None:
        """Have the machine client give the connection up, after so many seconds."""
        self.machine.ends.process.call_later(after, self._give_up)

    def _give_up(self) -> None:
        if not self.machine.is_over:
            self.close_by_machine(1011, "a ping was not answered")

    def stall(self, side: Side, seconds: float) -> None:
        """Hold back all that is sent to a side from now on."""
        side.free_at = max(side.free_at, self.world.now + seconds)

    def end(self, side: Side, code: int, reason: str) -> None:
        """A side finds that the connection is over."""
        if not side.is_over:
            side.is_over = True
            side.ends.ended(self, code, reason)

    def reset_by(self, dead: Side, other: Side) -> None:
        """A process has ended, and its system says so to the other side, after what it had sent."""
        if not dead.is_over:
            dead.is_over = True
            self._send(other, self._closed, BROKEN, "the connection broke", False)

    def _send(self, to: Side, arrive: Callable[..., None], *what: object) -> None:
        world = self.world
        if self._cut_at <= world.now:
            return
        at = max(to.free_at, world.now + latency(world))
        to.free_at = at
        to.ends.process.call_at(at, self._arrive, at, to, arrive, what)

    def _arrive(
        self, at: float, side: Side, arrive: Callable[..., None], what: tuple[object, ...]
    ) -> None:
        # What came before the cut was there, however late it is looked at.
        if at < self._cut_at and not side.is_over:
            arrive(side, *what)

    def _deliver(self, side: Side, text: str) -> None:
        self.world.trace(f"#{self.number}", text)
        side.ends.took(self, text)

    def _closed(self, side: Side, code: int, reason: str, wants_agreement: bool) -> None:
        self.world.trace(f"#{self.number} closed", code, reason)
        if wants_agreement:
            self._send(self.node, self._closed, code, reason, False)
        self.end(side, code, reason)


def is_stop(code: int) -> bool:
    """Whether a close code tells the machine client to stop for good."""
    return code in CloseCode._value2member_map_ and CloseCode(code).says_stop
