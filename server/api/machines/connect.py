"""Where machine clients connect: a websocket that only a machine's own token opens."""

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress
from types import TracebackType
from typing import cast

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.link.messages import PROTOCOLS, PROTOCOLS_HEADER, SUBPROTOCOL
from schemas.resources.tokens import Scope
from schemas.values.foreign_texts import foreign_text
from server.identity.authentication import Principal
from server.services import Services
from server.web.counted_frames import CountedFrames
from server.web.endpoint import Endpoint, endpoint
from server.web.handler import ApiHandler

logger = logging.getLogger(__name__)

TEXT_FRAME = 0x1


class MachineFrames(CountedFrames):
    """Frames of a link, whose handshake's request is not kept for as long as the link stands."""

    __slots__ = ("_reading",)

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


class MachineWebSocket:
    """A websocket whose handshake is over: what its frames mean is the link's business."""

    __slots__ = ("_frames", "_services", "link")

    def __init__(
        self, frames: MachineFrames, services: Services, principal: Principal, machine_id: str
    ) -> None:
        self._frames = frames
        self._services = services
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
        self._frames.ping_came()

    def on_pong(self, _data: bytes) -> None:
        """Nothing: it is counted as any frame."""

    @property
    def is_over(self) -> bool:
        """Whether the link is closed, or closing."""
        return self.link.is_over

    def frames_came(self, frames: int) -> None:
        """Count frames that have come, of whatever kind."""
        self.link.frames_came(frames)

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
        return MachineFrames(self, protocol.mask_outgoing, protocol.params)

    def open(self, *_args: str, **_kwargs: str) -> None:
        """Begin a link for the machine that the token is bound to."""
        machine_id = self.principal.machine_id
        if machine_id is None:
            raise LookupError("a token with machine:connect has no machine")
        frames = cast("MachineFrames", self.ws_connection)
        # A command is one small frame that should leave at once.
        frames.set_nodelay(True)
        frames.handler = MachineWebSocket(frames, self.services, self.principal, machine_id)
        # What is in there knows the handler, which so would wait for the garbage collector.
        # It is gone already where the connection broke meanwhile.
        if self.ui is not None:
            self.ui.clear()
