# Made of farhand/_async by client/unasync.py: change it there.
"""Help: what this program asks people, and what people answer to others."""

from collections.abc import Iterator
from typing import Literal
from uuid import UUID, uuid4

from farhand._sync.connection import Connection, path_with
from farhand._sync.lists import Lists
from farhand.types import HelpRequest

DEFAULT_SECONDS = 3600
LONGEST_WAIT = 60


class Help:
    """What programs ask people."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(
        self,
        machine_id: str,
        reason: str,
        *,
        kind: Literal["help", "approval"] = "help",
        timeout: int = DEFAULT_SECONDS,
        key: str | None = None,
    ) -> HelpRequest:
        """Ask people about a machine, and wait for nothing; `wait` does.

        It stands for ``timeout`` seconds.  A program that is started again and asks under the same
        ``key`` gets what it asked before.
        """
        body = {"machine_id": machine_id, "kind": kind, "reason": reason, "timeout": timeout}
        key = key or str(uuid4())
        reply = self._connection.send("POST", "/v1/help", json=body, key=key)
        return self._connection.parsed(HelpRequest, reply, key)

    def wait(self, help_id: UUID | str) -> HelpRequest:
        """Wait until a request has ended: it is answered or withdrawn, or its time is over.

        A server that goes away meanwhile is asked again, and loses nothing.
        """
        # Each answer comes in time for a client that waits less than a server would.
        seconds = max(1, min(LONGEST_WAIT, int(self._connection.timeout / 2)))
        while True:
            found = self.get(help_id, wait=seconds)
            if found.state != "open":
                return found

    def list(
        self,
        *,
        machine_id: str | None = None,
        state: Literal["open", "answered", "withdrawn", "timed_out"] | None = None,
        limit: int | None = None,
    ) -> Iterator[HelpRequest]:
        """All, or the first ``limit``, newest first; about one machine, or in one state."""
        asked = {"machine_id": machine_id, "state": state}
        given = {name: value for name, value in asked.items() if value is not None}
        return Lists(self._connection).items(HelpRequest, "/v1/help", given, limit)

    def get(self, help_id: UUID | str, *, wait: int | None = None) -> HelpRequest:
        """One request, as it is now; with ``wait``, once it has ended, or after so many seconds."""
        path = path_with(f"/v1/help/{help_id}", {"wait": wait})
        return self._connection.call(HelpRequest, "GET", path)

    def answer(
        self,
        help_id: UUID | str,
        answer: Literal["done", "cannot", "approve", "deny"],
        *,
        comment: str | None = None,
    ) -> HelpRequest:
        """Answer what another token, of another user, has asked.

        To ``help`` that is done or cannot, to ``approval`` approve or deny.  Needs the scope
        ``help:answer``.  Raises :class:`farhand.WrongState` where it has ended already.
        """
        body = {"answer": answer, "comment": comment}
        return self._connection.call(HelpRequest, "POST", f"/v1/help/{help_id}/answer", body)

    def withdraw(self, help_id: UUID | str) -> HelpRequest:
        """End a request of one's own: nobody has to answer it any more."""
        path = f"/v1/help/{help_id}/withdraw"
        return self._connection.call(HelpRequest, "POST", path, is_repeatable=True)
