"""Texts that are too long for a message to another node: it asks back for them.

Only a reply may be long (`server.bus.bus`).  So a command with a long text leaves without it, and
the node with the machine's link has the text given by the one that the command came from, while
that waits for the answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID, uuid4

from schemas.inputs.bodies import WriteClipboard
from server.dispatch.command import Command
from server.dispatch.forwarding.asking import Asking
from server.dispatch.questions.clipboard import TextRead
from server.dispatch.questions.inputs import CarryOut, ReadText
from server.dispatch.questions.question import NotHere
from server.dispatch.refusals import RefusedError, unavailable

MOST_WITHIN: Final = 64 * 1024
"""Characters that a message has room for: JSON has at most six bytes for each."""

TEXT_SECONDS: Final = 5.0
"""For the other node to give a text, which it has in memory."""


class LongTexts:
    """Gives the texts of commands that have left this node, and takes those of others."""

    def __init__(self, asking: Asking, node_id: UUID) -> None:
        self._asking = asking
        self._node_id = node_id
        self._offered: dict[UUID, str] = {}

    @contextmanager
    def offered(self, command: Command) -> Iterator[CarryOut]:
        """The message by which a command leaves; while it is on its way, its text is given."""
        forward_id, body = uuid4(), command.body
        if not isinstance(body, WriteClipboard) or len(body.text) <= MOST_WITHIN:
            yield CarryOut.of(command, forward_id=forward_id)
            return
        self._offered[forward_id] = body.text
        try:
            yield CarryOut.of(command.without_text(), forward_id=forward_id, text_at=self._node_id)
        finally:
            del self._offered[forward_id]

    def give(self, question: ReadText) -> TextRead | NotHere:
        """A text, for another node that asks for it."""
        text = self._offered.get(question.forward_id)
        return NotHere() if text is None else TextRead.of(text)

    async def whole(self, message: CarryOut) -> Command:
        """The command that was forwarded, with all of its text.

        Raises RefusedError where the text cannot be had: nothing happened.
        """
        if message.text_at is None:
            return message.command
        question = ReadText(forward_id=message.forward_id)
        given = await self._asking.ask_node(message.text_at, question, TEXT_SECONDS)
        if given is None:
            raise RefusedError(
                unavailable(
                    "unreachable",
                    "the node that the machine is connected to could not get the text; nothing "
                    "was sent",
                    None,
                )
            )
        return message.command.with_text(given.text)
