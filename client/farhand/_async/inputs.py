"""A machine's inputs on their way: each under a key, and in a session also written down."""

import time
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from farhand._answers import Reply
from farhand._async.connection import AsyncConnection
from farhand._session_lines import Input
from farhand._session_steps import SessionSteps
from farhand.errors import InputExpired, NotCarriedOut, Refused
from farhand.types import InputResult

Result = TypeVar("Result", bound=InputResult)

_MOST_ATTEMPTS = 10
"""Of an input of a session that never happened, within one call."""


class _Sent(NamedTuple):
    """What is sent."""

    method: str
    path: str
    body: Any


class AsyncInputs:
    """Sends inputs to one machine, whose address is ``computer``."""

    def __init__(
        self, connection: AsyncConnection, computer: str, session: SessionSteps | None
    ) -> None:
        self._connection = connection
        self._computer = computer
        self._session = session
        self.lease: str | None = None
        """The control lease that they carry."""
        self.recording: str | None = None
        """The recording of one's own that they are steps of."""

    async def send(
        self,
        kind: type[Result],
        method: str,
        address: str,
        body: Any,
        key: str | None,
        timeout: float | None,
    ) -> Result:
        """Send an input, at most once, and return what its answer says."""
        sent = _Sent(method, f"{self._computer}{address}", body)
        seconds = self._connection.timeout if timeout is None else timeout
        if self._session is None:
            return await self._send_once(kind, sent, key or f"{uuid4()}", seconds)
        if key is not None:
            raise ValueError("a session gives each input its key: leave key out")
        step = self._session.begin(*sent)
        if step.end is not None:
            return self._answered(kind, step.end.reply, self._session.key_of(step))
        return await self._send_step(self._session, step, kind, sent, seconds)

    async def _send_step(
        self, session: SessionSteps, step: Input, kind: type[Result], sent: _Sent, seconds: float
    ) -> Result:
        """Send an input of a session; again under a new key where it never happened."""
        ends_at = time.monotonic() + seconds
        attempts = 0
        while True:
            attempts += 1
            left = min(ends_at - time.monotonic(), session.seconds_left(step))
            key = session.key_of(step)
            try:
                result = await self._send_once(kind, sent, key, left)
            except Refused as error:
                step = session.refused(step, error)
                is_over = attempts == _MOST_ATTEMPTS or time.monotonic() > ends_at
                if is_over or not isinstance(error, NotCarriedOut | InputExpired):
                    raise
                step = session.again(step)
            else:
                session.done(step, result.model_dump(mode="json"))
                return result

    async def _send_once(self, kind: type[Result], sent: _Sent, key: str, seconds: float) -> Result:
        headers = {} if self.lease is None else {"Farhand-Control": self.lease}
        if self.recording is not None:
            headers["Farhand-Recording"] = self.recording
        # Whatever the server's default is: the answer is what the caller gets.
        headers["Prefer"] = "return=representation"
        reply = await self._connection.send(
            sent.method, sent.path, json=sent.body, headers=headers, key=key, timeout=seconds
        )
        return self._answered(kind, reply, key)

    def _answered(self, kind: type[Result], reply: Reply, key: str) -> Result:
        """What an answer says, whoever kept it.  Raises the error that it is."""
        if not reply.is_success:
            raise reply.refusal(key) or self._connection.stranger(reply, key)
        result = self._connection.parsed(kind, reply, key)
        result._key, result._is_replayed = key, reply.is_replayed  # noqa: SLF001
        return result
