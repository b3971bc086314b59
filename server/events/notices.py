"""What a node tells the others of a batch that it has appended, so that they need not read it."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from server.store.event_log import LoggedEvent

MAX_NOTICE_BYTES: Final = 256 * 1024
"""A longer one says only that there is something; the others read it."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Notice:
    """A batch that is in the log; ``events`` is None where they did not fit."""

    number: int
    count: int
    events: Sequence[LoggedEvent] | None


def subject_of(prefix: str, organization_id: UUID) -> str:
    """Where the notices of an organization go."""
    return f"{prefix}.{organization_id.hex}"


def encoded(number: int, events: Sequence[LoggedEvent]) -> bytes:
    """A notice as it travels."""
    notice: dict[str, object] = {"number": number, "count": len(events)}
    if sum(len(event.data) for event in events) < MAX_NOTICE_BYTES:
        rows = [(event.type, event.machine_id, event.data.decode()) for event in events]
        whole = json.dumps({**notice, "events": rows}, ensure_ascii=False).encode()
        if len(whole) <= MAX_NOTICE_BYTES:
            return whole
    return json.dumps(notice).encode()


def decoded(message: bytes) -> Notice | None:
    """The notice in a message; None where it is none, as from a Farhand of another version."""
    try:
        found = json.loads(message)
        number, count, rows = int(found["number"]), int(found["count"]), found.get("events")
        if rows is None:
            return Notice(number, count, None)
        events = [LoggedEvent(kind, machine_id, data.encode()) for kind, machine_id, data in rows]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        logger.warning("a notice of events is not understood: %s", type(error).__name__)
        return None
    return Notice(number, count, events)
