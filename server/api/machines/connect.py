"""Where machine clients connect: a websocket that only a machine's own token opens."""

from typing import cast

from pydantic import Field
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.link.messages import (
    HOST_HEADER,
    JOIN_HEADER,
    PROTOCOLS,
    PROTOCOLS_HEADER,
    SUBPROTOCOL,
)
from schemas.resources.invitations import TokenHash
from schemas.resources.tokens import Scope
from schemas.values.strict import StrictModel
from server.identity.authentication import bearer
from server.machines.websocket.machine_websocket import MachineFrames, MachineWebSocket
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class JoinHeaders(StrictModel):
    """What a machine client says that has no token of the server's yet, but a join code."""

    farhand_join: TokenHash | None = Field(
        None,
        alias=JOIN_HEADER,
        description="The SHA-256 of the token that it has made for itself, in hexadecimal digits; "
        "the bearer token is a join code then.",
    )
    farhand_host: str | None = Field(
        None, alias=HOST_HEADER, max_length=255, description="What its host calls itself."
    )


class ConnectHandler(ApiHandler, WebSocketHandler):
    """The handshake.  Neither it nor the request is kept for as long as the link stands."""

    async def authorize(self, endpoint: Endpoint) -> None:
        """Take in a host that has a code; whoever calls is known by a machine's token then."""
        headers = self.headers_as(JoinHeaders)
        if headers.farhand_join is None:
            await super().authorize(endpoint)
            return
        code = bearer(self.request.headers.get("Authorization"))
        digest, host = bytes.fromhex(headers.farhand_join), headers.farhand_host or ""
        await self.services.machines.invitations.join(code, digest, host, self.address)
        authenticator = self.services.access.authenticator
        self.principal = await authenticator.principal_of(digest, self.address)

    @Endpoint(
        summary="Connect a machine client",
        description=f"A websocket with the subprotocol {SUBPROTOCOL}; its messages are in "
        "schemas/link/messages.py.",
        scope=Scope.MACHINE_CONNECT,
        answers={101: None},
        headers=JoinHeaders,
        problems=(problems.WEBSOCKET_REQUIRED, problems.AWAITING_APPROVAL),
    )
    async def get(self, headers: JoinHeaders) -> None:
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
        principal, services = self.principal, self.services
        if principal.machine_id is None:
            raise LookupError("a token with machine:connect has no machine")
        frames = cast("MachineFrames", self.ws_connection)
        # A command is one small frame that should leave at once.
        frames.set_nodelay(True)
        frames.handler = MachineWebSocket(
            frames,
            services.machines.admission,
            services.background,
            organization_id=principal.organization_id,
            machine_id=principal.machine_id,
            token_id=principal.token_id,
            token_ends=principal.expires_at,
        )
        # What is in there knows the handler, which so would wait for the garbage collector.
        # It is gone already where the connection broke meanwhile.
        if self.ui is not None:
            self.ui.clear()
