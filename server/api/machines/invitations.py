"""Invitations: made, listed, revoked; and the hosts that came with them, let in or refused."""

from uuid import UUID

from pydantic import BaseModel

from schemas.http import problems
from schemas.http.queries import PageQuery
from schemas.resources.actions import Action
from schemas.resources.invitations import (
    CreatedInvitation,
    Invitation,
    InvitationPage,
    Join,
    JoinDecision,
    JoinPage,
    NewInvitation,
)
from schemas.resources.tokens import Scope
from server.identity.granting import check_pools
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class InvitationPath(BaseModel):
    """Names an invitation."""

    invitation_id: UUID


class JoinPath(InvitationPath):
    """Names a host that came with an invitation."""

    join_id: UUID


class InvitationsHandler(ApiHandler):
    @Endpoint(
        summary="List invitations",
        description="Those that can still be used; the codes are not kept.",
        scope=Scope.POOLS_WRITE,
        query=PageQuery,
        answers={200: InvitationPage},
    )
    async def get(self, query: PageQuery) -> None:
        invitations = self.services.machines.invitations
        self.answer(200, await invitations.page(self.organization_id, query))

    @Endpoint(
        summary="Invite machines",
        description="The answer is the only one that shows the code, with which "
        "farhand-machine join --code makes a machine of its host.  With a machine_id it needs the "
        "scope machines:write as well.",
        scope=Scope.POOLS_WRITE,
        for_bound=True,
        body=NewInvitation,
        answers={201: CreatedInvitation},
    )
    async def post(self, body: NewInvitation) -> None:
        if body.machine_id is not None:
            # Who is that machine gets what is typed on it, as with a token of its own.
            self.principal.require(Scope.MACHINES_WRITE)
            await self.services.machines.reach.check(self.principal, body.machine_id)
        check_pools(self.principal, body.pool_ids)
        made = await self.services.machines.invitations.add(
            self.organization_id,
            body,
            by=self.principal.token_name,
            within=self.principal.pools,
        )
        await record(
            self,
            "invitation.created",
            made.id,
            machine_id=made.machine_id,
            target_name=made.name,
        )
        self.answer(201, made)


class InvitationHandler(ApiHandler):
    @Endpoint(
        summary="Get an invitation",
        scope=Scope.POOLS_WRITE,
        path=InvitationPath,
        answers={200: Invitation},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: InvitationPath) -> None:
        invitations = self.services.machines.invitations
        self.answer(200, await invitations.get(self.organization_id, path.invitation_id))

    @Endpoint(
        summary="Revoke an invitation",
        description="Nobody else joins with it; machines that have joined stay.",
        scope=Scope.POOLS_WRITE,
        path=InvitationPath,
        answers={204: None},
        problems=(problems.NOT_FOUND,),
    )
    async def delete(self, path: InvitationPath) -> None:
        await self.services.machines.invitations.revoke(self.organization_id, path.invitation_id)
        await record(self, "invitation.revoked", path.invitation_id)
        self.answer(204)


class JoinsHandler(ApiHandler):
    @Endpoint(
        summary="List the hosts of an invitation",
        scope=Scope.POOLS_WRITE,
        path=InvitationPath,
        query=PageQuery,
        answers={200: JoinPage},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: InvitationPath, query: PageQuery) -> None:
        invitations = self.services.machines.invitations
        page = await invitations.joins(self.organization_id, path.invitation_id, query)
        self.answer(200, page)


class JoinHandler(ApiHandler):
    @Endpoint(
        summary="Let a host in, or refuse it",
        scope=Scope.POOLS_WRITE,
        path=JoinPath,
        body=JoinDecision,
        answers={200: Join},
        problems=(problems.NOT_FOUND,),
    )
    async def patch(self, path: JoinPath, body: JoinDecision) -> None:
        decided = await self.services.machines.invitations.decide(
            self.organization_id, path.invitation_id, path.join_id, approved=body.approved
        )
        action: Action = "join.approved" if body.approved else "join.refused"
        await record(
            self, action, decided.id, machine_id=decided.machine_id, target_name=decided.host
        )
        self.answer(200, decided)
