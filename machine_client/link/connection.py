"""Keeps one websocket to the server, for ever, and performs what the session decides."""

import asyncio
import logging
import platform
from collections.abc import Callable
from contextlib import suppress

from pydantic import ValidationError
from websockets.exceptions import ConnectionClosed

from machine_client import __version__
from machine_client.concurrency.tasks import Tasks
from machine_client.credentials import Credentials
from machine_client.desktop.base import ELEMENTS_UNTOLD, DesktopElements, DesktopView
from machine_client.journal.journal import Journal
from machine_client.link import events
from machine_client.link.failures import MustStopError, reason_to_retry, without_credentials
from machine_client.link.reconnecting import ClosedLink, ReconnectPolicy
from machine_client.link.session import Session
from machine_client.link.websocket import DirectConnection, open_websocket, proxy_for
from machine_client.screen import sender
from machine_client.screen.capturer import ScreenCapturer
from machine_client.screen.element_questions import ElementQuestions
from machine_client.screen.eyes import ScreenEyes
from machine_client.screen.waits import ScreenWaits
from machine_client.settings import MachineSettings
from machine_client.system.boot import boot_id
from machine_client.system.clock import boottime_seconds
from machine_client.work import orders
from machine_client.work.clipboard import MachineClipboard
from machine_client.work.desktop_watch import DesktopWatch, NullInjector
from machine_client.work.executor import Executor
from machine_client.work.worker import Injector
from schemas.inputs.outcomes import Failed
from schemas.link import messages
from schemas.link.close_codes import CloseCode, fitting
from schemas.values.validation_errors import entries_of, sentence

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.1
MAX_OUTGOING_BYTES = 1024 * 1024
GOING_AWAY = 1001


class MachineClient:
    """One machine's client, for the life of the program.

    ``open_injector`` returns one, or raises InjectionUnavailable: then the link is kept all the
    same, so that operators see the reason, and the desktop is tried again.  ``open_view`` makes
    what the screen is looked at through; None is that there is none, as ``elements`` are.
    Raises `failures.MisconfiguredError` where the environment's proxy cannot be one.
    """

    def __init__(
        self,
        settings: MachineSettings,
        credentials: Credentials,
        journal: Journal,
        open_injector: Callable[[], Injector],
        clipboard: MachineClipboard,
        open_view: Callable[[], DesktopView] | None = None,
        elements: DesktopElements | None = None,
    ) -> None:
        self._elements = elements
        self._settings = settings
        self._proxy = proxy_for(settings)
        self._credentials = credentials
        self._earlier_credentials: Credentials | None = None
        self._journal = journal
        self._open_injector = open_injector
        self._open_view = open_view
        self._clipboard = clipboard
        self._session = Session(boottime_seconds)
        self._reconnect_policy = ReconnectPolicy(settings.reconnect_longest, boottime_seconds)
        self._websocket: DirectConnection | None = None
        self._is_closing = False

    async def run(self) -> None:
        """Stay connected until cancelled, or until the server says that this client must stop.

        Raises `failures.MustStopError` then.
        """
        self._tasks = Tasks()
        self._make_parts(asyncio.get_running_loop())
        try:
            self._tasks.supervise(self._tick, "ticker")
            await self._desktop.look()
            self._tasks.supervise(self._desktop.run, "desktop")
            await self._tasks.run(self._keep_connected(), "connection")
        finally:
            # What runs is interrupted at once; the link may take a moment to close.
            self._lose_link()
            self._waits.close()
            await asyncio.gather(
                self._tasks.close(),
                self._desktop.stop(),
                asyncio.to_thread(self._executor.stop),
                asyncio.to_thread(self._capturer.stop),
                asyncio.to_thread((self._elements or ELEMENTS_UNTOLD).close),
            )

    def _make_parts(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make what has threads of its own, which report to the loop."""

        def report(event: events.Event) -> None:
            # The loop is closed when the executor outlives it at the program's end.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._reported, event)

        open_view = self._open_view if self._settings.screen else None
        elements = self._elements or ELEMENTS_UNTOLD
        eyes = ScreenEyes(open_view, report, report, elements)
        self._executor = Executor(self._journal, NullInjector(), eyes, report)
        self._waits = ScreenWaits(open_view, report, elements)
        self._element_questions = ElementQuestions(elements, report)
        self._capturer = ScreenCapturer(
            open_view,
            report,
            rate=self._settings.screen_rate,
            bytes_per_second=self._settings.screen_bytes_per_second,
        )
        self._desktop = DesktopWatch(
            self._open_injector,
            self._open_view,
            self._capturer.try_screen if self._settings.screen else None,
            seconds=self._settings.desktop_check,
            use=self._executor.use,
            tell=lambda desktop: self._feed(events.DesktopObserved(desktop)),
            elements=self._elements,
        )

    def _reported(self, event: events.Event) -> None:
        """Take what a thread of this client has done; it may show that the desktop has changed."""
        match event:
            case orders.CommandEnded(outcome=Failed(code="desktop_unavailable" | "display_lost")):
                self._desktop.look_soon()
            case orders.CommandEnded():
                self._capturer.expect_change()
            case sender.OrderFailed():
                self._desktop.look_soon()
        self._feed(event)

    async def _keep_connected(self) -> None:
        while True:
            try:
                websocket = await open_websocket(
                    self._settings, self._credentials.headers, self._proxy
                )
            except Exception as error:  # noqa: BLE001  what is not weather is raised again
                delay = self._reconnect_policy.after_failure(self._failure(self._reason(error)))
            else:
                self._keep_token()
                delay = self._reconnect_policy.after_link(await self._serve(websocket))
            await asyncio.sleep(delay)

    def _keep_token(self) -> None:
        """The server knows this client's token now: it needs no code any more."""
        self._earlier_credentials = None
        try:
            self._credentials.joined()
        except OSError as error:
            logger.warning("cannot keep the token, and joins again next time: %s", error)

    def _reason(self, error: Exception) -> str:
        """Why a try has failed.  Raises what ends this client."""
        try:
            return reason_to_retry(error)
        except MustStopError as refusal:
            if self._earlier_credentials is None:
                raise
            # It was the code of a new token that came too late: the one before is good.
            self._credentials, self._earlier_credentials = self._earlier_credentials, None
            return str(refusal)

    def _failure(self, reason: str) -> str:
        way = f" through the proxy {without_credentials(self._proxy)}" if self._proxy else ""
        return (
            f"cannot connect to {self._settings.server}{way}: {reason} "
            "(farhand-machine doctor looks closer)"
        )

    async def _serve(self, websocket: DirectConnection) -> ClosedLink:
        """Be the session on one websocket until it ends; return how it did."""
        opened_at = boottime_seconds()
        async with websocket:
            try:
                welcome = await self._converse(websocket)
            except asyncio.CancelledError:
                await websocket.close(GOING_AWAY, "the machine client was stopped")
                raise
        return ClosedLink(
            websocket.close_code,
            websocket.close_reason or "",
            by_server=websocket.was_closed_by_other_side,
            spread_seconds=None if welcome is None else welcome.reconnect_spread_seconds,
            seconds=boottime_seconds() - opened_at,
        )

    async def _converse(self, websocket: DirectConnection) -> messages.Welcome | None:
        """Exchange messages until the link ends; return the server's welcome, if one came."""
        self._websocket, self._is_closing = websocket, False
        websocket.deliver = self._received
        try:
            self._feed(events.LinkOpened(await asyncio.to_thread(self._hello)))
            with suppress(ConnectionClosed):
                async for message in websocket:
                    self._received(message)
            return self._session.welcome
        finally:
            self._lose_link()

    def _lose_link(self) -> None:
        if self._websocket is not None:
            self._websocket.deliver = None
            self._websocket = None
            self._feed(events.LinkLost())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._executor.note_progress()
            if self._session.has_queued:
                self._feed(events.TimePassed())

    def _received(self, message: str | bytes) -> None:
        try:
            parsed = messages.SERVER_MESSAGES.validate_json(message)
        except ValidationError as error:
            entry = entries_of(error.errors(include_url=False, include_input=False))[0]
            self._perform(
                events.CloseLink(CloseCode.MESSAGE_INVALID, f"not a message: {sentence(entry)}")
            )
            return
        self._feed(events.MessageReceived(parsed))

    def _feed(self, event: events.Event) -> None:
        try:
            for effect in self._session.handle(event):
                self._perform(effect)
        except Exception as error:  # noqa: BLE001  it is called from places that hide it
            # Half an event leaves inputs unanswered for ever: a new start asks the journal.
            self._tasks.end_program(error, "the session")

    def _perform(self, effect: events.Effect) -> None:
        match effect:
            case events.SendMessage(message):
                self._send(message)
                if isinstance(message, messages.HeartbeatAck) and message.sequence == 1:
                    self._say_connected()
            case (
                orders.BeginCommand()
                | orders.LookUpCommand()
                | orders.ExpireCommand()
                | orders.MarkJournal()
                | orders.ReleaseHeld()
                | orders.InterruptCommands()
            ):
                self._executor.submit(effect)
            case events.CloseLink(code, reason):
                self._close(code, reason)
            case sender.SendScreenMessage(message) | sender.SendFrame(message):
                self._send(message)
            case (
                sender.BeginLook() | sender.StopLook() | sender.ListElements() | sender.TellJudged()
            ):
                self._look(effect)
            case sender.CaptureLive() | sender.StopLive() | sender.RunRequest():
                self._capturer.submit(effect)
            case events.ReplaceToken(code):
                self._tasks.start_and_report(self._replace_token(code), "make a new token")
            case orders.ReadClipboard():
                self._tasks.start_and_report(self._read(effect), "read the clipboard")

    def _look(
        self,
        effect: sender.BeginLook | sender.StopLook | sender.ListElements | sender.TellJudged,
    ) -> None:
        """Look at what the screen shows, or stop, or say to who looks what the node has seen."""
        match effect:
            case sender.BeginLook(look):
                self._waits.begin(look)
            case sender.StopLook(look):
                self._waits.stop(look)
            case sender.ListElements(query):
                self._element_questions.begin(query)
            case sender.TellJudged(offered, judged):
                offered.tell(judged)

    async def _replace_token(self, code: str) -> None:
        """Come back with a new token; the link of now ends."""
        try:
            renewed = self._credentials.renewed(code)
        except (OSError, ValueError) as error:
            logger.warning("the server wants this machine's token changed: %s", error)
            return
        self._earlier_credentials, self._credentials = self._credentials, renewed
        if self._websocket is not None:
            logger.info("made a new token, and comes back with it")
            await self._websocket.close(GOING_AWAY, "it comes back with a new token")

    async def _read(self, order: orders.ReadClipboard) -> None:
        self._feed(await self._clipboard.read(order.query))

    def _send(self, message: messages.ClientMessage | bytes) -> None:
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
        if self._websocket is not None and not self._is_closing:
            self._is_closing = True
            logger.error("closing the link (%d): %s", code, reason)
            closing = self._websocket.close(code, fitting(reason))
            self._tasks.start_and_report(closing, "close the link")

    def _hello(self) -> messages.Hello:
        """Everything about this machine as it is now; some milliseconds, so not on the loop."""
        desktop = self._desktop.state
        return messages.Hello(
            protocols=[*messages.PROTOCOLS],
            client_version=__version__,
            platform=platform.platform()[:200],
            boot_id=boot_id(),
            host=platform.node()[:64] or None,
            displays=desktop.displays,
            input=desktop.input,
            screen=desktop.screen,
            journal=self._journal.position,
            yields=self._reconnect_policy.yields,
            clipboard_read=self._clipboard.can_read,
            clipboard_write=self._clipboard.can_write,
            elements=desktop.elements,
            desktop=self._settings.kind_of_desktop,
        )
