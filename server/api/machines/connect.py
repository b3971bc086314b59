"""Where machine clients connect: a websocket that only a machine's own token opens."""

import asyncio
import logging
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, cast

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.link.messages import PROTOCOLS, PROTOCOLS_HEADER, SUBPROTOCOL
from schemas.resources.tokens import Scope
from schemas.values.foreign_texts import foreign_text
from server.identity.authentication import Principal
from server.services import Services
from server.web.endpoint import Endpoint, endpoint
from server.web.handler import ApiHandler

logger = logging.getLogger(__name__)

TEXT_FRAME = 0x1

MAX_LATE_FRAMES = 256
"""So many frames may have been on their way when a link was closed; more are a flood."""

FRAMES_OF_A_PING = 5
"""A ping is answered, with a write of its own: it costs others several times what an ack does."""


class CountedFrames(WebSocketProtocol13):
    """Tells the websocket of every frame that came: pings and parts of messages, too.

    Tornado's hooks do not tell of all of them, and each costs whoever reads it.
    """

    # Tornado's own are as many attributes as instances can share the names of: among them, each
    # of ours would cost every link 1.3 kB.
    __slots__ = ("_frames_awaited", "_reading")

    def __init__(self, *of_tornado: Any) -> None:
        super().__init__(*of_tornado)
        self._frames_awaited = 0

    async def _receive_frame_loop(self) -> None:
        """Read in a task of its own: the request's would keep all of it as long as the link stands.

        The registry says which links are open, and so none of them holds up the server's stop.
        """
        self._reading = asyncio.create_task(  # noqa: TID251 - what it raises, asyncio logs
            super()._receive_frame_loop(), name="read a machine's websocket"
        )

    def _read_bytes(self, n: int) -> Awaitable[bytes]:  # type: ignore[override]
        """Count before it is read: a coroutine for that alone would stay with each link."""
        self._wire_bytes_in += n
        return self.stream.read_bytes(n)

    def _receive_frame(self) -> Coroutine[Any, Any, None]:
        """Count the frame before this one, without a coroutine for that alone."""
        self._frames_awaited += 1
        if self._frames_awaited > 1 and not cast("MachineWebSocket", self.handler).is_heard():
            # What is read already is not taken frame by frame, and the rest not read at all.
            self.client_terminated = True
            self.close()
            return _nothing()
        return super()._receive_frame()


async def _nothing() -> None:
    """No further frame."""


class MachineWebSocket:
    """A websocket whose handshake is over: what its frames mean is the link's business."""

    __slots__ = ("_frames", "_late_frames", "_services", "link")

    def __init__(
        self, frames: CountedFrames, services: Services, principal: Principal, machine_id: str
    ) -> None:
        self._frames = frames
        self._services = services
        self._late_frames = 0
        self.link = services.admission.open(
            self,
            organization_id=principal.organization_id,
            machine_id=machine_id,
            token_id=principal.token_id,
            token_ends=principal.expires_at,
        )

    def on_message(self, message: str | bytes) -> None:
        """Hand a frame to the link."""
        self.link.received(message)

    def on_ping(self, _data: bytes) -> None:
        """Count what a ping costs beyond other frames."""
        self.link.frames_came(FRAMES_OF_A_PING - 1)

    def on_pong(self, _data: bytes) -> None:
        """Nothing: it is counted as any frame."""

    def is_heard(self) -> bool:
        """Count a frame; False for whoever floods a link that is closing already."""
        if not self.link.is_over:
            self.link.frames_came()
            return True
        self._late_frames += 1
        return self._late_frames <= MAX_LATE_FRAMES

    def on_ws_connection_close(
        self, close_code: int | None = None, close_reason: str | None = None
    ) -> None:
        """Tell the link and the registry that the websocket is gone."""
        self._frames.on_connection_close()
        reason = foreign_text(close_reason or f"closed with code {close_code}")
        if close_code is None:
            reason = "the connection broke"
        services = self._services
        services.background.start_and_report(
            services.admission.closed(self.link, reason), "note a disconnected machine"
        )

    def log_exception(
        self,
        _type: type[BaseException] | None,
        value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Log what nobody foresaw; Tornado ends the websocket."""
        link = self.link
        logger.error("machine=%s link=%s failed", link.machine_id, link.link_id, exc_info=value)

    def close(self, code: int, reason: str) -> None:
        """Start the closing handshake."""
        self._frames.close(code, reason)

    def send_text(self, text: str) -> None:
        """Write one frame; what a closed websocket cannot take, its end settles.

        Tornado's ``write_message`` makes a task for each message, only to translate an error that
        the end tells as well: measured, 25 of 540 µs of an input's way.
        """
        if not self._frames.is_closing():
            with suppress(StreamClosedError):
                self._frames._write_frame(True, TEXT_FRAME, text.encode())  # noqa: SLF001


class ConnectHandler(ApiHandler, WebSocketHandler):
    """The handshake.  Neither it nor the request is kept for as long as the link stands."""

    @endpoint(
        Endpoint(
            summary="Connect a machine client",
            description=f"A websocket with the subprotocol {SUBPROTOCOL}; its messages are in "
            "schemas/link/messages.py.",
            scope=Scope.MACHINE_CONNECT,
            answers={101: None},
            problems=(problems.WEBSOCKET_REQUIRED,),
        )
    )
    async def get(self) -> None:
        """Shake hands, then stay with the connection until it ends."""
        offered = self.request.headers.get("Sec-WebSocket-Protocol", "").split(",")
        upgrade = self.request.headers.get("Upgrade", "").lower()
        is_handshake = self.request.method == "GET" and upgrade == "websocket"
        if not is_handshake or SUBPROTOCOL not in (name.strip() for name in offered):
            raise ProblemError(
                problems.WEBSOCKET_REQUIRED,
                f"this address speaks websocket with the subprotocol {SUBPROTOCOL} only",
                headers={"Upgrade": "websocket", "Connection": "Upgrade"},
            )
        self.set_header(PROTOCOLS_HEADER, ", ".join(map(str, PROTOCOLS)))
        await WebSocketHandler.get(self)

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """The one that the handshake has checked already."""
        return SUBPROTOCOL if SUBPROTOCOL in subprotocols else None

    def get_websocket_protocol(self) -> WebSocketProtocol | None:
        """Tornado's own, which tells of every frame."""
        protocol = super().get_websocket_protocol()
        if not isinstance(protocol, WebSocketProtocol13):
            return None
        return CountedFrames(self, protocol.mask_outgoing, protocol.params)

    def open(self, *_args: str, **_kwargs: str) -> None:
        """Begin a link for the machine that the token is bound to."""
        machine_id = self.principal.machine_id
        if machine_id is None:
            raise LookupError("a token with machine:connect has no machine")
        frames = cast("CountedFrames", self.ws_connection)
        # A command is one small frame that should leave at once.
        frames.set_nodelay(True)
        frames.handler = MachineWebSocket(frames, self.services, self.principal, machine_id)
        # What is in there knows the handler, which so would wait for the garbage collector.
        self.ui.clear()
