"""Buses of several nodes for tests, of either kind, in one event loop."""

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import pytest
import uvloop

from server.bus import nats_bus, nats_link
from server.bus.bus import Bus
from server.bus.local_bus import LocalBus, LocalExchange
from server.bus.nats_bus import NatsBus
from server.tasks import Tasks
from tests.nats import NatsServer
from tests.waiting import until


async def echo(message: bytes) -> bytes:
    """Answers a request with what it was."""
    return b"to " + message


class Network(Protocol):
    """What connects the buses of a test."""

    tasks: Tasks

    async def bus(self) -> Bus:
        """One more bus, connected."""

    async def settled(self) -> None:
        """Wait until all that was registered is in effect."""

    async def cut(self) -> None:
        """Take the connection from all buses, and wait until they know."""

    async def mend(self) -> None:
        """Give it back, and wait until they are connected."""

    async def close(self) -> None:
        """Close all buses."""


class LocalNetwork:
    """Buses within the process."""

    def __init__(self) -> None:
        self.tasks = Tasks()
        self._exchange = LocalExchange()
        self._buses: list[LocalBus] = []

    async def bus(self) -> LocalBus:
        self._buses.append(LocalBus(self._exchange, self.tasks))
        return self._buses[-1]

    async def settled(self) -> None:
        await asyncio.sleep(0)

    async def cut(self) -> None:
        for bus in self._buses:
            bus.go_away()

    async def mend(self) -> None:
        for bus in self._buses:
            bus.come_back()

    async def close(self) -> None:
        for bus in self._buses:
            await bus.close()
        await self.tasks.close(0)


class NatsNetwork:
    """Buses over a real nats-server."""

    def __init__(self, server: NatsServer) -> None:
        self.tasks = Tasks()
        self._server = server
        self._buses: list[NatsBus] = []

    async def bus(self) -> NatsBus:
        bus = NatsBus(self._server.url, self.tasks, name="test")
        bus.start()
        self._buses.append(bus)
        await until(lambda: bus.is_connected)
        return bus

    async def settled(self) -> None:
        for bus in self._buses:
            assert bus._link is not None
            await bus._link.until_served()

    async def cut(self) -> None:
        await asyncio.to_thread(self._server.kill)
        await until(lambda: not any(bus.is_connected for bus in self._buses))

    async def mend(self) -> None:
        # The kernel ends it together with the thread that starts it.
        self._server.start()
        await until(lambda: all(bus.is_connected for bus in self._buses))

    async def close(self) -> None:
        for bus in self._buses:
            await bus.close()
        await self.tasks.close(0)


@contextmanager
def patient_buses() -> Iterator[None]:
    """Meanwhile no connection is given up because nats-server has stood still for some seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nats_link, "PING_SECONDS", 20)
        patch.setattr(nats_bus, "_LEAVE_SECONDS", 20.0)
        yield


KINDS = ("local", "nats", "nats on uvloop")
"""The networks that there are."""


def on_network(
    test: Callable[[Network], Coroutine[Any, Any, None]],
) -> Callable[[str, NatsServer], None]:
    """Run a test with a network of some kind, in the event loop that belongs to it."""

    def run(kind: str, nats_server: NatsServer) -> None:
        async def with_network() -> None:
            network = LocalNetwork() if kind == "local" else NatsNetwork(nats_server)
            try:
                with patient_buses():
                    await test(network)
            finally:
                await network.close()

        nats_server.start()
        factory = uvloop.new_event_loop if kind == "nats on uvloop" else None
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(with_network())

    functools.update_wrapper(run, test)
    # Else pytest would take the test's own argument for a fixture.
    del run.__wrapped__  # type: ignore[attr-defined]
    return run
