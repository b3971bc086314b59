"""Takes a stream of server-sent events apart, as the HTML standard has them."""

import json
import time
from collections.abc import Iterator
from typing import Final

from farhand.errors import NotFarhand
from farhand.types import Event

MAX_EVENT_BYTES: Final = 1024 * 1024


class EventDecoder:
    """What came of a stream so far; :meth:`feed` gives each event once it is whole."""

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id
        """Where to go on; what is no event can move it along."""
        self.heard_at = time.monotonic()
        """When something came last, by the monotonic clock."""
        self.begin()

    def begin(self) -> None:
        """Go on with another stream: what has not come whole is in that again."""
        self._rest = b""
        self._id = self.last_id
        self._fields: dict[str, str] = {}

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that end in the next bytes.  Raises NotFarhand where it is no such stream."""
        self.heard_at = time.monotonic()
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > MAX_EVENT_BYTES:
            raise NotFarhand("what comes is no stream of events")
        for line in lines:
            if text := line.removesuffix(b"\r").decode(errors="replace"):
                self._take(text)
            elif event := self._whole():
                yield event

    def _take(self, text: str) -> None:
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "data" and "data" in self._fields:
            value = f"{self._fields['data']}\n{value}"
        if name == "id":
            self._id = value
        elif name in ("event", "data"):
            if sum(map(len, self._fields.values())) + len(value) > MAX_EVENT_BYTES:
                raise NotFarhand("what comes is no stream of events")
            self._fields[name] = value

    def _whole(self) -> Event | None:
        """The event whose last line was read; its id holds for what has none."""
        self.last_id = self._id
        kind, data = self._fields.pop("event", "message"), self._fields.pop("data", None)
        if data is None:
            return None
        try:
            return Event(id=self.last_id, type=kind, data=json.loads(data))
        except ValueError:
            raise NotFarhand("an event is not JSON") from None
