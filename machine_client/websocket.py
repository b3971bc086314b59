"""A websocket without a task between: messages are handed on as they come, written as they are.

The library's own ``recv`` and ``send`` are coroutines, with a queue and a turn of the event loop
for each message: measured, about 60 of the 570 µs that an input took.  Its connection can be
replaced by a subclass (``create_connection``); what is used of its parts is used here only.
"""

from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import Event, State


class DirectConnection(ClientConnection):
    """A connection whose whole text messages go to ``deliver`` at once, where that is set.

    Fragmented and binary messages, and those that came before, are still there for ``recv``.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.deliver: Callable[[bytes], None] | None = None

    def process_event(self, event: Event) -> None:
        """Take what the protocol has read."""
        if (
            self.deliver is not None
            and isinstance(event, Frame)
            and event.opcode is Opcode.TEXT
            and event.fin
        ):
            self.deliver(bytes(event.data))
        else:
            super().process_event(event)

    def write(self, text: str) -> int:
        """Write a text message now; on a connection that is ending nobody would hear it.

        Returns how many bytes wait for the network.
        """
        if self.state is not State.OPEN:
            return 0
        self.protocol.send_text(text.encode())
        self.send_data()
        return self.transport.get_write_buffer_size()

    def write_bytes(self, content: bytes) -> int:
        """As ``write``, for a binary message."""
        if self.state is not State.OPEN:
            return 0
        self.protocol.send_binary(content)
        self.send_data()
        return self.transport.get_write_buffer_size()
