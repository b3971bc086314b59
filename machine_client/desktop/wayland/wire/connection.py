"""One connection to a Wayland compositor: its objects, what they are asked, what they tell."""

import array
import contextlib
import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from machine_client.desktop.base import DesktopLost, InjectionUnavailable
from machine_client.desktop.wayland.wire.messages import (
    HEADER_BYTES,
    Interface,
    Value,
    WireError,
    header,
    packed,
    unpacked,
)
from machine_client.desktop.wayland.wire.protocols import BROUGHT, CALLBACK, REGISTRY, WL_DISPLAY

_FIRST_OF_SERVER: Final = 0xFF000000
_READ_BYTES: Final = 64 * 1024
_MOST_DESCRIPTORS: Final = 28
"""In one piece: more than that libwayland takes from nobody."""

ANSWER_SECONDS: Final = 20.0
"""For a compositor to answer, or to take what it is asked; one that does not is given up."""

_GONE: Final = "The connection to the Wayland compositor ended"


class Proxy:
    """An object of the compositor's; ``on`` has what is called with an event's arguments.

    An object that an event brings is one of these there, any other its number.
    """

    def __init__(self, number: int, interface: Interface) -> None:
        self.id = number
        self.interface = interface
        self.on: dict[str, Callable[..., None]] = {}

    def __repr__(self) -> str:
        return f"{self.interface.name}@{self.id}"


class WaylandConnection:
    """Objects on a compositor's socket; for one thread at a time.

    Requests wait until something is waited for, or `flush`.  Whatever fails raises DesktopLost, and
    from then on everything does.  Raises InjectionUnavailable where there is no compositor.
    """

    def __init__(self, name: str | None) -> None:
        self.path = socket_path(name)
        self._socket = _connected(self.path)
        self._why_lost = ""
        self._unsent = bytearray()
        self._unsent_descriptors: list[int] = []
        self._received = bytearray()
        self._descriptors: deque[int] = deque()
        self._objects: dict[int, Proxy] = {}
        self._free: list[int] = []
        self._last_id = 0
        self._display = self.create(WL_DISPLAY)
        self._display.on = {"error": self._refused, "delete_id": self._deleted}
        self.registry = self.create(REGISTRY)
        self.send(self._display, "get_registry", self.registry)

    def create(self, interface: Interface) -> Proxy:
        """A new object, which the next request that makes one must bring to the compositor."""
        if self._free:
            number = self._free.pop()
        else:
            number = self._last_id = self._last_id + 1
        proxy = self._objects[number] = Proxy(number, interface)
        return proxy

    def send(self, proxy: Proxy, request: str, *values: "Value | Proxy") -> None:
        """Ask something of an object; a descriptor stays the caller's, and may be closed."""
        number = proxy.interface.numbers[request]
        arguments = proxy.interface.requests[number].arguments
        plain = tuple(value.id if isinstance(value, Proxy) else value for value in values)
        data = packed(proxy.id, number, arguments, plain)
        for kind, value in zip(arguments, plain, strict=True):
            if kind == "h" and isinstance(value, int):
                self._unsent_descriptors.append(os.dup(value))
        self._unsent += data
        if len(self._unsent_descriptors) >= _MOST_DESCRIPTORS:
            self.flush()

    def destroy(self, proxy: Proxy, request: str = "destroy") -> None:
        """Give an object up; what it still tells is heard by nobody."""
        proxy.on = {}
        self.send(proxy, request)
        if proxy.id >= _FIRST_OF_SERVER:
            self._objects.pop(proxy.id, None)

    def round_trip(self) -> None:
        """Wait until the compositor has handled every request so far, and hear what it told."""
        done: list[int] = []
        callback = self.create(CALLBACK)
        callback.on["done"] = done.append
        self.send(self._display, "sync", callback)
        if not self.wait_for(lambda: bool(done), ANSWER_SECONDS):
            raise self._given_up()

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Hear what the compositor tells until a condition holds; False where time is over.

        What has come by then counts: it can be that we stood still, and not the compositor.
        """
        until = time.monotonic() + seconds
        self.flush()
        while not condition():
            left = until - time.monotonic()
            if self._readable(left):
                self._read()
            if left <= 0:
                return condition()
        return True

    def hear(self) -> None:
        """Hear what the compositor has told so far, without waiting."""
        self._check()
        while self._readable(0):
            self._read()

    def flush(self) -> None:
        """Send the requests that wait."""
        self._check()
        descriptors, self._unsent_descriptors = self._unsent_descriptors, []
        data, self._unsent = self._unsent, bytearray()
        try:
            while data:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
                sent = self._socket.sendmsg([data], rights if descriptors else [])
                _close_all(descriptors)
                descriptors = []
                del data[:sent]
        except TimeoutError as error:
            raise self._given_up() from error
        except OSError as error:
            # What it said last, such as why it sends us away, may still be there to be read.
            with contextlib.suppress(DesktopLost):
                self._drain()
            raise self._lost(_GONE) from error
        finally:
            _close_all(descriptors)

    @property
    def is_lost(self) -> bool:
        """Whether it is of no use any more; for any thread."""
        return bool(self._why_lost)

    def fileno(self) -> int:
        """What can be waited on for events."""
        return self._socket.fileno()

    def close(self) -> None:
        """End the connection, with all its objects; safe twice."""
        self._why_lost = self._why_lost or _GONE
        self._socket.close()
        _close_all([*self._unsent_descriptors, *self._descriptors])
        self._unsent_descriptors = []
        self._descriptors.clear()

    def _check(self) -> None:
        if self._why_lost:
            raise DesktopLost(self._why_lost)

    def _lost(self, why: str) -> DesktopLost:
        self._why_lost = self._why_lost or why
        return DesktopLost(self._why_lost)

    def _given_up(self) -> DesktopLost:
        """End it here and now: a compositor drops what it has not read of a client that is gone.

        Else it would press, when it goes on, what was answered as failed long ago.
        """
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        return self._lost(f"The Wayland compositor has not answered for {ANSWER_SECONDS:g} s")

    def _readable(self, seconds: float) -> bool:
        self._check()
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(max(0, seconds * 1000)))

    def _drain(self) -> None:
        while self._readable(0):
            self._read()

    def _read(self) -> None:
        space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
        try:
            data, ancillary, _, _ = self._socket.recvmsg(
                _READ_BYTES, space, socket.MSG_CMSG_CLOEXEC
            )
        except OSError as error:
            raise self._lost(_GONE) from error
        for level, kind, content in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                numbers = array.array("i")
                numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
                self._descriptors.extend(numbers)
        if not data:
            raise self._lost(_GONE)
        self._received += data
        try:
            self._handle_all()
        except WireError as error:
            raise self._lost(f"The Wayland compositor sends what is no message: {error}") from error

    def _handle_all(self) -> None:
        start = 0
        try:
            while len(self._received) - start >= HEADER_BYTES:
                target, number, size = header(self._received, start)
                if len(self._received) - start < size:
                    break
                start += size
                self._handle(target, number, start - size + HEADER_BYTES, start)
        finally:
            del self._received[:start]

    def _handle(self, target: int, number: int, start: int, end: int) -> None:
        proxy = self._objects.get(target)
        if proxy is None:
            return  # of an object that we gave up, and that tells nothing with a descriptor
        if number >= len(proxy.interface.events):
            # A newer version's, which is not told of the versions that we ask for.
            raise WireError(f"event {number} of {proxy}")
        event = proxy.interface.events[number]
        values: list[Any] = unpacked(
            event.arguments, self._received, start, end, self._next_descriptor
        )
        if event.creates:
            place = event.arguments.index("n")
            brought = Proxy(values[place], BROUGHT[event.creates])
            values[place] = self._objects[brought.id] = brought
        handler = proxy.on.get(event.name)
        if handler is not None:
            handler(*values)
            return
        for kind, value in zip(event.arguments, values, strict=True):
            if kind == "h":
                os.close(value)

    def _next_descriptor(self) -> int:
        if not self._descriptors:
            raise WireError("a file descriptor is missing")
        return self._descriptors.popleft()

    def _refused(self, target: int, code: int, message: str | None) -> None:
        proxy = self._objects.get(target)
        name = proxy.interface.name if proxy is not None else "an object"
        raise self._lost(
            f"The Wayland compositor refused a request to {name}: {message or code}"[:500]
        )

    def _deleted(self, number: int) -> None:
        if self._objects.pop(number, None) is not None:
            self._free.append(number)


def socket_path(name: str | None) -> str:
    """Where the compositor of a name listens; None is the environment's.

    Raises InjectionUnavailable where the environment does not say.
    """
    name = name or os.environ.get("WAYLAND_DISPLAY") or "wayland-0"
    if name.startswith("/"):
        return name
    directory = os.environ.get("XDG_RUNTIME_DIR")
    if not directory:
        raise InjectionUnavailable(
            f"The Wayland display {name} cannot be found without XDG_RUNTIME_DIR: run this inside "
            "the graphical session, as its user, or name the socket's whole path"
        )
    return os.path.join(directory, name)  # noqa: PTH118  the socket's address is a text


def _connected(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(ANSWER_SECONDS)
    try:
        # Where so many wait already that no more are let in, the timeout makes this fail at once.
        connection.connect(path)
    except OSError as error:
        connection.close()
        raise InjectionUnavailable(
            f"The Wayland display {path} cannot be opened: {error.strerror or error}"
        ) from error
    return connection


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
