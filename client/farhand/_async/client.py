"""The client: where everything begins."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Self

import httpx

from farhand._async.administration import (
    AsyncAudit,
    AsyncCommands,
    AsyncConsoleSessions,
    AsyncInvitations,
    AsyncMachines,
    AsyncOrganizations,
    AsyncPools,
    AsyncTokens,
)
from farhand._async.connection import AsyncConnection
from farhand._async.help import AsyncHelp
from farhand._async.library import AsyncPictures, AsyncTrajectories, AsyncWorkflows
from farhand._async.lists import AsyncLists
from farhand._async.machine import AsyncMachine
from farhand._async.recordings import AsyncRecordings
from farhand._async.runs import AsyncRuns
from farhand._async.session import AsyncSession
from farhand._async.streams import event_stream, events
from farhand._async.webhooks import AsyncWebhooks
from farhand._events import EventDecoder
from farhand._session_file import SessionFile
from farhand._session_steps import KEYS_LIVE_SECONDS, SessionSteps
from farhand._settings import server_of
from farhand.types import Event

DEFAULT_TIMEOUT = 300.0
"""Seconds: longer than any answer of a server takes."""


class AsyncFarhand:
    """A Farhand server, called with a token.

    ``url`` and ``token`` are taken from ``FARHAND_URL`` and ``FARHAND_TOKEN`` where they are not
    given.  ``timeout`` is in seconds, for a call with all its tries: a call is tried again, under
    the same key, for as long as it has no final answer.  With ``wait_for_machine=False`` a machine
    that is away, paused or in somebody's hands is an error at once, and with ``retry=False``
    everything is sent once.  ``proxy`` and ``verify`` are httpx's; without them the environment's
    proxies are used and the system's certificates trusted.  Redirects are not followed:
    a token is sent to the server alone that it is for.

    It is for one event loop, and for any number of calls at once.  Use it in a ``with`` statement,
    or close it.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        wait_for_machine: bool = True,
        retry: bool = True,
        transport: httpx.AsyncBaseTransport | None = None,
        **options: Any,
    ) -> None:
        self._connection = AsyncConnection(
            server_of(url, token),
            timeout=timeout,
            wait_for_machine=wait_for_machine,
            retry=retry,
            transport=transport,
            **options,
        )
        self.machines = AsyncMachines(self._connection)
        self.pools = AsyncPools(self._connection)
        self.invitations = AsyncInvitations(self._connection)
        self.webhooks = AsyncWebhooks(self._connection)
        self.recordings = AsyncRecordings(self._connection)
        self.help = AsyncHelp(self._connection)
        self.runs = AsyncRuns(self._connection)
        self.trajectories = AsyncTrajectories(self._connection)
        self.workflows = AsyncWorkflows(self._connection)
        self.pictures = AsyncPictures(self._connection)
        self.commands = AsyncCommands(self._connection)
        self.tokens = AsyncTokens(self._connection)
        self.console_sessions = AsyncConsoleSessions(self._connection)
        self.organizations = AsyncOrganizations(self._connection)
        self.audit = AsyncAudit(self._connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections; nothing can be sent any more."""
        await self._connection.aclose()

    @property
    def connection(self) -> AsyncConnection:
        """What sends the requests, for whatever this library has no method for."""
        return self._connection

    async def request(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Send any request of the API; the JSON of its answer, or None where that has no body."""
        reply = await self._connection.send(
            method, path, query=query, json=json, headers=headers, key=key, timeout=timeout
        )
        try:
            return reply.json if reply.body else None
        except ValueError:
            raise self._connection.stranger(reply, key) from None

    def pages(
        self, path: str, query: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """The parts of any list of the API as the server answers them: all, or the first ``limit``.

        What moves from one to another meanwhile is neither missed nor repeated.
        """
        return AsyncLists(self._connection).pages(path, query or {}, limit)

    def machine(self, machine_id: str) -> AsyncMachine:
        """A machine, by its id.  Nothing is sent yet."""
        return AsyncMachine(self._connection, machine_id)

    def session(
        self, name: str, *, file: str | os.PathLike[str], keys_live: float = KEYS_LIVE_SECONDS
    ) -> AsyncSession:
        """One piece of work that is to be done once, however often its program is started.

        Use it in a ``with`` statement, and its machines in the place of this object's.  Each input
        is in ``file`` before it is sent, and its answer afterwards.  Started again after anything,
        the program does the same from its beginning: it is answered as before, errors included
        (``replayed``, without pictures), up to the input where it was.  That one is sent under
        the same key, so that it happens at most once, or under a new one where it is known that it
        never happened; and the rest goes on.

        Inputs are for one task or thread at a time.  Behind one that has no answer, as after
        :class:`farhand.NoAnswer`, nothing is sent until the session is opened again.  Another input
        than before raises :class:`farhand.SessionChanged`, a session that came to its end
        :class:`farhand.SessionFinished`.  ``name`` is unique in the organization: even without
        the file its server refuses other inputs under it.

        ``keys_live`` is for how many seconds the server remembers keys, its
        ``idempotency_key_lifetime``: an input without an answer that was begun longer ago is not
        sent again, :class:`farhand.SessionTooOld`.  Texts are not in the file, but one that is as
        short as a PIN could be guessed from it: keep it as you keep the program's secrets.
        """
        steps = SessionSteps(name, SessionFile(Path(file)), keys_live)
        return AsyncSession(self._connection, steps)

    def events(
        self,
        *,
        types: Sequence[str] | None = None,
        machine_id: str | None = None,
        last_event_id: str | None = None,
    ) -> AsyncIterator[Event]:
        """What happens in the organization, without an end.

        A broken connection is made anew, and goes on behind the last event; ``last_event_id`` does
        the same across programs.  An event of the type ``reset`` says that some are not known any
        more: read everything again.  It ends with a FarhandError once the server has been away for
        ``timeout``.
        """
        return events(self._connection, types, machine_id, EventDecoder(last_event_id or ""))

    def event_stream(
        self,
        *,
        types: Sequence[str] | None = None,
        machine_id: str | None = None,
        last_event_id: str | None = None,
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """One connection's events, in a ``with`` statement: from its begin on, until it ends.

        Whoever reads a list in it and then the events, misses nothing between the two.
        """
        decoder = EventDecoder(last_event_id or "")
        return event_stream(self._connection, types, machine_id, decoder)
