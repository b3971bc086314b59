"""Listens to a server's events for as long as a command stays."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, Protocol

import click

from farhand import Farhand, FarhandError, NoAnswer
from server.cli.client import Api

COME_BACK_SECONDS: Final = 2.0
RETRIED_STATUSES: Final = (None, 429, 502, 503, 504)
"""Those of errors that pass; None is that of what came without an answer."""


class Listener(Protocol):
    """Shows what it is told."""

    def read(self, items: list[Any]) -> None:
        """Take everything as it is now."""

    def heard(self, kind: str, data: Any) -> None:
        """Take an event."""

    def remark(self, text: str) -> None:
        """Say something about the connection; nothing, if empty."""


def write(text: str) -> None:
    """Write to standard output, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def follow(
    api: Api, listener: Listener, types: Sequence[str], read_list: Callable[[], dict[str, Any]]
) -> NoReturn:
    """Tell the listener what there is and every event of these types, also after the stream ends.

    Raises a ClickException for what will not pass by itself.
    """
    with api.opened() as farhand:
        while True:
            ended = "the stream has ended"
            try:
                _listen(farhand, listener, types, read_list)
            except click.ClickException as error:
                ended = error.message
            except FarhandError as error:
                if error.status not in RETRIED_STATUSES:
                    raise api.failure(error) from None
                ended = error.why if isinstance(error, NoAnswer) else str(error)
            listener.remark(
                f"no word from {api.url} ({ended}); trying again (farhand doctor on its host "
                "looks closer)"
            )
            time.sleep(COME_BACK_SECONDS)


def _listen(
    farhand: Farhand,
    listener: Listener,
    types: Sequence[str],
    read_list: Callable[[], dict[str, Any]],
) -> None:
    """Listen until the stream ends; the list is read once it has begun.

    In this order nothing is missed between the two, and whatever is told afterwards is newer.
    Raises a ClickException where the list cannot be read now.
    """
    with farhand.event_stream(types=types) as events:
        listener.read(read_list()["items"])
        listener.remark("")
        for event in events:
            if event.type == "reset":
                # Some events are not known any more.
                listener.read(read_list()["items"])
            else:
                listener.heard(event.type, event.data)
