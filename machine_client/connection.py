"""Keeps one websocket to the server, for ever, and performs what the session decides."""

import asyncio
import logging
import platform
import random
import ssl
import uuid
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import cast

from pydantic import ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
)
from websockets.typing import Subprotocol

from machine_client import __version__
from machine_client.clock import awake_seconds
from machine_client.desktop import DesktopError
from machine_client.executor import Executor
from machine_client.injector import InjectionUnavailable
from machine_client.journal import Journal
from machine_client.photographer import Camera, Photographer
from machine_client.session import (
    BeginCommand,
    CloseLink,
    Effect,
    Event,
    ExpireCommand,
    LinkLost,
    LinkOpened,
    LookUpCommand,
    MarkJournal,
    MessageReceived,
    ReleaseHeld,
    SendMessage,
    Session,
    TimePassed,
)
from machine_client.settings import MachineSettings
from machine_client.showing import CarryOut, Say, SendFrame, StopLive, TakeLive
from machine_client.websocket import DirectConnection
from machine_client.worker import Injector
from schemas.inputs import AnyInput
from schemas.outcomes import Point
from schemas.problems import entries_of, sentence
from schemas.wire import (
    MAX_MESSAGE_BYTES,
    PROTOCOLS,
    SERVER_MESSAGES,
    SUBPROTOCOL,
    Capability,
    ClientMessage,
    CloseCode,
    Display,
    HeartbeatAck,
    Hello,
    says_stop,
)

logger = logging.getLogger(__name__)

OPEN_SECONDS = 15.0
CLOSE_SECONDS = 2.0
"""For the other side to agree that a link ends: what is held is released only after it."""
TICK_SECONDS = 0.1
MAX_OUTGOING_BYTES = 1024 * 1024
LASTING_SECONDS = 5.0
DESKTOP_RETRY_SECONDS = 10.0
FIRST_DELAY = 1.0
RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


class AbsentDesktop:
    """Stands in for a desktop that cannot be opened: refuses everything, holds nothing."""

    injected = 0

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        """Refuse."""
        raise InjectionUnavailable("this machine has no desktop to inject into")

    def interrupt(self) -> None:
        """Nothing runs."""

    def release_all(self) -> None:
        """Nothing is held."""

    def take_released(self) -> None:
        """Nothing was released."""

    def displays(self) -> list[Display]:
        """There are none."""
        return []

    def close(self) -> None:
        """There is nothing to close."""


class MustStopError(Exception):
    """Trying again cannot help; the message says why and what to do, for a person."""


class MachineClient:
    """One machine's client, for the life of the program.

    ``open_desktop`` returns an injector, or raises InjectionUnavailable: then the link is kept all
    the same, so that operators see the reason, and the desktop is tried again.  ``open_camera``
    returns what takes pictures of the screen, or raises DesktopError; None is that there is none.
    """

    def __init__(
        self,
        settings: MachineSettings,
        token: str,
        journal: Journal,
        open_desktop: Callable[[], Injector],
        open_camera: Callable[[], Camera] | None = None,
    ) -> None:
        self._settings = settings
        self._token = token
        self._journal = journal
        self._open_desktop = open_desktop
        self._open_camera = open_camera if settings.screen else None
        self._injector, self._can_inject = self._try_desktop()
        self._session = Session(awake_seconds)
        self._delays = reconnect_delays(settings.reconnect_longest)
        self._websocket: DirectConnection | None = None

    async def run(self) -> None:
        """Stay connected until cancelled, or until :class:`MustStopError` says why not."""
        loop = asyncio.get_running_loop()

        def report(event: Event) -> None:
            # The loop is closed when the executor outlives it at the program's end.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._feed, event)

        self._executor = Executor(self._journal, self._injector, report)
        self._photographer = Photographer(
            self._open_camera,
            report,
            rate=self._settings.screen_rate,
            bytes_per_second=self._settings.screen_bytes_per_second,
        )
        try:
            await self._keep_connected()
        finally:
            await asyncio.to_thread(self._executor.stop)
            await asyncio.to_thread(self._photographer.stop)

    def _try_desktop(self) -> tuple[Injector, Capability]:
        try:
            return self._open_desktop(), Capability(available=True)
        except InjectionUnavailable as error:
            logger.warning("no input is possible: %s", error)
            return AbsentDesktop(), Capability(available=False, reason=str(error)[:500])

    async def _watch_for_desktop(self, websocket: ClientConnection) -> None:
        """While there is no desktop, look for one; when it is there, greet the server anew."""
        while not self._can_inject.available:
            await asyncio.sleep(DESKTOP_RETRY_SECONDS)
            injector, self._can_inject = await asyncio.to_thread(self._try_desktop)
            if self._can_inject.available:
                self._injector = injector
                self._executor.use(injector)
                await websocket.close(1000, "the desktop is there now")

    async def _keep_connected(self) -> None:
        async for websocket in connect(
            self._settings.websocket_url,
            additional_headers={"Authorization": f"Bearer {self._token}"},
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            user_agent_header=f"farhand-machine/{__version__}",
            # Measured by the design: 13.5 KiB for an idle link without, 159 KiB with.
            compression=None,
            max_size=MAX_MESSAGE_BYTES,
            open_timeout=OPEN_SECONDS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=self._settings.heartbeat,
            ping_timeout=self._settings.heartbeat,
            proxy=self._settings.proxy or True,
            ssl=tls_context(self._settings),
            create_connection=DirectConnection,
            process_exception=retry_or_stop,
            reconnect_delays=lambda: self._delays,
            logger=_quiet,
        ):
            lasted = await self._serve(cast("DirectConnection", websocket))
            code, reason = websocket.close_code, websocket.close_reason or "no reason given"
            if says_stop(code):
                raise MustStopError(f"the link was closed for good ({code}): {reason}")
            if lasted >= LASTING_SECONDS:
                self._delays = reconnect_delays(self._settings.reconnect_longest)
            delay = next(self._delays)
            logger.warning("link closed (%s: %s); trying again in %.1f s", code, reason, delay)
            await asyncio.sleep(delay)

    async def _serve(self, websocket: DirectConnection) -> float:
        """Be the session on one websocket until it ends; return how long it lasted, in seconds."""
        opened_at = awake_seconds()
        self._websocket = websocket
        websocket.deliver = self._received
        ticker = asyncio.create_task(self._tick(), name="ticker")  # noqa: TID251
        watcher = asyncio.create_task(  # noqa: TID251
            self._watch_for_desktop(websocket), name="desktop"
        )
        try:
            self._feed(LinkOpened(await asyncio.to_thread(self._hello)))
            with suppress(ConnectionClosed):
                async for message in websocket:
                    self._received(message)
        finally:
            self._websocket = websocket.deliver = None
            self._feed(LinkLost())
            for task in (ticker, watcher):
                task.cancel()
            await asyncio.gather(ticker, watcher, return_exceptions=True)
        return awake_seconds() - opened_at

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._executor.note_progress()
            if self._session.has_queued:
                self._feed(TimePassed())

    def _received(self, message: str | bytes) -> None:
        try:
            parsed = SERVER_MESSAGES.validate_json(message)
        except ValidationError as error:
            entry = entries_of(error.errors(include_url=False, include_input=False))[0]
            self._perform(CloseLink(CloseCode.MESSAGE_INVALID, f"not a message: {sentence(entry)}"))
            return
        self._feed(MessageReceived(parsed))

    def _feed(self, event: Event) -> None:
        for effect in self._session.handle(event):
            self._perform(effect)

    def _perform(self, effect: Effect) -> None:
        match effect:
            case SendMessage(message):
                self._send(message)
                if isinstance(message, HeartbeatAck) and message.sequence == 1:
                    self._say_connected()
            case BeginCommand(command, begin_by):
                self._executor.begin(command, begin_by)
            case LookUpCommand(command_id):
                self._executor.look_up(command_id)
            case ExpireCommand(command):
                self._executor.expire(command)
            case MarkJournal():
                self._executor.mark()
            case ReleaseHeld():
                self._executor.release_held()
            case CloseLink(code, reason):
                self._close(code, reason)
            case Say(message):
                self._send(message)
            case SendFrame(frame):
                self._send(frame)
            case TakeLive() | StopLive() | CarryOut():
                self._photographer.obey(effect)

    def _send(self, message: ClientMessage | bytes) -> None:
        if self._websocket is None:
            return
        if isinstance(message, bytes):
            waiting = self._websocket.write_bytes(message)
        else:
            waiting = self._websocket.write(message.model_dump_json())
        if waiting > MAX_OUTGOING_BYTES:
            self._close(CloseCode.OVERFLOW, f"more than {MAX_OUTGOING_BYTES} bytes wait to be sent")

    def _say_connected(self) -> None:
        """Now that the server has all that it waits for before it sends inputs."""
        if (welcome := self._session.welcome) is not None:
            logger.info("connected to %s as machine %s", self._settings.server, welcome.machine_id)

    def _close(self, code: CloseCode, reason: str) -> None:
        if self._websocket is not None:
            logger.error("closing the link (%d): %s", code, reason)
            closing = self._websocket.close(code, reason.encode()[:123].decode(errors="ignore"))
            self._closing = asyncio.create_task(closing, name="close")  # noqa: TID251

    def _hello(self) -> Hello:
        """Everything about this machine as it is now; some milliseconds, so not on the loop."""
        try:
            displays = self._injector.displays()
        except InjectionUnavailable as error:
            logger.warning("the displays are unknown: %s", error)
            displays = []
        return Hello(
            protocols=[*PROTOCOLS],
            client_version=__version__,
            platform=platform.platform()[:200],
            boot_id=boot_id(),
            displays=displays,
            input=self._can_inject,
            screen=self._can_show(),
            journal=self._journal.position,
            released=self._injector.take_released(),
        )

    def _can_show(self) -> Capability:
        if not self._settings.screen:
            return Capability(available=False, reason="its owner lets nobody look at the screen")
        try:
            self._photographer.try_camera()
        except DesktopError as error:
            return Capability(available=False, reason=str(error)[:500])
        return Capability(available=True)


_quiet = logging.getLogger("machine_client.websocket")
_quiet.setLevel(logging.ERROR)


def retry_or_stop(error: Exception) -> Exception | None:
    """None where a connection that failed in this way should be tried again."""
    match error:
        case InvalidStatus(response=response) if response.status_code in (401, 403):
            return MustStopError(
                f"the server refused the token (HTTP {response.status_code}): "
                "make a new one with farhand machine add or farhand token create"
            )
        case InvalidStatus(response=response) if response.status_code in RETRIED_STATUSES:
            pass
        case InvalidStatus(response=response):
            return MustStopError(
                f"there is no Farhand server at this address (HTTP {response.status_code})"
            )
        case NegotiationError():
            return MustStopError("the server does not speak this machine client's protocol")
        case InvalidProxy():
            # Its text repeats the whole address, which can hold a password.
            return MustStopError(f"the environment's proxy cannot be used: {error.msg}")
        case OSError() | TimeoutError() | EOFError() | InvalidHandshake():
            pass  # before ValueError, which a certificate's failure is as well
        case InvalidURI() | ValueError():
            return MustStopError(f"the address of the server or of a proxy is wrong: {error}")
        case _:
            return error
    logger.warning("cannot connect: %s; trying again", str(error) or type(error).__name__)
    return None


def reconnect_delays(longest_delay: float) -> Generator[float, None, None]:
    """Seconds before each further try: growing up to a longest one, and random all through.

    A thousand machines that lose their server in the same moment must not come back in the same.
    """
    longest = min(FIRST_DELAY, longest_delay)
    while True:
        yield random.uniform(longest / 10, longest)  # noqa: S311 - spreads load, hides nothing
        longest = min(longest * 2, longest_delay)


def tls_context(settings: MachineSettings) -> ssl.SSLContext | None:
    """How to check the server's certificate; None where the link is not encrypted."""
    if not settings.websocket_url.startswith("wss:"):
        return None
    return ssl.create_default_context(cafile=settings.ca_file)


def boot_id() -> str:
    """What changes when the machine boots; a random id where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return _PROCESS_ID


_PROCESS_ID = str(uuid.uuid4())
