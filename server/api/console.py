"""The console's page and files, and signing in to it and out."""

from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http import problems
from schemas.http.entity_tags import ReadHeaders
from schemas.http.problems import ProblemError
from schemas.resources.actions import Action
from schemas.resources.audit import Grant
from schemas.resources.tokens import Scope
from schemas.values.strict import StrictModel
from schemas.values.times import Time
from server.console.assets import CONSOLE_PAGE
from server.identity.authentication import Principal
from server.identity.sessions import CONSOLE_HEADER, COOKIE, check_own_request
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.files import IMMUTABLE, REVALIDATE, FileHandler
from server.web.handler import ApiHandler
from server.web.session_cookie import clear_session_cookie, set_session_cookie

MAX_SIGN_IN_BYTES = 1024
MAX_SIGN_IN_VALUES = 8
"""Anybody may send this body, so it is no longer than it must be."""


class SignIn(StrictModel):
    """The body of ``POST /console/session``."""

    token: str = Field(min_length=1, max_length=200, description="The token, shown when made.")


class Session(BaseModel):
    """Who is signed in, with what, and until when."""

    token_name: str
    organization_id: UUID
    scopes: list[Scope]
    expires_at: Time | None = Field(description="null where a bearer token was sent instead.")


class AssetPath(BaseModel):
    """Names a file of the console."""

    version: str
    path: str = Field(description="Such as control/keys.js: it may have slashes.")


class ConsoleHandler(ApiHandler):
    @Endpoint(
        summary="Find the console",
        scope=None,
        public=True,
        answers={302: None},
        media_type="text/html",
    )
    async def get(self) -> None:
        # Relative, so that it also fits behind a proxy that puts a path before ours.
        self.set_header("Location", "console/")
        self.answer(302)


class ConsolePageHandler(FileHandler):
    @Endpoint(
        summary="Get the page of the console",
        scope=None,
        public=True,
        headers=ReadHeaders,
        answers={200: None, 304: None},
        media_type="text/html",
    )
    async def get(self, headers: ReadHeaders) -> None:
        self.answer_page(self.services.operation.console.pages[CONSOLE_PAGE], headers)


class ConsoleFileHandler(FileHandler):
    @Endpoint(
        summary="Get a file of the console",
        scope=None,
        public=True,
        path=AssetPath,
        headers=ReadHeaders,
        answers={200: None, 304: None},
        problems=(problems.NOT_FOUND,),
        media_type="*/*",
    )
    async def get(self, path: AssetPath, headers: ReadHeaders) -> None:
        console = self.services.operation.console
        asset = console.find(path.path)
        if asset is None:
            raise ProblemError(problems.NOT_FOUND, "the console has no such file")
        # A page that was loaded before an upgrade still gets its files, but keeps none of them.
        caching = IMMUTABLE if path.version == console.version else REVALIDATE
        self.answer_asset(asset, caching, headers)


class SessionHandler(ApiHandler):
    @Endpoint(
        summary="Ask who is signed in to the console",
        scope=None,
        answers={200: Session},
    )
    async def get(self) -> None:
        self.answer(200, _view(self.principal, self.session_expires_at))

    @Endpoint(
        summary="Sign in to the console",
        description="The answer sets the session's cookie, which every address takes in the "
        "place of the token.  Requests with it that change something need the header "
        f"{CONSOLE_HEADER}: 1 and this server's Origin; so does this one.",
        scope=None,
        public=True,
        body=SignIn,
        confidential=True,
        max_body_bytes=MAX_SIGN_IN_BYTES,
        max_body_values=MAX_SIGN_IN_VALUES,
        answers={204: None},
        problems=(
            problems.UNAUTHENTICATED,
            problems.FORBIDDEN,
            problems.CROSS_SITE_REQUEST,
            problems.STORAGE_UNAVAILABLE,
        ),
    )
    async def post(self, body: SignIn) -> None:
        check_own_request(self.request)
        user_agent = self.request.headers.get("User-Agent", "")
        sessions = self.services.access.sessions
        session = await sessions.begin(body.token.strip(), self.address, user_agent)
        if (before := self.get_cookie(COOKIE)) is not None:
            await self._end(before)
        self.principal = session.principal
        await self._record("session.started")
        set_session_cookie(self, session.secret, session.expires_at)
        self.answer(204)

    @Endpoint(
        summary="Sign out of the console",
        scope=None,
        public=True,
        answers={204: None},
        problems=(problems.CROSS_SITE_REQUEST, problems.STORAGE_UNAVAILABLE),
    )
    async def delete(self) -> None:
        secret = self.get_cookie(COOKIE)
        if secret is not None:
            check_own_request(self.request)
            await self._end(secret)
            clear_session_cookie(self)
        self.answer(204)

    async def _end(self, secret: str) -> None:
        """End a session, if that is one: otherwise the cookie goes all the same."""
        sessions = self.services.access.sessions
        try:
            self.principal, _ = await sessions.principal(secret, self.address)
        except ProblemError:
            return
        await sessions.end(secret)
        await self._record("session.ended")

    async def _record(self, action: Action) -> None:
        """Record what was done with the token that the session stands for."""
        token = self.principal
        grant = Grant(role=token.role, scopes=sorted(token.scopes))
        await record(self, action, token.token_id, target_name=token.token_name, grant=grant)


def _view(principal: Principal, expires_at: object) -> Session:
    return Session.model_validate(
        {
            "token_name": principal.token_name,
            "organization_id": principal.organization_id,
            "scopes": sorted(principal.scopes),
            "expires_at": expires_at,
        }
    )
