"""The bus within one process: what a server uses that is alone, and tests of several nodes."""

import asyncio
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from server.bus import bus
from server.bus.answering import Answering
from server.bus.open_requests import OpenRequests
from server.tasks import Tasks

logger = logging.getLogger(__name__)

Call = TypeVar("Call")


@dataclass(eq=False, slots=True)
class _Registration(Generic[Call]):
    directory: "_Directory[Call]"
    subject: str
    bus: "LocalBus"
    call: Call
    is_open: bool = True

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.directory.remove(self)


class _Directory(Generic[Call]):
    """Who takes messages of which subject."""

    def __init__(self) -> None:
        self._registrations: dict[str, list[_Registration[Call]]] = {}

    def add(self, subject: str, owner: "LocalBus", call: Call) -> _Registration[Call]:
        bus.check_subject(subject)
        registration = _Registration(self, subject, owner, call)
        self._registrations.setdefault(subject, []).append(registration)
        return registration

    def remove(self, registration: _Registration[Call]) -> None:
        there = self._registrations[registration.subject]
        there.remove(registration)
        if not there:
            del self._registrations[registration.subject]

    def reached(self, subject: str) -> list[_Registration[Call]]:
        """Those whose bus is not away."""
        return [each for each in self._registrations.get(subject, ()) if each.bus.is_connected]

    def forget(self, owner: "LocalBus") -> None:
        """Close everything that a bus has registered."""
        for there in list(self._registrations.values()):
            for each in list(there):
                if each.bus is owner:
                    each.close()


class LocalExchange:
    """What the buses of several nodes in one process have in common."""

    def __init__(self) -> None:
        self.subscribers: _Directory[bus.OnMessage] = _Directory()
        self.responders: _Directory[bus.Respond] = _Directory()
        self.turns = itertools.count()


class LocalBus:
    """One node's bus; those of one exchange reach each other, in the same event loop.

    It keeps what `Bus` promises, as `NatsBus` does.  For tests it can ``go_away`` and
    ``come_back``.
    """

    round_trip_seconds = 0.0
    """Nothing is asked, and nothing takes time."""

    def __init__(self, exchange: LocalExchange, tasks: Tasks) -> None:
        self._exchange = exchange
        self._answering = Answering(tasks)
        self._requests = OpenRequests()
        self._reconnect_calls: list[Callable[[], None]] = []
        self.is_connected = True
        """Whether messages can leave now and come in."""
        self._is_closed = False
        self._refused = 0

    @property
    def refused(self) -> int:
        """How many messages were dropped."""
        return self._refused + self._requests.refused

    async def request(self, subject: str, message: bytes, timeout: float) -> bytes:
        """Send a request to one of those who answer a subject; what it replies."""
        bus.check_sent(subject, message)
        if not self.is_connected:
            raise bus.BusAwayError("the bus is away")
        there = self._exchange.responders.reached(subject)
        if not there:
            raise bus.NoResponderError(f"nobody answers {subject}")
        responder = there[next(self._exchange.turns) % len(there)]
        token = self._requests.open()
        responder.bus._answer(responder.call, message, self, token)  # noqa: SLF001  one of us
        return await self._requests.reply_to(token, timeout)

    def publish(self, subject: str, message: bytes) -> None:
        """Send a message to all who have subscribed to a subject, on this node too."""
        bus.check_sent(subject, message)
        if self.is_connected:
            loop = asyncio.get_running_loop()
            for each in self._exchange.subscribers.reached(subject):
                # Not from within the publisher: over a network it would not be either.
                loop.call_soon(self._deliver, each, message)

    def subscribe(self, subject: str, on_message: bus.OnMessage) -> bus.Registration:
        """Take every message that is published on a subject."""
        return self._exchange.subscribers.add(subject, self, on_message)

    def answer(self, subject: str, respond: bus.Respond) -> bus.Registration:
        """Answer requests on a subject; of several who do, one gets each request."""
        return self._exchange.responders.add(subject, self, respond)

    def on_reconnect(self, call: Callable[[], None]) -> None:
        """Call each time that the bus is back."""
        self._reconnect_calls.append(call)

    def go_away(self) -> None:
        """Lose the connection."""
        self.is_connected = False
        self._requests.fail_all("the bus is away since the request was sent")

    def come_back(self) -> None:
        """Have it again."""
        if not self._is_closed and not self.is_connected:
            self.is_connected = True
            for call in self._reconnect_calls:
                try:
                    call()
                except Exception:  # whatever it is, the others are called all the same
                    logger.exception("what was to be done when the bus is back failed")

    async def close(self) -> None:
        """Take and send nothing more."""
        self._is_closed = True
        self.go_away()
        self._exchange.subscribers.forget(self)
        self._exchange.responders.forget(self)

    def _answer(
        self, respond: bus.Respond, message: bytes, asker: "LocalBus", token: bytes
    ) -> None:
        """Answer a request of a bus of this exchange."""
        if not self._answering.start(respond, message, partial(self._send_reply, asker, token)):
            self._refused += 1
            asker._requests.fail(token, bus.BusAwayError(bus.TOO_BUSY))  # noqa: SLF001  one of us

    async def _send_reply(self, asker: "LocalBus", token: bytes, reply: bytes) -> None:
        if self.is_connected:
            asker._requests.succeed(token, reply)  # noqa: SLF001  one of us

    def _deliver(self, subscriber: _Registration[bus.OnMessage], message: bytes) -> None:
        if subscriber.is_open and subscriber.bus.is_connected:
            try:
                subscriber.call(message)
            except Exception:  # whatever it is, the others get it all the same
                logger.exception("a subscriber of %s failed", subscriber.subject)
