"""The fault proxy does to real connections what it says, and nothing else."""

import json
import queue
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Literal

import pytest
from websockets.frames import Frame, Opcode

from tests.faults.fault_proxy import Action, FaultProxy, LinkFault

HEAD = b"GET / HTTP/1.1\r\n\r\n"
SILENCE_SECONDS = 0.2
WAIT_SECONDS = 30.0
FAR_SECONDS = 0.5


def frame(name: str, *, mask: bool) -> bytes:
    payload = json.dumps({"type": name}).encode()
    return Frame(Opcode.TEXT, payload).serialize(mask=mask)


INPUT, ACK, WELCOME = (
    frame("input", mask=False),
    frame("ack", mask=True),
    frame("welcome", mask=False),
)


class End:
    """One end of a connection."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        connected.settimeout(WAIT_SECONDS)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receives(self, data: bytes) -> None:
        received = b""
        while len(received) < len(data):
            received += self.socket.recv(len(data) - len(received))
        assert received == data

    def is_silent(self) -> bool:
        """Whether nothing comes for a while, not even an end."""
        return not select.select([self.socket], [], [], SILENCE_SECONDS)[0]

    def is_reset(self) -> bool:
        try:
            while self.socket.recv(1000):
                pass
        except ConnectionResetError:
            return True
        return False

    def has_ended(self) -> bool:
        """Whether the next thing is the stream's end."""
        return self.socket.recv(1) == b""


class Wire:
    """A client's and a server's end, with the proxy between them."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._accepted: queue.Queue[socket.socket] = queue.Queue()
        self._ends: list[End] = []
        self.proxy = FaultProxy(lambda: self._listening.getsockname()[:2])
        threading.Thread(target=self._accept, daemon=True).start()

    def connect(self) -> tuple[End, End]:
        """A new connection: the client's end and the server's, past the HTTP heads."""
        client = End(socket.create_connection(("127.0.0.1", self.proxy.port)))
        server = End(self._accepted.get(timeout=WAIT_SECONDS))
        self._ends += (client, server)
        client.send(HEAD)
        server.receives(HEAD)
        server.send(HEAD)
        client.receives(HEAD)
        return client, server

    def close(self) -> None:
        for end in self._ends:
            end.socket.close()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        try:
            while True:
                self._accepted.put(self._listening.accept()[0])
        except OSError:
            return


@pytest.fixture
def wire() -> Iterator[Wire]:
    wire = Wire()
    with wire.proxy:
        yield wire
        wire.close()


def armed(
    wire: Wire,
    action: Action,
    message: str | None,
    when: Literal["before", "after"] = "before",
    seconds: float = 0.0,
) -> LinkFault:
    fault = LinkFault(action, message, when, seconds)
    wire.proxy.arm(fault)
    return fault


def test_everything_passes_both_ways_as_it_is(wire: Wire) -> None:
    client, server = wire.connect()
    client.send(ACK + ACK)
    server.receives(ACK + ACK)
    server.send(WELCOME + INPUT)
    client.receives(WELCOME + INPUT)
    client.socket.shutdown(socket.SHUT_WR)
    assert server.has_ended()
    server.send(INPUT)
    client.receives(INPUT)


@pytest.mark.parametrize("when", ["before", "after"])
def test_reset_at_a_message_reaches_both_ends(wire: Wire, when: Literal["before", "after"]) -> None:
    client, server = wire.connect()
    fault = armed(wire, Action.RESET, "input", when, 0.0 if when == "before" else FAR_SECONDS)
    server.send(WELCOME)
    client.receives(WELCOME)
    assert not fault.injected.is_set()
    server.send(INPUT)
    if when == "after":
        client.receives(INPUT)
    assert client.is_reset()
    assert server.is_reset()
    assert fault.injected.wait(WAIT_SECONDS)


@pytest.mark.parametrize("when", ["before", "after"])
def test_nobody_is_told_of_a_blackhole(wire: Wire, when: Literal["before", "after"]) -> None:
    client, server = wire.connect()
    fault = armed(wire, Action.BLACKHOLE, "ack", when)
    server.send(INPUT)
    client.receives(INPUT)
    client.send(ACK)
    assert fault.injected.wait(WAIT_SECONDS)
    if when == "after":
        server.receives(ACK)
    server.send(INPUT)
    client.send(ACK)
    assert client.is_silent()
    assert server.is_silent()
    client.socket.close()
    assert server.is_silent()


def test_half_close_ends_one_direction_and_leaves_the_other(wire: Wire) -> None:
    client, server = wire.connect()
    armed(wire, Action.HALF_CLOSE, "input", "after")
    server.send(INPUT + INPUT)
    client.receives(INPUT)
    assert client.has_ended()
    client.send(ACK)
    server.receives(ACK)
    assert server.is_silent()


def test_delay_holds_one_direction_in_order(wire: Wire) -> None:
    client, server = wire.connect()
    armed(wire, Action.DELAY, "input", "before", FAR_SECONDS)
    begin = time.monotonic()
    server.send(INPUT + WELCOME)
    client.send(ACK)
    server.receives(ACK)
    client.receives(INPUT + WELCOME)
    assert time.monotonic() - begin >= FAR_SECONDS


def test_strike_at_whatever_comes_next_takes_the_next_message_of_either_direction(
    wire: Wire,
) -> None:
    client, server = wire.connect()
    armed(wire, Action.RESET, None)
    client.send(ACK)
    assert server.is_reset()


def test_strike_strikes_once(wire: Wire) -> None:
    _, server = wire.connect()
    armed(wire, Action.RESET, "input")
    server.send(INPUT)
    assert server.is_reset()
    client, server = wire.connect()
    server.send(INPUT)
    client.receives(INPUT)


def test_strike_that_was_taken_back_does_nothing(wire: Wire) -> None:
    client, server = wire.connect()
    fault = armed(wire, Action.RESET, "input")
    assert wire.proxy.disarm(fault)
    server.send(INPUT)
    client.receives(INPUT)


def test_other_connections_go_on(wire: Wire) -> None:
    first_client, _ = wire.connect()
    second_client, second_server = wire.connect()
    fault = armed(wire, Action.BLACKHOLE, "ack")
    first_client.send(ACK)
    assert fault.injected.wait(WAIT_SECONDS)
    second_client.send(ACK)
    second_server.receives(ACK)


def test_reset_of_one_end_is_passed_on(wire: Wire) -> None:
    client, server = wire.connect()
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.socket.close()
    assert server.is_reset()


def test_server_that_is_down_refuses_the_client() -> None:
    with FaultProxy(lambda: ("127.0.0.1", 1)) as proxy:
        client = End(socket.create_connection(("127.0.0.1", proxy.port)))
        assert client.is_reset()
        client.socket.close()
