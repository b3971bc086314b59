"""The bus over NATS, which may be away when a node starts, and at any time after."""

import asyncio
import itertools
import logging
import random
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Final
from urllib.parse import SplitResult, urlsplit

from server.bus import bus
from server.bus.answering import Answering
from server.bus.nats_link import NatsLink, NatsUnusableError
from server.bus.open_requests import OpenRequests
from server.bus.pieces import place_of
from server.tasks import Tasks, at_most

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS: Final = 0.1
"""How long a node rests at most before it connects again; doubled each time."""

LONGEST_PAUSE_SECONDS: Final = 2.0
"""The bound of that."""

STEADY_SECONDS: Final = 5.0
"""A connection that lasted so long is followed by the first pause again."""

_GROUP: Final = b"answer"
"""The queue group of all who answer: of its members NATS chooses one for each request."""

_INBOX: Final = 1
"""The number of the subscription in which all replies come."""

_NO_RESPONDERS: Final = 503
_BUSY: Final = 429
_REGISTRATIONS_AT_ONCE: Final = 500
_LEAVE_SECONDS: Final = 1.0

_CANCEL_AGAIN_SECONDS: Final = 2.0
"""Longer than a connection takes to be closed."""


class _Registration:
    """What one subscription of NATS is for: ``respond`` to requests, or ``on_message``."""

    __slots__ = ("_bus", "_number", "on_message", "respond", "subject")

    def __init__(
        self,
        bus: "NatsBus",
        number: int,
        subject: str,
        *,
        on_message: bus.OnMessage | None = None,
        respond: bus.Respond | None = None,
    ) -> None:
        self._bus = bus
        self._number = number
        self.subject = subject.encode()
        self.on_message = on_message
        self.respond = respond

    @property
    def line(self) -> bytes:
        """What tells NATS of it."""
        group = _GROUP if self.respond is not None else b""
        return b"SUB %b %b %d\r\n" % (self.subject, group, self._number)

    def close(self) -> None:
        """Take no more messages."""
        self._bus._unregister(self._number)  # noqa: SLF001  its own part


class NatsBus:
    """Connects in the background, from ``start`` on, and again for ever."""

    def __init__(self, url: str, tasks: Tasks, *, name: str) -> None:
        self._addresses = addresses_in(url)
        self._tasks = tasks
        self._name = name
        self._answering = Answering(tasks)
        self._requests = OpenRequests()
        self._registrations: dict[int, _Registration] = {}
        self._numbers = itertools.count(_INBOX + 1)
        self._inbox = f"_INBOX.{secrets.token_hex(12)}.".encode()
        self._reconnect_calls: list[Callable[[], None]] = []
        self._link: NatsLink | None = None
        self.is_connected = False
        """Whether messages can leave now, and those for this node's registrations come in."""
        self._running: asyncio.Task[None] | None = None
        self._refused = 0
        self._has_told_absence = False
        self._has_told_refusal = False

    @property
    def round_trip_seconds(self) -> float:
        """How long NATS took to answer the last time that it was asked; 0 while it is away."""
        return self._link.round_trip_seconds if self.is_connected and self._link else 0.0

    @property
    def refused(self) -> int:
        """How many messages were dropped: they were malformed, too long, or too many at once."""
        return self._refused + self._requests.refused

    def start(self) -> None:
        """Begin to connect, and wait for nothing."""
        self._running = self._tasks.supervise(self._run, "connect to NATS")

    async def request(self, subject: str, message: bytes, timeout: float) -> bytes:
        """Send a request to one of those who answer a subject; what it replies."""
        bus.check_sent(subject, message)
        if not self.is_connected or self._link is None:
            raise bus.BusAwayError("NATS is away")
        token = self._requests.open()
        if not self._link.send(subject.encode(), message, self._inbox + token):
            self._requests.fail(token, bus.BusAwayError("NATS takes no more"))
        return await self._requests.reply_to(token, timeout)

    def publish(self, subject: str, message: bytes) -> None:
        """Send a message to all who have subscribed to a subject, on this node too."""
        bus.check_sent(subject, message)
        if self.is_connected and self._link is not None:
            self._link.send(subject.encode(), message)

    def subscribe(self, subject: str, on_message: bus.OnMessage) -> bus.Registration:
        """Take every message that is published on a subject."""
        bus.check_subject(subject)
        number = next(self._numbers)
        return self._register(number, _Registration(self, number, subject, on_message=on_message))

    def answer(self, subject: str, respond: bus.Respond) -> bus.Registration:
        """Answer requests on a subject; of several who do, one gets each request."""
        bus.check_subject(subject)
        number = next(self._numbers)
        return self._register(number, _Registration(self, number, subject, respond=respond))

    def on_reconnect(self, call: Callable[[], None]) -> None:
        """Call each time that the bus is back; also the first time, if it is away until then."""
        self._reconnect_calls.append(call)

    async def close(self) -> None:
        """Take and send nothing more.

        NATS is told first, so that it leads no request here that nobody would answer.
        """
        self.is_connected = False
        for number in list(self._registrations):
            self._unregister(number)
        if self._link is not None:
            await at_most(_LEAVE_SECONDS, self._link.until_served())
        if self._running is not None:
            # Up to Python 3.11, one that comes when nats-py has just been greeted is lost: so does
            # asyncio.wait_for with it.
            while not self._running.done():
                self._running.cancel()
                await asyncio.wait({self._running}, timeout=_CANCEL_AGAIN_SECONDS)

    def _register(self, number: int, registration: _Registration) -> bus.Registration:
        self._registrations[number] = registration
        if self._link is not None:
            self._link.command(registration.line)
        return registration

    def _unregister(self, number: int) -> None:
        if self._registrations.pop(number, None) is not None and self._link is not None:
            self._link.command(b"UNSUB %d\r\n" % number)

    async def _run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        for address in itertools.cycle(random.sample(self._addresses, len(self._addresses))):
            began_at = time.monotonic()
            await self._connect_once(address)
            lasted = time.monotonic() - began_at
            pause = FIRST_PAUSE_SECONDS if lasted > STEADY_SECONDS else pause
            await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311  no secret
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _connect_once(self, address: SplitResult) -> None:
        """Connect, and return when that has failed or the connection is over."""
        link = NatsLink(self._take)
        where = _shown(address)
        try:
            await link.open(address, self._name)
            await self._register_all(link)
            if not link.end.done():
                self._is_back(where)
            reason = await link.end
        except NatsUnusableError as error:
            reason = str(error)
        finally:
            self._is_away()
            await link.finish()
        self._tell(where, reason)

    async def _register_all(self, link: NatsLink) -> None:
        # From now on each new registration tells NATS itself.
        self._link = link
        link.command(b"SUB %b*  %d\r\n" % (self._inbox, _INBOX))
        for count, number in enumerate(list(self._registrations), 1):
            # It may have been closed meanwhile.
            if (registration := self._registrations.get(number)) is not None:
                link.command(registration.line)
            if count % _REGISTRATIONS_AT_ONCE == 0:
                await link.until_served()
        await link.until_served()

    def _is_back(self, where: str) -> None:
        self.is_connected = True
        self._has_told_absence = self._has_told_refusal = False
        logger.info("connected to NATS at %s", where)
        for call in self._reconnect_calls:
            try:
                call()
            except Exception:  # whatever it is, the others are called all the same
                logger.exception("what was to be done when NATS is back failed")

    def _is_away(self) -> None:
        self.is_connected = False
        self._link = None
        self._requests.fail_all("the connection to NATS was lost since the request was sent")

    def _tell(self, where: str, reason: str) -> None:
        """Say it once until NATS is back, however often it is tried."""
        is_refusal = "authorization" in reason.lower()
        if not self._has_told_absence:
            words = "NATS at %s is away, and will be tried until it is back: %s"
            logger.warning(words, where, reason)
        elif is_refusal and not self._has_told_refusal:
            # It was away for another reason, and would never be back without a word.
            logger.warning("NATS at %s does not let us in: %s", where, reason)
        self._has_told_absence = True
        self._has_told_refusal |= is_refusal

    def _take(
        self, number: int, subject: bytes, reply: bytes, message: bytes, header: bytes
    ) -> None:
        """Take a message from NATS."""
        if number == _INBOX:
            self._take_reply(subject[len(self._inbox) :], message, header)
            return
        registration = self._registrations.get(number)
        if registration is None:
            # It was closed while the message was under way.
            if reply and self._link is not None:
                self._link.send_status(reply, _NO_RESPONDERS)
        elif registration.on_message is not None:
            try:
                registration.on_message(message)
            except Exception:  # whatever it is, the next message comes all the same
                logger.exception("a subscriber of %s failed", registration.subject.decode())
        elif registration.respond is not None:
            self._take_request(registration.respond, reply, message)

    def _take_request(self, respond: bus.Respond, reply: bytes, message: bytes) -> None:
        if not reply:
            self._refused += 1
        elif not self._answering.start(respond, message, partial(self._send_reply, reply)):
            self._refused += 1
            if self._link is not None:
                self._link.send_status(reply, _BUSY)

    async def _send_reply(self, subject: bytes, reply: bytes) -> None:
        if self._link is not None:
            await self._link.send_reply(subject, reply)

    def _take_reply(self, token: bytes, message: bytes, header: bytes) -> None:
        if not header:
            self._requests.succeed(token, message)
        elif (place := place_of(header)) is not None:
            self._requests.add_piece(token, *place, message)
        elif header.startswith(b"NATS/1.0 %d" % _NO_RESPONDERS):
            self._requests.fail(token, bus.NoResponderError("nobody answers this subject"))
        elif header.startswith(b"NATS/1.0 %d" % _BUSY):
            self._requests.fail(token, bus.BusAwayError(bus.TOO_BUSY))
        else:
            self._refused += 1


def addresses_in(url: str) -> list[SplitResult]:
    """The addresses of NATS' servers, between which there are commas.

    Raises ValueError, whose message has no password in it, where one is none.
    """
    addresses: list[SplitResult] = []
    try:
        addresses = [urlsplit(each.strip()) for each in url.split(",")]
        # A port that is no number is found when it is asked for.
        are_good = all(
            each.scheme in ("nats", "tls") and each.hostname and each.port != 0
            for each in addresses
        )
    except ValueError:
        are_good = False
    if not are_good:
        raise ValueError(
            "the URL of NATS is not as in nats://host:4222, with commas between several"
        )
    return addresses


async def examine(url: str, name: str) -> dict[str, str]:
    """By where it is, why each server of NATS in a URL cannot be used; empty where it can."""
    found = {}
    for address in addresses_in(url):
        link = NatsLink(lambda *_: None)
        try:
            await link.open(address, name)
            found[_shown(address)] = ""
        except NatsUnusableError as error:
            found[_shown(address)] = str(error)
        finally:
            await link.finish()
    return found


def _shown(address: SplitResult) -> str:
    """An address for a person to read, without its password."""
    return f"{address.hostname}:{address.port or 4222}"
