"""Sessions of the console: who is signed in, and ending that."""

from uuid import UUID

from pydantic import BaseModel

from schemas.http import problems
from schemas.resources.audit import Grant
from schemas.resources.sessions import SessionPage, SessionQuery
from schemas.resources.tokens import Scope
from server.identity.tokens import token_view
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler
from server.web.session_cookie import clear_session_cookie, session_hash


class SessionPath(BaseModel):
    """Names a session."""

    session_id: UUID


class SessionsHandler(ApiHandler):
    @Endpoint(
        summary="List the sessions of the console",
        description="Those of the organization that open something yet, newest first.  With its "
        "id nobody gets in.",
        scope=Scope.TOKENS_WRITE,
        query=SessionQuery,
        answers={200: SessionPage},
    )
    async def get(self, query: SessionQuery) -> None:
        sessions = self.services.access.sessions
        self.answer(200, await sessions.page(self.principal, query, session_hash(self)))


class OneSessionHandler(ApiHandler):
    @Endpoint(
        summary="End a session of the console",
        description="Within a second or two it opens nothing any more, on any node, and what it "
        "has control of is released.  One's own may be ended as well: that is signing out.",
        scope=Scope.TOKENS_WRITE,
        path=SessionPath,
        answers={204: None},
        problems=(problems.NOT_FOUND,),
    )
    async def delete(self, path: SessionPath) -> None:
        sessions = self.services.access.sessions
        ended = await sessions.end_one(self.principal, path.session_id)
        token = token_view(ended.token)
        grant = Grant(role=token.role, scopes=sorted(token.scopes))
        await record(self, "session.ended", token.id, target_name=token.name, grant=grant)
        if ended.session.hash == session_hash(self):
            clear_session_cookie(self)
        self.answer(204)
