# Made of farhand/_async by client/unasync.py: change it there.
"""The fleet and its people: machines, tokens, organizations, the audit, and single commands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from farhand._sync.connection import Connection
from farhand._sync.lists import Lists
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


class Machines:
    """All machines of the token's organization."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None, **filters: Any) -> Iterator[Machine]:
        """Those that fit: all, or the first ``limit``.

        The filters are those of ``GET /v1/machines``: ``pool``, ``tag``, ``state``, ``version``,
        each a text or several, ``outdated``, ``search``, and ``sort``.
        """
        query = _texts(filters)
        return Lists(self._connection).items(Machine, "/v1/machines", query, limit)

    def counts(self, **filters: Any) -> StateCounts:
        """How many machines are in each state of those that fit the filters of :meth:`list`."""
        query = {**_texts(filters), "counts": "true"}
        page = Lists(self._connection).page(Machine, "/v1/machines", query, 0, 1)
        return StateCounts.model_validate((page.model_extra or {})["counts"])

    def tags(self, **filters: Any) -> "dict[str, int]":
        """How many machines have each tag, of those that fit the filters of :meth:`list`.

        Those that most have, 50 at most.
        """
        query = {**_texts(filters), "counts": "true"}
        page = Lists(self._connection).page(Machine, "/v1/machines", query, 0, 1)
        found = map(TagCount.model_validate, (page.model_extra or {})["tags"])
        return {each.tag: each.machines for each in found}

    def bulk(
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
        return self._connection.call(
            BulkResult, "POST", "/v1/machines/bulk", body, is_repeatable=True
        )

    def add(
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
        return self._connection.call(CreatedMachine, "POST", "/v1/machines", given)


class Pools:
    """Machines that are looked after together."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None) -> Iterator[Pool]:
        """All, or the first ``limit``, by name."""
        return Lists(self._connection).items(Pool, "/v1/pools", {}, limit)

    def add(
        self, name: str, *, description: str | None = None, offline_after: int | None = None
    ) -> Pool:
        """Make a pool without machines; webhooks are told of one that is away for so long."""
        body = {"name": name, "description": description, "offline_after": offline_after}
        return self._connection.call(Pool, "POST", "/v1/pools", body)

    def get(self, pool_id: UUID | str) -> Pool:
        """One pool."""
        return self._connection.call(Pool, "GET", f"/v1/pools/{pool_id}")

    def change(
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
        return self._connection.call(Pool, "PATCH", f"/v1/pools/{pool_id}", body)

    def remove(self, pool_id: UUID | str) -> None:
        """Delete a pool; its machines stay."""
        self._connection.send("DELETE", f"/v1/pools/{pool_id}")


class Invitations:
    """Codes with which hosts become machines."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None) -> Iterator[Invitation]:
        """Those that can still be used: all, or the first ``limit``, newest first."""
        return Lists(self._connection).items(Invitation, "/v1/invitations", {}, limit)

    def create(
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
        return self._connection.call(CreatedInvitation, "POST", "/v1/invitations", body)

    def get(self, invitation_id: UUID | str) -> Invitation:
        """One invitation, used up or not."""
        return self._connection.call(Invitation, "GET", f"/v1/invitations/{invitation_id}")

    def revoke(self, invitation_id: UUID | str) -> None:
        """Let nobody else join with it; who has joined stays."""
        self._connection.send("DELETE", f"/v1/invitations/{invitation_id}")

    def joins(self, invitation_id: UUID | str, *, limit: int | None = None) -> Iterator[Join]:
        """The hosts that came with it, newest first."""
        path = f"/v1/invitations/{invitation_id}/joins"
        return Lists(self._connection).items(Join, path, {}, limit)

    def decide(self, invitation_id: UUID | str, join_id: UUID | str, *, approved: bool) -> Join:
        """Let a host in that waits, or refuse it."""
        path = f"/v1/invitations/{invitation_id}/joins/{join_id}"
        body = {"approved": approved}
        return self._connection.call(Join, "PATCH", path, body)


class Tokens:
    """Tokens of the organization."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, of_machines: bool | None = None, limit: int | None = None) -> Iterator[Token]:
        """All, or the first ``limit``; with ``of_machines`` those of machines, or all others."""
        query = {} if of_machines is None else {"of_machines": str(of_machines).lower()}
        return Lists(self._connection).items(Token, "/v1/tokens", query, limit)

    def get(self, token_id: UUID | str) -> Token:
        """One token, without its secret."""
        return self._connection.call(Token, "GET", f"/v1/tokens/{token_id}")

    def create(
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
        return self._connection.call(CreatedToken, "POST", "/v1/tokens", body)

    def revoke(self, token_id: UUID | str) -> None:
        """End a token, at once and everywhere."""
        self._connection.send("DELETE", f"/v1/tokens/{token_id}")


class ConsoleSessions:
    """Browsers that are signed in to the console with tokens of the organization."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self, *, token_id: UUID | str | None = None, limit: int | None = None
    ) -> Iterator[ConsoleSession]:
        """All, or the first ``limit``, newest first; with ``token_id`` those of this token."""
        query = {} if token_id is None else {"token_id": str(token_id)}
        return Lists(self._connection).items(ConsoleSession, "/v1/sessions", query, limit)

    def end(self, session_id: UUID | str) -> None:
        """Sign a browser out, at once and everywhere; its token stays good."""
        self._connection.send("DELETE", f"/v1/sessions/{session_id}")


class Organizations:
    """The tenants that were made from the token's own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None) -> Iterator[Organization]:
        """All, or the first ``limit``, newest first."""
        return Lists(self._connection).items(Organization, "/v1/organizations", {}, limit)

    def add(self, name: str) -> Organization:
        """Make an organization."""
        return self._connection.call(Organization, "POST", "/v1/organizations", {"name": name})


class Audit:
    """Who did what, to what and when."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None, **filters: Any) -> Iterator[AuditEntry]:
        """Entries, newest first: all, or the first ``limit``.

        The filters are those of ``GET /v1/audit``: ``machine_id``, ``token_id``, ``token_name``,
        ``action``, ``created_at_from``, ``created_at_to``.
        """
        return Lists(self._connection).items(AuditEntry, "/v1/audit", filters, limit)


class Commands:
    """Commands by their ids."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, command_id: UUID | str) -> CommandView:
        """What became of a command."""
        return self._connection.call(CommandView, "GET", f"/v1/commands/{command_id}")


def _texts(filters: Mapping[str, Any]) -> dict[str, str]:
    """Filters as a query has them: several values of one stand with commas between."""
    return {
        name: value if isinstance(value, str) else ",".join(map(str, value))
        for name, value in filters.items()
        if value is not None
    }
