"""The bus between nodes: it loses, delays, repeats and reorders, and is away for a while.

Worse than any real one: what comes twice, or much later, NATS never does.  A command that is asked
for again may come to a node that refuses it, and knows nothing of the message before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from server.bus.answering import Answering
from server.bus.bus import (
    BusAwayError,
    BusError,
    NoResponderError,
    OnMessage,
    Registration,
    Respond,
    check_sent,
    check_subject,
)
from server.bus.open_requests import OpenRequests
from server.dispatch.questions.inputs import CarryOut
from server.dispatch.questions.question import NotUnderstood, encode
from server.tasks import Tasks
from tests.simulation.network import latency
from tests.simulation.world import Process, World

COMMAND = b'"type":"%b"' % CarryOut.model_fields["type"].default.encode()
"""What stands in a message that brings a command."""

LATE = (0.1, 12.0)
"""By how many seconds a message is late that is, or the second copy of one."""

LINGERING = (0.0, 3.0)
"""Seconds until the exchange notices that a node is gone that has not said so."""


@dataclass
class BusRates:
    """How often a message has bad luck, each as a probability."""

    lost: float = 0.0
    late: float = 0.0
    repeated: float = 0.0
    refused: float = 0.0


class Exchange:
    """What all nodes connect to: it knows who answers what."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rates = BusRates()
        self.is_out = False
        self._answered: dict[str, list[_Answered]] = {}
        self._commands: set[bytes] = set()

    def add(self, answered: "_Answered") -> None:
        """A registration is in effect."""
        there = self._answered.setdefault(answered.subject, [])
        if answered not in there:
            there.append(answered)

    def remove_after(self, seconds: float, answered: "_Answered") -> None:
        """A registration is over, which this side will know in so many seconds."""
        self.world.outside.call_later(seconds, self._remove, answered)

    def linger(self, answered: "_Answered") -> None:
        """A registration is over, and nobody says so."""
        self.remove_after(self.world.between(*LINGERING), answered)

    def request(self, asker: "SimulatedBus", token: bytes, subject: str, message: bytes) -> None:
        """Take a request to one of those who answer its subject."""
        world = self.world
        if self._is_asked_again(message) and self._has_bad_luck("refused", "request"):
            refusal = encode(NotUnderstood(reason="late"))
            asker.process.call_later(latency(world), asker.took, token, refusal)
            return
        if self._has_bad_luck("lost", "request"):
            return
        world.outside.call_later(latency(world), self._route, asker, token, subject, message)

    def reply(self, asker: "SimulatedBus", token: bytes, reply: bytes) -> None:
        """Take a reply to whoever asked."""
        if not self._has_bad_luck("lost", "reply"):
            self._carry("reply", asker.process, asker.took, token, reply)

    def _route(self, asker: "SimulatedBus", token: bytes, subject: str, message: bytes) -> None:
        there = self._answered.get(subject)
        if there:
            answered = self.world.random.choice(there)
            take = partial(answered.bus.answer_request, answered, asker, token)
            self._carry("request", answered.bus.process, take, message)
        else:
            error = NoResponderError(f"nobody answers {subject}")
            asker.process.call_later(latency(self.world), asker.failed, token, error)

    def _carry(
        self, kind: str, process: Process, arrive: Callable[..., object], *what: object
    ) -> None:
        delays = [latency(self.world)]
        if self._has_bad_luck("late", kind):
            delays[0] += self.world.between(*LATE)
        if self._has_bad_luck("repeated", kind):
            delays.append(delays[0] + self.world.between(*LATE) * self.world.random.random())
        for delay in delays:
            if delay > 1:
                self.world.calm_at = max(self.world.calm_at, self.world.now + delay)
            process.call_later(delay, arrive, *what)

    def _is_asked_again(self, message: bytes) -> bool:
        """Whether a message brings a command that an earlier one has brought."""
        if COMMAND not in message:
            return False
        is_again = message in self._commands
        self._commands.add(message)
        return is_again

    def _has_bad_luck(self, luck: str, kind: str) -> bool:
        rate: float = getattr(self.rates, luck)
        has = rate > 0 and self.world.chance(rate)
        self.world.faults[f"{kind} {luck}"] += has
        return has

    def _remove(self, answered: "_Answered") -> None:
        there = self._answered.get(answered.subject, [])
        if answered in there and not answered.is_in_effect:
            there.remove(answered)
            if not there:
                del self._answered[answered.subject]


@dataclass(eq=False)
class _Answered:
    """A subject that a node answers."""

    bus: "SimulatedBus"
    subject: str
    respond: Respond
    is_open: bool = True

    @property
    def is_in_effect(self) -> bool:
        return self.is_open and self.bus.is_connected and not self.bus.process.is_dead

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.bus.forget(self)


class SimulatedBus:
    """One node's bus (`server.bus.bus.Bus`), for as long as its process lives."""

    def __init__(self, exchange: Exchange, process: Process, tasks: Tasks) -> None:
        self.process = process
        self._exchange = exchange
        self._answering = Answering(tasks)
        self._requests = OpenRequests()
        self._registrations: list[_Answered] = []
        self._reconnect_calls: list[Callable[[], None]] = []
        self._is_connected = not exchange.is_out

    @property
    def is_connected(self) -> bool:
        """Whether messages can leave now and come in."""
        return self._is_connected

    @property
    def round_trip_seconds(self) -> float:
        """Nobody looks at it."""
        return 0.0

    @property
    def refused(self) -> int:
        """How many messages were dropped."""
        return self._requests.refused

    async def request(self, subject: str, message: bytes, timeout: float) -> bytes:
        """Send a request to one of those who answer a subject; what it replies."""
        check_sent(subject, message)
        if not self._is_connected:
            raise BusAwayError("the bus is away")
        token = self._requests.open()
        self._exchange.request(self, token, subject, message)
        return await self._requests.reply_to(token, timeout)

    def publish(self, subject: str, message: bytes) -> None:
        """Nothing of what is simulated publishes."""
        raise NotImplementedError

    def subscribe(self, subject: str, on_message: OnMessage) -> Registration:
        """Nothing of what is simulated subscribes."""
        raise NotImplementedError

    def answer(self, subject: str, respond: Respond) -> Registration:
        """Answer requests on a subject, soon."""
        check_subject(subject)
        answered = _Answered(self, subject, respond)
        self._registrations.append(answered)
        outside, world = self._exchange.world.outside, self._exchange.world
        outside.call_later(latency(world), self._take_effect, answered)
        return answered

    def on_reconnect(self, call: Callable[[], None]) -> None:
        """Call each time that the bus is back."""
        self._reconnect_calls.append(call)

    async def close(self) -> None:
        """A simulated node is killed, and never stops."""
        raise NotImplementedError

    def forget(self, answered: _Answered) -> None:
        """A registration is closed; the exchange is told."""
        self._registrations.remove(answered)
        self._exchange.remove_after(latency(self._exchange.world), answered)

    def vanish(self) -> None:
        """The process is killed: what it answered lingers for a moment."""
        for answered in self._registrations:
            self._exchange.linger(answered)

    def go_away(self) -> None:
        """Lose the connection."""
        self._is_connected = False
        self.vanish()
        self._requests.fail_all("the bus is away since the request was sent")

    def come_back(self) -> None:
        """Have it again."""
        if self._is_connected or self._exchange.is_out:
            return
        self._is_connected = True
        for answered in self._registrations:
            self._exchange.add(answered)
        for call in self._reconnect_calls:
            call()

    def answer_request(
        self, answered: _Answered, asker: "SimulatedBus", token: bytes, message: bytes
    ) -> None:
        """A request came for what this node answers, or no longer does."""
        if answered.is_in_effect:
            self._answering.start(answered.respond, message, partial(self._reply, asker, token))

    def took(self, token: bytes, reply: bytes) -> None:
        """A reply came."""
        if self._is_connected:
            self._requests.succeed(token, reply)

    def failed(self, token: bytes, error: BusError) -> None:
        """The exchange says that a request came to nobody."""
        if self._is_connected:
            self._requests.fail(token, error)

    async def _reply(self, asker: "SimulatedBus", token: bytes, reply: bytes) -> None:
        if self._is_connected:
            self._exchange.reply(asker, token, reply)

    def _take_effect(self, answered: _Answered) -> None:
        if answered.is_in_effect:
            self._exchange.add(answered)
