"""A hand on a machine: the websocket on which whoever has control sends what they do."""

import asyncio
import logging
import time
from contextlib import suppress
from typing import Final, cast
from uuid import UUID

from pydantic import ValidationError
from tornado.iostream import StreamClosedError
from tornado.websocket import (
    WebSocketClosedError,
    WebSocketHandler,
    WebSocketProtocol,
    WebSocketProtocol13,
)

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.inputs.hand import (
    HAND_SUBPROTOCOL,
    Acknowledged,
    Batch,
    HandCloseCode,
    Refused,
)
from schemas.resources.tokens import Scope
from schemas.values.validation_errors import entries_of
from server.api.machines.answers import words_of
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import LeasePath
from server.dispatch.control import Caller
from server.dispatch.hand.hand import Hand, HandClosedError, NotDone
from server.dispatch.hand.hands import Hands, control_ended, end_of
from server.dispatch.refusals import RefusedError
from server.errors import StoreUnavailable
from server.identity.sessions import check_own_websocket
from server.machines.websocket.counted_frames import CountedFrames
from server.web.endpoint import Endpoint

logger = logging.getLogger(__name__)

TEXT_FRAME: Final = 0x1

LEASE_POLL_SECONDS: Final = 0.5
"""How often it is looked whether the lease is in force, and whether anybody is there."""

SILENT_SECONDS: Final = 4.0
"""Without an answer to a ping, nobody is there: what is held must not stay so."""


HAND = Endpoint(
    summary="Work on a machine by hand",
    description=f"A websocket with the subprotocol {HAND_SUBPROTOCOL}, for whoever has "
    "control: batches of moves, buttons, wheel and keys as they happen.  Its messages are "
    "in schemas/inputs/hand.py, and docs/reference/control.md explains them.",
    scope=Scope.INPUT_SEND,
    path=LeasePath,
    answers={101: None},
    problems=(problems.NOT_FOUND, problems.WEBSOCKET_REQUIRED),
)


class HandHandler(AskingHandler, WebSocketHandler):
    """One hand, from its handshake to its end."""

    _hand: Hand | None = None
    _watching: "asyncio.Task[None] | None" = None

    @HAND
    async def get(self, path: LeasePath) -> None:
        """Check who asks, shake hands, then stay with the connection until it ends."""
        self._path = path
        self._caller = self.caller
        # A machine that is none of theirs is said to be so first, as everywhere.
        await self.services.machines.control.in_force(*self._lease)
        offered = self.request.headers.get("Sec-WebSocket-Protocol", "").split(",")
        upgrade = self.request.headers.get("Upgrade", "").lower()
        is_handshake = self.request.method == "GET" and upgrade == "websocket"
        if not is_handshake or HAND_SUBPROTOCOL not in (name.strip() for name in offered):
            raise ProblemError(
                problems.WEBSOCKET_REQUIRED,
                f"this address speaks websocket with the subprotocol {HAND_SUBPROTOCOL} only",
                headers={"Upgrade": "websocket", "Connection": "Upgrade"},
            )
        check_own_websocket(self.request, has_session=self.session_expires_at is not None)
        # A browser's page is told nothing of a handshake that fails, so what is wrong with the
        # lease is said by a close code.
        self._hand_id = await self.services.machines.control.open_hand(*self._lease)
        await WebSocketHandler.get(self)

    def check_origin(self, _origin: str) -> bool:
        """It was checked, and answered as a problem."""
        return True

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """The one that the handshake has checked already."""
        return HAND_SUBPROTOCOL if HAND_SUBPROTOCOL in subprotocols else None

    def get_websocket_protocol(self) -> WebSocketProtocol | None:
        """Tornado's own, which tells of every frame."""
        protocol = super().get_websocket_protocol()
        if not isinstance(protocol, WebSocketProtocol13):
            return None
        return CountedFrames(self, protocol.mask_outgoing, protocol.params)

    def open(self, *_args: str, **_kwargs: str) -> None:
        """Begin to take what comes."""
        self._frames = cast("CountedFrames", self.ws_connection)
        self._frames.set_nodelay(True)
        if self._hand_id is None:
            self._close(control_ended())
            return
        services = self.services
        self._heard_at = time.monotonic()
        self._hand = Hand(
            self.sender(self._path.lease, in_segment=True),
            self._path.machine_id,
            services.machines.dispatcher,
            services.machines.stretches,
            services.background,
            tell=self._tell,
            close=self._close,
        )
        self._hands.begin(self._caller.lease_hash(self._path.lease), self._close)
        self._watching = services.background.start_and_report(self._watch(), "watch a hand")

    def on_message(self, message: str | bytes) -> None:
        """Take a batch."""
        hand = self._hand
        if hand is None:
            return  # It was on its way when this side began to close.
        try:
            batch = _batch_of(message)
            hand.take(batch)
        except HandClosedError as error:
            self._close(error)

    def on_ping(self, _data: bytes) -> None:
        """Count what a ping costs beyond other frames."""
        self._frames.ping_came()

    @property
    def is_over(self) -> bool:
        """Whether the hand has ended, and its websocket is closed, or closing."""
        return self._hand is None

    def frames_came(self, frames: int) -> None:
        """Count frames that have come, of whatever kind."""
        try:
            if self._hand is not None:
                self._hand.frames_came(frames)
        except HandClosedError as error:
            self._close(error)

    def on_pong(self, _data: bytes) -> None:
        """Somebody is there."""
        self._heard_at = time.monotonic()

    def on_close(self) -> None:
        """The websocket is gone, however."""
        self._end()

    @property
    def _hands(self) -> Hands:
        return self.services.machines.hands

    def _end(self) -> None:
        hand, self._hand = self._hand, None
        if self._watching is not None:
            self._watching.cancel()
        if hand is not None:
            self._hands.end(self._caller.lease_hash(self._path.lease), self._close)
            hand.end()

    def _close(self, error: HandClosedError) -> None:
        """End it from this side: what is held is released before anybody closes anything."""
        logger.info("request=%s a hand ends: %s", self.request_id, error.reason)
        self._end()
        self._frames.close(error.code, error.reason)

    def _tell(self, told: Acknowledged | NotDone) -> None:
        message = refused(told) if isinstance(told, NotDone) else told
        if not self._frames.is_closing():
            try:
                text = message.model_dump_json().encode()
                # Tornado's own way makes a task for each message (see server.api.machines.connect).
                self._frames._write_frame(True, TEXT_FRAME, text)  # noqa: SLF001
            except StreamClosedError:
                pass  # Its end tells the same.

    @property
    def _lease(self) -> tuple[UUID, str, Caller, str]:
        """Which lease it is, of which machine and whose."""
        path, principal = self._path, self.principal
        return principal.organization_id, path.machine_id, self._caller, path.lease

    async def _watch(self) -> None:
        """Look whether there is any reason to end, until there is one."""
        while self._hand is not None:
            self._hand.rest()
            with suppress(WebSocketClosedError):  # Its end tells the same.
                self.ping(b"")
            await asyncio.sleep(LEASE_POLL_SECONDS)
            reason = await self._reason_to_end()
            if reason is not None and self._hand is not None:
                self._watching = None
                self._close(reason)

    async def _reason_to_end(self) -> HandClosedError | None:
        if self.services.operation.leaving:
            return HandClosedError(HandCloseCode.SERVER_STOPPING, "the server is stopping")
        if time.monotonic() - self._heard_at > SILENT_SECONDS:
            return HandClosedError(HandCloseCode.SILENT, "no answer to a ping in time")
        try:
            if self.principal.pools is not None:
                await self.authorize(HAND)
            control = await self.services.machines.control.in_force(*self._lease)
            return end_of(self._hand_id, control)
        except (RefusedError, ProblemError):
            return control_ended()  # The machine was removed, or has left the token's pools.
        except StoreUnavailable:
            return None  # Where the lease is checked, it still is; the next look tells.


def refused(not_done: NotDone) -> Refused:
    """What a hand hears of an event that was not carried out: as an input over HTTP is answered."""
    problem, detail = words_of(not_done.reply)
    return Refused(
        sequence=not_done.sequence, problem=problem, detail=detail, not_sent=not_done.not_sent
    )


def _batch_of(message: str | bytes) -> Batch:
    """What a message says.  Raises HandClosedError, which repeats nothing of it."""
    if isinstance(message, bytes):
        raise HandClosedError(HandCloseCode.MESSAGE_INVALID, "messages are text")
    try:
        return Batch.model_validate_json(message)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)
        entry = entries_of(wrong)[0]
        # The place of an unknown field is its name, and the words about an unknown type repeat it.
        is_named = entry.type == "extra_forbidden"
        place = ".".join(entry.loc[:-1] if is_named else entry.loc)
        if entry.type == "union_tag_invalid":
            entry.msg = "the type must be move, button, wheel, key or text"
        # The frames of the error keep all of the message.
        reason = f"{place}: {entry.msg}" if place else entry.msg
        raise HandClosedError(HandCloseCode.MESSAGE_INVALID, reason) from None
