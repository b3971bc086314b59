"""Tokens: made, listed, revoked."""

from uuid import UUID

from pydantic import BaseModel

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.tokens import CreatedToken, NewToken, Scope, Token, TokenPage
from server.identity.granting import check_scopes, granted_end
from server.identity.tokens import create_token, token_view
from server.web.auditing import record
from server.web.endpoint import Endpoint, endpoint
from server.web.handler import ApiHandler


class TokenPath(BaseModel):
    """Names a token."""

    token_id: UUID


class TokensHandler(ApiHandler):
    @endpoint(
        Endpoint(
            summary="List tokens",
            description="Those that were not revoked; the secrets are not kept.",
            scope=Scope.TOKENS_WRITE,
            query=PageQuery,
            answers={200: TokenPage},
        )
    )
    async def get(self, query: PageQuery) -> None:
        stored, total = await self.services.tokens.list(self.principal.organization_id, query)
        items = [token_view(token) for token in stored]
        self.answer(200, TokenPage(items=items, total=total, skip=query.skip, limit=query.limit))

    @endpoint(
        Endpoint(
            summary="Make a token",
            description="The answer is the only one that shows the secret.  A token never allows "
            "more, nor longer, than the one that makes it; only a machine's own, made with "
            "machines:write, may last longer.",
            scope=Scope.TOKENS_WRITE,
            body=NewToken,
            answers={201: CreatedToken},
            problems=(problems.NOT_FOUND,),
        )
    )
    async def post(self, body: NewToken) -> None:
        organization_id = await self._organization_for(body)
        check_scopes(self.principal, body)
        body = body.model_copy(update={"expires_at": granted_end(self.principal, body)})
        if body.machine_id is not None and (
            await self.services.machines.get(organization_id, body.machine_id) is None
        ):
            raise InvalidRequestError.single(
                ("body", "machine_id"),
                f"there is no machine {body.machine_id!r}; add it first",
                "unknown_machine",
                body.machine_id,
            )
        made = await create_token(self.services.tokens, organization_id, body)
        # Where it is for another organization, both have it in their audit.
        for each in {organization_id, self.principal.organization_id}:
            await record(
                self, "token.created", made.id, machine_id=body.machine_id, organization_id=each
            )
        self.answer(201, made)

    async def _organization_for(self, body: NewToken) -> UUID:
        """Whose token it will be: the caller's organization, or one that was made from it."""
        own = self.principal.organization_id
        if body.organization_id is None or body.organization_id == own:
            return own
        self.principal.require(Scope.ORGANIZATIONS_WRITE)
        organization = await self.services.organizations.get(body.organization_id)
        if organization is None or organization.parent_id != own:
            raise ProblemError(
                problems.NOT_FOUND,
                f"no organization {body.organization_id} was made from yours, and a token for "
                "another one can only be made from there",
            )
        return organization.id


class TokenHandler(ApiHandler):
    @endpoint(
        Endpoint(
            summary="Get a token",
            scope=Scope.TOKENS_WRITE,
            path=TokenPath,
            answers={200: Token},
            problems=(problems.NOT_FOUND,),
        )
    )
    async def get(self, path: TokenPath) -> None:
        stored = await self.services.tokens.get(self.principal.organization_id, path.token_id)
        if stored is None or stored.revoked_at is not None:
            raise _unknown(path.token_id)
        self.answer(200, token_view(stored))

    @endpoint(
        Endpoint(
            summary="Revoke a token",
            description="Within a second or two it works nowhere any more; open links end.",
            scope=Scope.TOKENS_WRITE,
            path=TokenPath,
            answers={204: None},
            problems=(problems.NOT_FOUND,),
        )
    )
    async def delete(self, path: TokenPath) -> None:
        if not await self.services.tokens.revoke(self.principal.organization_id, path.token_id):
            raise _unknown(path.token_id)
        await record(self, "token.revoked", path.token_id)
        self.answer(204)


def _unknown(token_id: UUID) -> ProblemError:
    return ProblemError(problems.NOT_FOUND, f"there is no token {token_id}")
