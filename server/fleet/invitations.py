"""Invitations: a code lets machines join that have made their own tokens.

A machine client makes a token, keeps it, and shows the code together with the token's SHA-256.  So
no secret comes back to it that could be lost on the way: killed at any moment, it comes again with
the same token, and is the same machine.
"""

import re
import secrets
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid4

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.actions import Action
from schemas.resources.invitations import (
    CODE_PREFIX,
    DEFAULT_LIFETIME,
    LONGEST_LIFETIME,
    CreatedInvitation,
    Invitation,
    InvitationPage,
    Join,
    JoinPage,
    NewInvitation,
)
from schemas.resources.machines import RESERVED_IDS
from server.errors import AlreadyExists
from server.fleet.pools import Pools
from server.identity.authentication import secret_hash, unauthenticated
from server.identity.secret_lookup import SecretLookup
from server.store.audit import AuditEntry, AuditStore
from server.store.machines.documents import NO_LABELS, Labels
from server.store.machines.invitations import InvitationStore, StoredInvitation, StoredJoin
from server.store.machines.machines import MachineStore
from server.store.times import now

ASK_AGAIN_SECONDS: Final = "5"
_LONGEST_HOST: Final = 100


class Invitations:
    """The invitations of organizations.

    ``lookup`` finds one by its code, and ``changed`` is told of every machine that joins.
    """

    def __init__(
        self,
        invitations: InvitationStore,
        machines: MachineStore,
        audit: AuditStore,
        pools: Pools,
        lookup: SecretLookup[StoredInvitation],
        changed: Callable[[UUID, str], None],
    ) -> None:
        self._invitations = invitations
        self._machines = machines
        self._audit = audit
        self._pools = pools
        self._lookup = lookup
        self._changed = changed

    async def add(
        self,
        organization_id: UUID,
        new: NewInvitation,
        *,
        by: str,
        within: Collection[UUID] | None,
    ) -> CreatedInvitation:
        """Make an invitation, and the machine that it is for, unless that is there.

        ``within`` are the pools of a token that is bound to any.  Raises a validation error for a
        pool that is not there.
        """
        pools = await self._pools.check(organization_id, new.pool_ids)
        if new.machine_id is not None:
            await self._be_there(organization_id, new.machine_id, within)
        labels = Labels(new.tags, pools)
        return await self._made(organization_id, new, labels, by=by, within=within)

    async def rotation(
        self, organization_id: UUID, machine_id: str, *, by: str
    ) -> CreatedInvitation:
        """Invite a machine to come back with a new token, in whose favour its others fall."""
        new = NewInvitation(name=f"a new token for {machine_id}", machine_id=machine_id)
        return await self._made(organization_id, new, NO_LABELS, by=by, replaces_tokens=True)

    async def _made(
        self,
        organization_id: UUID,
        new: NewInvitation,
        labels: Labels,
        *,
        by: str,
        replaces_tokens: bool = False,
        within: Collection[UUID] | None = None,
    ) -> CreatedInvitation:
        code = CODE_PREFIX + secrets.token_urlsafe(24)
        stored = StoredInvitation(
            id=uuid4(),
            hash=secret_hash(code),
            organization_id=organization_id,
            name=new.name,
            machine_id=new.machine_id,
            uses=new.uses,
            used=0,
            approval=new.approval,
            created_at=now(),
            created_by=by,
            expires_at=_end(new.expires_at),
            replaces_tokens=replaces_tokens,
            labels=labels,
            within=None if within is None else [*within],
        )
        await self._invitations.insert(stored)
        return CreatedInvitation(**dict(await self._view(stored)), code=code)

    async def _be_there(
        self, organization_id: UUID, machine_id: str, within: Collection[UUID] | None
    ) -> None:
        try:
            await self._machines.create(organization_id, machine_id, machine_id, within=within)
        except AlreadyExists:
            return
        self._changed(organization_id, machine_id)

    async def page(self, organization_id: UUID, page: PageQuery) -> InvitationPage:
        """One page of the invitations that can be used."""
        stored, total = await self._invitations.list(organization_id, page)
        items = [await self._view(each) for each in stored]
        return InvitationPage(items=items, total=total, skip=page.skip, limit=page.limit)

    async def get(self, organization_id: UUID, invitation_id: UUID) -> Invitation:
        """An invitation, used up or not.  Raises a ``404`` problem."""
        return await self._view(await self._stored(organization_id, invitation_id))

    async def revoke(self, organization_id: UUID, invitation_id: UUID) -> None:
        """Let nobody else come with it; who is in stays.  Raises a ``404`` problem."""
        if await self._invitations.revoke(organization_id, invitation_id) is None:
            raise _unknown(invitation_id)

    async def joins(self, organization_id: UUID, invitation_id: UUID, page: PageQuery) -> JoinPage:
        """One page of the hosts that came with it.  Raises a ``404`` problem."""
        await self._stored(organization_id, invitation_id)
        stored, total = await self._invitations.joins(organization_id, invitation_id, page)
        items = [_join_view(each) for each in stored]
        return JoinPage(items=items, total=total, skip=page.skip, limit=page.limit)

    async def decide(
        self, organization_id: UUID, invitation_id: UUID, join_id: UUID, *, approved: bool
    ) -> Join:
        """Let a waiting host in, or refuse it.  Raises a problem where it does not wait."""
        invitation = await self._stored(organization_id, invitation_id)
        decided = await self._invitations.decide(invitation, join_id, approved=approved)
        if decided is None:
            raise ProblemError(problems.NOT_FOUND, f"no host {join_id} waits for this invitation")
        if decided.machine_id is not None:
            self._changed(organization_id, decided.machine_id)
        return _join_view(decided)

    async def join(self, code: str, token_hash: bytes, host: str, address: str) -> None:
        """Take in a host that has a code; from then on its own token is good.

        Raises a ``401`` problem for a code that is not good any more, and a ``403`` for a host
        that waits for approval, or was refused.
        """
        invitation = await self._lookup.find(secret_hash(code), address, was_valid=False)
        join = None
        if invitation is not None:
            join = await self._invitations.join(
                invitation, token_hash, machine_id_of(host), address
            )
        if invitation is None or join is None:
            self._lookup.record_failure(address)
            raise unauthenticated(
                "the join code is not known, was used up or revoked, or its time is over",
                error="invalid_token",
            )
        if join.is_new and join.machine_id is not None:
            self._changed(join.organization_id, join.machine_id)
            action: Action = "token.rotated" if invitation.replaces_tokens else "machine.joined"
            await self._audit.add(_entry(invitation, join, action))
        if join.state == "waiting":
            raise ProblemError(
                problems.AWAITING_APPROVAL,
                f"{join.host} is known, and somebody has to let it in",
                headers={"Retry-After": ASK_AGAIN_SECONDS},
            )
        if join.state == "refused":
            raise ProblemError(problems.FORBIDDEN, f"{join.host} was refused by an operator")

    async def _view(self, stored: StoredInvitation) -> Invitation:
        pools = await self._pools.references(stored.organization_id, stored.labels.pools)
        tags = [*stored.labels.tags]
        return Invitation.model_validate({**vars(stored), "tags": tags, "pools": pools})

    async def _stored(self, organization_id: UUID, invitation_id: UUID) -> StoredInvitation:
        stored = await self._invitations.get(organization_id, invitation_id)
        if stored is None:
            raise _unknown(invitation_id)
        return stored


def machine_id_of(host: str) -> str:
    """A machine's id made of what a host calls itself."""
    text = re.sub(r"[^A-Za-z0-9._-]+", "-", host).strip("-._")[:_LONGEST_HOST]
    return f"{text}-machine" if text in RESERVED_IDS else text or "machine"


def _end(asked: datetime | None) -> datetime:
    """When an invitation ends.  Raises a validation error for an end that is past, or far off."""
    moment = datetime.now(UTC)
    if asked is None:
        return moment + DEFAULT_LIFETIME
    if not moment < asked <= moment + LONGEST_LIFETIME:
        raise InvalidRequestError.single(
            ("body", "expires_at"),
            f"must lie in the future, within {LONGEST_LIFETIME.days} days from now",
            "future_time",
        )
    return asked


def _entry(invitation: StoredInvitation, join: StoredJoin, action: Action) -> AuditEntry:
    return AuditEntry(
        id=uuid4().bytes,
        organization_id=join.organization_id,
        created_at=now(),
        action=action,
        token_id=None,
        token_name=f"invitation {invitation.name or invitation.id}",
        target=join.machine_id,
        machine_id=join.machine_id,
        request_id="",
        note=f"{join.host} at {join.address}",
    )


def _join_view(stored: StoredJoin) -> Join:
    return Join.model_validate(stored, from_attributes=True)


def _unknown(invitation_id: UUID) -> ProblemError:
    return ProblemError(problems.NOT_FOUND, f"there is no invitation {invitation_id}")
