"""The fleet and its people: machines, tokens, organizations, the audit, and single commands."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from farhand._async.connection import AsyncConnection
from farhand._async.lists import AsyncLists
from farhand.types import (
    AuditEntry,
    BulkResult,
    CommandView,
    ConsoleSession,
    CreatedInvitation,
    CreatedMachine,
    CreatedToken,
    Invitation,
    Join,
    Machine,
    Organization,
    Pool,
    StateCounts,
    TagCount,
    Token,
)


class AsyncMachines:
    """All machines of the token's organization."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None, **filters: Any) -> AsyncIterator[Machine]:
        """Those that fit: all, or the first ``limit``.

        The filters are those of ``GET /v1/machines``: ``pool``, ``tag``, ``state``, ``version``,
        each a text or several, ``outdated``, ``search``, and ``sort``.
        """
        query = _texts(filters)
        return AsyncLists(self._connection).items(Machine, "/v1/machines", query, limit)

    async def counts(self, **filters: Any) -> StateCounts:
        """How many machines are in each state of those that fit the filters of :meth:`list`."""
        query = {**_texts(filters), "counts": "true"}
        page = await AsyncLists(self._connection).page(Machine, "/v1/machines", query, 0, 1)
        return StateCounts.model_validate((page.model_extra or {})["counts"])

    async def tags(self, **filters: Any) -> "dict[str, int]":
        """How many machines have each tag, of those that fit the filters of :meth:`list`.

        Those that most have, 50 at most.
        """
        query = {**_texts(filters), "counts": "true"}
        page = await AsyncLists(self._connection).page(Machine, "/v1/machines", query, 0, 1)
        found = map(TagCount.model_validate, (page.model_extra or {})["tags"])
        return {each.tag: each.machines for each in found}

    async def bulk(
        self,
        action: str,
        machine_ids: Iterable[str] | None = None,
        *,
        tags: Sequence[str] | None = None,
        pool_id: UUID | str | None = None,
        reason: str | None = None,
        until: datetime | None = None,
        **filters: Any,
    ) -> BulkResult:
        """Change up to 1,000 machines, each with an answer of its own.

        These, or else those that fit the filters of :meth:`list`.  The actions are ``pause`` (with
        a ``reason`` and ``until``), ``resume``, ``tag``, ``untag`` (with ``tags``),
        ``add_to_pool``, ``remove_from_pool`` (with a ``pool_id``), ``rotate`` and ``remove``.  Done
        again, each changes nothing more, but that each rotation makes a new token.
        """
        given = {
            "action": action,
            "machine_ids": None if machine_ids is None else [*machine_ids],
            "filter": _texts(filters) or None,
            "tags": None if tags is None else [*tags],
            "pool_id": None if pool_id is None else str(pool_id),
            "pause_reason": reason,
            "pause_until": None if until is None else until.isoformat(),
        }
        body = {field: value for field, value in given.items() if value is not None}
        return await self._connection.call(
            BulkResult, "POST", "/v1/machines/bulk", body, is_repeatable=True
        )

    async def add(
        self,
        machine_id: str | None = None,
        *,
        name: str | None = None,
        tags: Sequence[str] = (),
        pool_ids: Iterable[UUID | str] = (),
    ) -> CreatedMachine:
        """Add a machine, with the token that its machine client connects with."""
        labels = {"tags": [*tags], "pool_ids": [str(each) for each in pool_ids]}
        given = {"id": machine_id, "name": name, **labels}
        return await self._connection.call(CreatedMachine, "POST", "/v1/machines", given)


class AsyncPools:
    """Machines that are looked after together."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None) -> AsyncIterator[Pool]:
        """All, or the first ``limit``, by name."""
        return AsyncLists(self._connection).items(Pool, "/v1/pools", {}, limit)

    async def add(
        self, name: str, *, description: str | None = None, offline_after: int | None = None
    ) -> Pool:
        """Make a pool without machines; webhooks are told of one that is away for so long."""
        body = {"name": name, "description": description, "offline_after": offline_after}
        return await self._connection.call(Pool, "POST", "/v1/pools", body)

    async def get(self, pool_id: UUID | str) -> Pool:
        """One pool."""
        return await self._connection.call(Pool, "GET", f"/v1/pools/{pool_id}")

    async def change(
        self,
        pool_id: UUID | str,
        *,
        name: str | None = None,
        description: str | None = None,
        offline_after: int | None = None,
    ) -> Pool:
        """Rename or describe a pool; what is left out stays."""
        given = {"name": name, "description": description, "offline_after": offline_after}
        body = {field: value for field, value in given.items() if value is not None}
        return await self._connection.call(Pool, "PATCH", f"/v1/pools/{pool_id}", body)

    async def remove(self, pool_id: UUID | str) -> None:
        """Delete a pool; its machines stay."""
        await self._connection.send("DELETE", f"/v1/pools/{pool_id}")


class AsyncInvitations:
    """Codes with which hosts become machines."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None) -> AsyncIterator[Invitation]:
        """Those that can still be used: all, or the first ``limit``, newest first."""
        return AsyncLists(self._connection).items(Invitation, "/v1/invitations", {}, limit)

    async def create(
        self,
        *,
        machine_id: str | None = None,
        name: str | None = None,
        uses: int = 1,
        expires_at: datetime | None = None,
        approval: bool = False,
        tags: Sequence[str] = (),
        pool_ids: Iterable[UUID | str] = (),
    ) -> CreatedInvitation:
        """Invite one machine, or ``uses`` hosts; this answer alone has the code.

        Each machine that joins gets the tags, and is put in the pools.
        """
        body = {
            "machine_id": machine_id,
            "name": name,
            "uses": uses,
            "expires_at": None if expires_at is None else expires_at.isoformat(),
            "approval": approval,
            "tags": [*tags],
            "pool_ids": [str(each) for each in pool_ids],
        }
        return await self._connection.call(CreatedInvitation, "POST", "/v1/invitations", body)

    async def get(self, invitation_id: UUID | str) -> Invitation:
        """One invitation, used up or not."""
        return await self._connection.call(Invitation, "GET", f"/v1/invitations/{invitation_id}")

    async def revoke(self, invitation_id: UUID | str) -> None:
        """Let nobody else join with it; who has joined stays."""
        await self._connection.send("DELETE", f"/v1/invitations/{invitation_id}")

    def joins(self, invitation_id: UUID | str, *, limit: int | None = None) -> AsyncIterator[Join]:
        """The hosts that came with it, newest first."""
        path = f"/v1/invitations/{invitation_id}/joins"
        return AsyncLists(self._connection).items(Join, path, {}, limit)

    async def decide(
        self, invitation_id: UUID | str, join_id: UUID | str, *, approved: bool
    ) -> Join:
        """Let a host in that waits, or refuse it."""
        path = f"/v1/invitations/{invitation_id}/joins/{join_id}"
        body = {"approved": approved}
        return await self._connection.call(Join, "PATCH", path, body)


class AsyncTokens:
    """Tokens of the organization."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(
        self, *, of_machines: bool | None = None, limit: int | None = None
    ) -> AsyncIterator[Token]:
        """All, or the first ``limit``; with ``of_machines`` those of machines, or all others."""
        query = {} if of_machines is None else {"of_machines": str(of_machines).lower()}
        return AsyncLists(self._connection).items(Token, "/v1/tokens", query, limit)

    async def get(self, token_id: UUID | str) -> Token:
        """One token, without its secret."""
        return await self._connection.call(Token, "GET", f"/v1/tokens/{token_id}")

    async def create(
        self,
        name: str,
        *,
        role: str | None = None,
        scopes: Sequence[str] | None = None,
        machine_id: str | None = None,
        organization_id: UUID | str | None = None,
        pool_ids: Iterable[UUID | str] | None = None,
        expires_at: datetime | None = None,
    ) -> CreatedToken:
        """Make a token with a role, or with scopes; this answer alone has its secret.

        With ``pool_ids``, machines outside of these pools do not exist for it.
        """
        given = {
            "name": name,
            "role": role,
            "scopes": None if scopes is None else [*scopes],
            "machine_id": machine_id,
            "organization_id": None if organization_id is None else str(organization_id),
            "pool_ids": None if pool_ids is None else [str(each) for each in pool_ids],
            "expires_at": None if expires_at is None else expires_at.isoformat(),
        }
        body = {field: value for field, value in given.items() if value is not None}
        return await self._connection.call(CreatedToken, "POST", "/v1/tokens", body)

    async def revoke(self, token_id: UUID | str) -> None:
        """End a token, at once and everywhere."""
        await self._connection.send("DELETE", f"/v1/tokens/{token_id}")


class AsyncConsoleSessions:
    """Browsers that are signed in to the console with tokens of the organization."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(
        self, *, token_id: UUID | str | None = None, limit: int | None = None
    ) -> AsyncIterator[ConsoleSession]:
        """All, or the first ``limit``, newest first; with ``token_id`` those of this token."""
        query = {} if token_id is None else {"token_id": str(token_id)}
        return AsyncLists(self._connection).items(ConsoleSession, "/v1/sessions", query, limit)

    async def end(self, session_id: UUID | str) -> None:
        """Sign a browser out, at once and everywhere; its token stays good."""
        await self._connection.send("DELETE", f"/v1/sessions/{session_id}")


class AsyncOrganizations:
    """The tenants that were made from the token's own."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None) -> AsyncIterator[Organization]:
        """All, or the first ``limit``, newest first."""
        return AsyncLists(self._connection).items(Organization, "/v1/organizations", {}, limit)

    async def add(self, name: str) -> Organization:
        """Make an organization."""
        return await self._connection.call(
            Organization, "POST", "/v1/organizations", {"name": name}
        )


class AsyncAudit:
    """Who did what, to what and when."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None, **filters: Any) -> AsyncIterator[AuditEntry]:
        """Entries, newest first: all, or the first ``limit``.

        The filters are those of ``GET /v1/audit``: ``machine_id``, ``token_id``, ``token_name``,
        ``action``, ``created_at_from``, ``created_at_to``.
        """
        return AsyncLists(self._connection).items(AuditEntry, "/v1/audit", filters, limit)


class AsyncCommands:
    """Commands by their ids."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def get(self, command_id: UUID | str) -> CommandView:
        """What became of a command."""
        return await self._connection.call(CommandView, "GET", f"/v1/commands/{command_id}")


def _texts(filters: Mapping[str, Any]) -> dict[str, str]:
    """Filters as a query has them: several values of one stand with commas between."""
    return {
        name: value if isinstance(value, str) else ",".join(map(str, value))
        for name, value in filters.items()
        if value is not None
    }
