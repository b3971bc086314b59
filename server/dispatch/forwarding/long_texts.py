"""Texts that are too long for a message to another node: it asks back for them.

Only a reply may be long (`server.bus.bus`).  So a command with a long text leaves without it, and
the node with the machine's link has the text given by the one that the command came from, while
that waits for the answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final
from uuid import UUID

from schemas.bus.messages import (
    ForwardedCommand,
    MessageRefusedError,
    NotHere,
    ReadText,
    TextRead,
)
from schemas.http.problems import ProblemError
from schemas.inputs.bodies import WriteClipboard
from server.bus.bus import BusError
from server.bus.subjects import Subjects
from server.dispatch.command import Command
from server.dispatch.forwarding.asking import Asking
from server.dispatch.forwarding.translation import command_of, forwarded
from server.dispatch.refusals import unavailable

MOST_WITHIN: Final = 64 * 1024
"""Characters that a message has room for: JSON has at most six bytes for each."""

TEXT_SECONDS: Final = 5.0
"""For the other node to give a text, which it has in memory."""


class LongTexts:
    """Gives the texts of commands that have left this node, and takes those of others."""

    def __init__(self, asking: Asking, subjects: Subjects, node_id: UUID) -> None:
        self._asking = asking
        self._subjects = subjects
        self._node_id = node_id
        self._offered: dict[UUID, bytes] = {}

    @contextmanager
    def offered(self, command: Command) -> Iterator[ForwardedCommand]:
        """The message by which a command leaves; while it is on its way, its text is given."""
        body = command.body
        if not isinstance(body, WriteClipboard) or len(body.text) <= MOST_WITHIN:
            yield forwarded(command)
            return
        without = replace(command, body=body.model_copy(update={"text": ""}))
        message = forwarded(without).model_copy(update={"text_at": self._node_id})
        self._offered[message.forward_id] = body.text.encode()
        try:
            yield message
        finally:
            del self._offered[message.forward_id]

    def give(self, request: ReadText) -> bytes:
        """The reply to another node that asks for a text."""
        text = self._offered.get(request.forward_id)
        return NotHere().encode() if text is None else TextRead().encode(text)

    async def whole(self, message: ForwardedCommand) -> Command:
        """The command that was forwarded, with all of its text.

        Raises MessageRefusedError, and a problem where the text cannot be had: nothing happened.
        """
        if message.text_at is None:
            return command_of(message)
        reply, content = None, b""
        with suppress(BusError, MessageRefusedError):
            reply, content = await self._asking.ask(
                self._subjects.node(message.text_at),
                ReadText(forward_id=message.forward_id),
                TEXT_SECONDS,
            )
        if not isinstance(reply, TextRead):
            raise _not_given()
        body = {**message.body, "text": content.decode()}
        return command_of(message.model_copy(update={"body": body}))


def _not_given() -> ProblemError:
    return unavailable(
        "unreachable",
        "the node that the machine is connected to could not get the text; nothing was sent",
        None,
    )
