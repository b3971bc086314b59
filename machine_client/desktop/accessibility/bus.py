"""The accessibility bus: calls to programs that may be stuck, from a thread with a loop of its own.

dbus-fast is known here alone.  A program that did not answer once is not waited for again until it
has: it costs whoever asks first a moment, and everybody else nothing.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from machine_client.concurrency.threads import daemon_thread
from machine_client.desktop.base import DesktopError
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE

T = TypeVar("T")

IN_FLIGHT: Final = 32
"""Calls that wait for one program: more are no quicker, and buses bound what one may ask."""

SILENCE_SECONDS: Final = 1.0
"""After which a program that answers nothing is taken to be stuck."""

SLOW_SECONDS: Final = 600.0
"""After which nobody hears any more what became of something that was asked."""

CONNECT_SECONDS: Final = 3.0
EXTRA_SECONDS: Final = 1.0
"""What a question may take beyond its own time, as where the whole machine is slow."""

REGISTRY: Final = "org.a11y.atspi.Registry"
ROOT: Final = "/org/a11y/atspi/accessible/root"
_QUIET_EVENT: Final = "document:attributes-changed"
"""Whoever listens to anything has GTK keep its tree ready; this is one that hardly ever happens."""


class SilentProgramError(Exception):
    """A program does not answer; what it shows is not known."""


class CallRefusedError(Exception):
    """A program answered that it has not what was asked for."""


@dataclass(slots=True)
class _Question:
    """What a program was asked, and when it is taken to be stuck."""

    name: str
    until: float
    answer: asyncio.Future[Message]


class Calls:
    """Calls on the bus, for the loop's thread alone.

    A tree takes a thousand of them: none has a task or a timer of its own.
    """

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self._rooms: dict[str, asyncio.Semaphore] = {}
        self._questions: dict[int, _Question] = {}
        self._late: dict[int, str] = {}
        self._silent: set[str] = set()
        self._watch: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[Any]] = set()
        bus.add_message_handler(self._heard)
        self._begun(self._end_with_bus())

    @property
    def is_open(self) -> bool:
        """Whether the bus is still there."""
        return self._bus.connected

    def close(self) -> None:
        """Let go of the bus."""
        with contextlib.suppress(Exception):
            self._bus.disconnect()

    async def call(
        self, name: str, path: str, interface: str, member: str, signature: str = "", *body: Any
    ) -> Any:
        """What a program answers: its one value, or a list of several.

        Raises SilentProgramError and CallRefusedError.
        """
        message = Message(
            destination=name,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
        )
        async with self._rooms.setdefault(name, asyncio.Semaphore(IN_FLIGHT)):
            if name in self._silent:
                raise SilentProgramError(name)
            return _value_of(await self._sent(name, message))

    def _sent(self, name: str, message: Message) -> "asyncio.Future[Message]":
        if not self.is_open:
            raise CallRefusedError("the bus is closed")
        loop = asyncio.get_running_loop()
        message.serial = self._bus.next_serial()
        question = _Question(name, loop.time() + SILENCE_SECONDS, loop.create_future())
        self._questions[message.serial] = question
        if self._watch is None:
            self._watch = loop.call_at(question.until, self._find_silent)
        self._bus.send(message)
        return question.answer

    def _find_silent(self) -> None:
        """End the questions that have waited for too long, and watch for the next to."""
        loop = asyncio.get_running_loop()
        now, self._watch = loop.time(), None
        for serial, question in [*self._questions.items()]:
            if question.until > now:
                # They stand in the order in which they were asked.
                self._watch = loop.call_at(question.until, self._find_silent)
                return
            del self._questions[serial]
            self._late[serial] = question.name
            self._silent.add(question.name)
            if not question.answer.done():
                question.answer.set_exception(SilentProgramError(question.name))

    def send_slowly(
        self, name: str, path: str, interface: str, member: str, signature: str = "", *body: Any
    ) -> "asyncio.Task[Any]":
        """Ask what may take as long as a person takes, and be no sign that a program is stuck."""
        message = Message(
            destination=name,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
        )
        return self._begun(self._slow_answer(message))

    async def _slow_answer(self, message: Message) -> Any:
        async with asyncio.timeout(SLOW_SECONDS):
            reply = await self._bus.call(message)
        return _value_of(reply)

    def _begun(self, coroutine: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """A task that ends by itself, whether or not anybody still waits for it."""
        task = asyncio.create_task(coroutine)  # noqa: TID251  kept here, and heard below
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        task.add_done_callback(_forget)
        return task

    async def _end_with_bus(self) -> None:
        """Have no question wait for a bus that is lost."""
        with contextlib.suppress(Exception):
            await self._bus.wait_for_disconnect()  # type: ignore[no-untyped-call]
        for question in self._questions.values():
            if not question.answer.done():
                question.answer.set_exception(CallRefusedError("the bus is closed"))
        self._questions.clear()

    def _heard(self, message: Message) -> None:
        """Take an answer, and forget the programs that have left the bus."""
        if (question := self._questions.pop(message.reply_serial or 0, None)) is not None:
            if not question.answer.done():
                question.answer.set_result(message)
        elif (name := self._late.pop(message.reply_serial or 0, None)) is not None:
            self._silent.discard(name)
        elif (
            message.member == "NameOwnerChanged" and len(message.body) == 3 and not message.body[2]
        ):
            gone = message.body[0]
            self._rooms.pop(gone, None)
            self._silent.discard(gone)
            self._late = {serial: name for serial, name in self._late.items() if name != gone}


def _value_of(reply: Message | None) -> Any:
    if reply is None:
        raise CallRefusedError("there is no answer")
    if reply.message_type is MessageType.ERROR:
        raise CallRefusedError(f"{reply.error_name}: {reply.body[:1]}"[:300])
    return reply.body[0] if len(reply.body) == 1 else reply.body


def _forget(answer: asyncio.Future[Any]) -> None:
    if not answer.cancelled():
        answer.exception()


def unpacked(value: Any) -> Any:
    """What is in a variant; anything else as it is."""
    return value.value if isinstance(value, Variant) else value


class AccessibilityBus:
    """The bus, opened when it is needed and again after it was lost; for any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._calls: Calls | None = None
        self._lock = threading.Lock()
        self._connecting: asyncio.Lock | None = None

    def ask(self, question: Callable[[Calls], Awaitable[T]], seconds: float) -> T:
        """Do what takes calls; for any thread but the loop's.

        Raises DesktopError where there is no bus, or it takes longer than that.
        """

        async def asked() -> T:
            calls = await self._opened()
            async with asyncio.timeout(seconds):
                return await question(calls)

        future = asyncio.run_coroutine_threadsafe(asked(), self._running_loop())
        try:
            return future.result(seconds + CONNECT_SECONDS + EXTRA_SECONDS)
        except TimeoutError as error:
            future.cancel()
            raise _unavailable("the programs did not answer in time") from error
        except (CallRefusedError, SilentProgramError) as error:
            raise _unavailable(f"the accessibility bus answered: {error}") from error

    def close(self) -> None:
        """Let go of the bus, and end the thread; the next question begins anew."""
        with self._lock:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(self._end, loop)
            thread.join(EXTRA_SECONDS)
            if not thread.is_alive():
                loop.close()

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        calls, self._calls, self._connecting = self._calls, None, None
        if calls is not None:
            calls.close()
        # What waits for the bus hears of its end first.
        loop.call_later(0.05, loop.stop)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                # Not uvloop: this has to be quick at its first question, and is not used for many.
                self._loop = asyncio.SelectorEventLoop()
                self._thread = daemon_thread(self._loop.run_forever, "elements")
                self._thread.start()
            return self._loop

    async def _opened(self) -> Calls:
        self._connecting = self._connecting or asyncio.Lock()
        async with self._connecting:
            if self._calls is None or not self._calls.is_open:
                try:
                    async with asyncio.timeout(CONNECT_SECONDS):
                        self._calls = await _connected()
                except TimeoutError:
                    raise _unavailable("the session's D-Bus did not answer in time") from None
            return self._calls


def _unavailable(why: str) -> DesktopError:
    return DesktopError(ELEMENTS_UNAVAILABLE, why)


async def asked_of_session(interface: str, member: str, signature: str = "", *body: Any) -> Any:
    """What accessibility's own program answers on the session's bus, which starts it.

    Raises DesktopError.
    """
    try:
        session = await MessageBus(bus_type=BusType.SESSION).connect()
    except Exception as error:
        raise _unavailable(
            "there is no D-Bus of a session: run the machine client inside the graphical session, "
            "as its user"
        ) from error
    try:
        answer = await session.call(
            Message(
                destination="org.a11y.Bus",
                path="/org/a11y/bus",
                interface=interface,
                member=member,
                signature=signature,
                body=list(body),
            )
        )
    finally:
        session.disconnect()
    if answer is None or answer.message_type is MessageType.ERROR:
        raise _unavailable("there is no accessibility bus: install at-spi2-core")
    return unpacked(answer.body[0]) if answer.body else None


async def _connected() -> Calls:
    """The accessibility bus, which the session's bus knows or starts."""
    address = str(await asked_of_session("org.a11y.Bus", "GetAddress"))
    try:
        calls = Calls(await MessageBus(bus_address=address).connect())
    except Exception as error:
        raise _unavailable(f"the accessibility bus cannot be reached: {error}") from error
    await _listen(calls)
    return calls


async def _listen(calls: Calls) -> None:
    """Hear of programs that leave, and have those that can keep their trees ready."""
    with contextlib.suppress(CallRefusedError, SilentProgramError):
        await calls.call(
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            "AddMatch",
            "s",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'",
        )
        await calls.call(
            REGISTRY,
            "/org/a11y/atspi/registry",
            REGISTRY,
            "RegisterEvent",
            "sass",
            _QUIET_EVENT,
            [],
            "",
        )
