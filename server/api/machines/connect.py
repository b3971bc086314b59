"""Where machine clients connect: a websocket that only a machine's own token opens."""

import logging
from contextlib import suppress
from typing import cast

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.link.messages import PROTOCOLS, PROTOCOLS_HEADER, SUBPROTOCOL
from schemas.resources.tokens import Scope
from schemas.values.foreign_texts import foreign_text
from server.machines.socket import LinkSocket
from server.web.endpoint import Endpoint, endpoint
from server.web.handler import ApiHandler

logger = logging.getLogger(__name__)

TEXT_FRAME = 0x1

MAX_LATE_FRAMES = 256
"""So many frames may have been on their way when a link was closed; more are a flood."""


FRAMES_OF_A_PING = 5
"""A ping is answered, with a write of its own: it costs others several times what an ack does."""


class CountedFrames(WebSocketProtocol13):
    """Tells the handler of every frame that came: pings and parts of messages, too.

    Tornado's hooks do not tell of all of them, and each costs whoever reads it.
    """

    async def _receive_frame(self) -> None:
        await super()._receive_frame()
        if not cast("ConnectHandler", self.handler).is_heard_further():
            # What is read already is not taken frame by frame, and the rest not read at all.
            self.client_terminated = True
            self.close()


class ConnectHandler(ApiHandler, WebSocketHandler):
    """The handshake and the frames; what they mean is the link's business."""

    link: LinkSocket | None = None
    _late_frames = 0

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
        # A command is one small frame that should leave at once.
        self.set_nodelay(True)
        machine_id = self.principal.machine_id
        if machine_id is None:
            raise LookupError("a token with machine:connect has no machine")
        self.link = self.services.admission.open(
            self,
            organization_id=self.principal.organization_id,
            machine_id=machine_id,
            token_id=self.principal.token_id,
        )

    def on_message(self, message: str | bytes) -> None:
        """Hand a frame to the link."""
        if self.link is not None:
            self.link.received(message)

    def on_ping(self, _data: bytes) -> None:
        """Count what a ping costs beyond other frames."""
        if self.link is not None:
            self.link.frames_came(FRAMES_OF_A_PING - 1)

    def is_heard_further(self) -> bool:
        """Count a frame; False for whoever floods a link that is closing already."""
        if self.link is None:
            return True
        if not self.link.is_over:
            self.link.frames_came()
            return True
        self._late_frames += 1
        return self._late_frames <= MAX_LATE_FRAMES

    def on_close(self) -> None:
        """Tell the link and the registry that the websocket is gone."""
        if self.link is None:
            return  # It closed between the handshake and its opening.
        reason = foreign_text(self.close_reason or f"closed with code {self.close_code}")
        if self.close_code is None:
            reason = "the connection broke"
        services = self.services
        services.background.start_and_report(
            services.admission.closed(self.link, reason), "note a disconnected machine"
        )

    def send_text(self, text: str) -> None:
        """Write one frame; what a closed websocket cannot take, on_close settles.

        Tornado's ``write_message`` makes a task for each message, only to translate an error that
        on_close tells as well: measured, 25 of 540 µs of an input's way.
        """
        websocket = self.ws_connection
        if isinstance(websocket, WebSocketProtocol13) and not websocket.is_closing():
            with suppress(StreamClosedError):
                websocket._write_frame(True, TEXT_FRAME, text.encode())  # noqa: SLF001
