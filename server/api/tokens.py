"""Tokens: made, listed, revoked."""

from uuid import UUID

from pydantic import BaseModel

from schemas.http import problems
from schemas.resources.actions import Action
from schemas.resources.audit import Grant
from schemas.resources.tokens import CreatedToken, NewToken, Scope, Token, TokenPage, TokenQuery
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class TokenPath(BaseModel):
    """Names a token."""

    token_id: UUID


class TokensHandler(ApiHandler):
    @Endpoint(
        summary="List tokens",
        description="Those that were not revoked; the secrets are not kept.",
        scope=Scope.TOKENS_WRITE,
        for_bound=True,
        query=TokenQuery,
        answers={200: TokenPage},
    )
    async def get(self, query: TokenQuery) -> None:
        tokens = self.services.access.tokens
        self.answer(200, await tokens.page(self.principal, query))

    @Endpoint(
        summary="Make a token",
        description="It has either the scopes or the role that the body names.  The answer is "
        "the only one that shows the secret.  A token never allows more, nor longer, nor on "
        "more machines, than the one that makes it; only a machine's own, made with "
        "machines:write, may last longer.",
        scope=Scope.TOKENS_WRITE,
        for_bound=True,
        body=NewToken,
        answers={201: CreatedToken},
        problems=(problems.NOT_FOUND,),
    )
    async def post(self, body: NewToken) -> None:
        made = await self.services.access.tokens.grant(self.principal, body)
        # Where it is for another organization, both have it in their audit.
        for each in {made.organization_id, self.organization_id}:
            await _record(self, "token.created", made, organization_id=each)
        self.answer(201, made)


class TokenHandler(ApiHandler):
    @Endpoint(
        summary="Get a token",
        scope=Scope.TOKENS_WRITE,
        for_bound=True,
        path=TokenPath,
        answers={200: Token},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: TokenPath) -> None:
        tokens = self.services.access.tokens
        self.answer(200, await tokens.get(self.principal, path.token_id))

    @Endpoint(
        summary="Revoke a token",
        description="Within a second or two it works nowhere any more; open links end.",
        scope=Scope.TOKENS_WRITE,
        for_bound=True,
        path=TokenPath,
        answers={204: None},
        problems=(problems.NOT_FOUND,),
    )
    async def delete(self, path: TokenPath) -> None:
        revoked = await self.services.access.tokens.revoke(self.principal, path.token_id)
        await _record(self, "token.revoked", revoked)
        self.answer(204)


async def _record(
    handler: ApiHandler, action: Action, token: Token, *, organization_id: UUID | None = None
) -> None:
    """Record that the caller has made or revoked a token."""
    await record(
        handler,
        action,
        token.id,
        machine_id=token.machine_id,
        organization_id=organization_id,
        target_name=token.name,
        grant=Grant(role=token.role, scopes=[*token.scopes]),
    )
