"""Sessions of the console: a cookie that stands for the token that somebody signed in with.

A cookie goes along by itself, also with what another page sends, so it counts only where the
browser, or the console itself, says that the request is the console's own.
"""

import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

from tornado.httputil import HTTPServerRequest

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.resources.sessions import (
    MOST_USER_AGENT_CHARACTERS,
    ConsoleSession,
    SessionPage,
    SessionQuery,
)
from server.identity.authentication import (
    MAX_TOKEN_CHARACTERS,
    Authenticator,
    Principal,
    secret_hash,
    store_in_cache,
    unauthenticated,
)
from server.identity.secret_lookup import FailedAttempts, SecretLookup
from server.store.identity.sessions import OpenSession, SessionStore, StoredSession
from server.store.identity.tokens import TokenStore
from server.tasks import Tasks

COOKIE = "farhand_session"
CONSOLE_HEADER = "Farhand-Console"
READING_METHODS = ("GET", "HEAD")
MAX_SECRET_CHARACTERS = 100
NOTE_USE_SECONDS = 60.0

ENDED = "the session has ended: sign in again"


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that has just begun; ``secret`` is for the browser alone."""

    secret: str
    principal: Principal
    expires_at: datetime


@dataclass(slots=True)
class _CachedSession:
    session: StoredSession
    until: float


class Sessions:
    """Begins sessions, finds out for whom they stand, and ends them.

    ``lifetime`` and ``idle`` are seconds: from its beginning, and without a request.  As a token,
    a session is read again after ``cache_seconds``, and its token with it.
    """

    def __init__(
        self,
        store: SessionStore,
        tokens: TokenStore,
        authenticator: Authenticator,
        background: Tasks,
        failed_attempts: FailedAttempts,
        *,
        cache_seconds: float,
        lifetime: float,
        idle: float,
    ) -> None:
        self._store = store
        self._lookup = SecretLookup(store.find_many, failed_attempts, background)
        self._tokens = tokens
        self._authenticator = authenticator
        self._background = background
        self._cache_seconds = cache_seconds
        self._lifetime = timedelta(seconds=lifetime)
        self._idle = timedelta(seconds=idle)
        self._cache: OrderedDict[bytes, _CachedSession] = OrderedDict()

    async def begin(self, token: str, address: str, user_agent: str = "") -> NewSession:
        """Sign in with a token; a ``401`` or ``403`` problem says why it will not do.

        ``address`` is where the request comes from, and ``user_agent`` what sends it by its own
        word: it is kept for those who look which sessions there are.
        """
        if len(token) > MAX_TOKEN_CHARACTERS or not token.isascii():
            raise unauthenticated("the token is not known or was revoked", error="invalid_token")
        token_hash = secret_hash(token)
        principal = await self._authenticator.principal_of(token_hash, address)
        if principal.machine_id is not None:
            raise ProblemError(
                problems.FORBIDDEN,
                "this is the token of a machine, which is for farhand-machine join alone; the "
                "console needs an operator's",
            )
        expires_at = datetime.now(UTC) + self._lifetime
        stored = await self._tokens.find_by_hash(token_hash)
        if stored is not None and stored.expires_at is not None:
            expires_at = min(expires_at, stored.expires_at)
        secret = secrets.token_urlsafe(32)
        await self._store.create(
            secret_hash(secret),
            token_hash,
            principal.organization_id,
            expires_at,
            _printable(user_agent),
        )
        return NewSession(secret, principal, expires_at)

    async def principal(self, secret: str, address: str) -> tuple[Principal, datetime]:
        """For whom a session stands and until when; or a ``401`` problem."""
        session = await self._find(_digest(secret), address)
        principal = await self._authenticator.principal_of(session.token_hash, address)
        return principal, session.expires_at

    async def end(self, secret: str) -> None:
        """Sign out: the session opens nothing any more, whoever has a copy of the cookie."""
        digest = _digest(secret)
        self._cache.pop(digest, None)
        await self._store.delete(digest)

    async def page(self, asker: Principal, page: SessionQuery, own: bytes | None) -> SessionPage:
        """One page of the sessions of the asker's organization that open something yet.

        ``own`` is the hash of the asker's own, if it is in one.
        """
        token_hash = None
        if page.token_id is not None:
            token = await self._tokens.get(asker.organization_id, page.token_id)
            if token is None:
                return SessionPage(items=[], total=0, skip=page.skip, limit=page.limit)
            token_hash = token.hash
        found, total = await self._store.list(
            asker.organization_id, page, self._idle, token_hash=token_hash
        )
        items = [_view(each, own) for each in found]
        return SessionPage(items=items, total=total, skip=page.skip, limit=page.limit)

    async def end_one(self, asker: Principal, session_id: UUID) -> OpenSession:
        """End any session of the asker's organization; what it was.  Raises a ``404`` problem."""
        found = await self._store.get(asker.organization_id, session_id, self._idle)
        if found is None or not await self._store.delete(found.session.hash):
            raise ProblemError(problems.NOT_FOUND, f"there is no session {session_id}")
        self._cache.pop(found.session.hash, None)
        return found

    async def _find(self, digest: bytes, address: str) -> StoredSession:
        cached = self._cache.get(digest)
        if cached is None or time.monotonic() >= cached.until:
            cached = await self._read(digest, address)
        return cached.session

    async def _read(self, digest: bytes, address: str) -> _CachedSession:
        session = await self._lookup.find(digest, address, was_valid=digest in self._cache)
        now = datetime.now(UTC)
        if (
            session is None
            or not hmac.compare_digest(session.hash, digest)
            or session.is_over(self._idle, now)
        ):
            self._cache.pop(digest, None)
            self._lookup.record_failure(address)
            raise unauthenticated(ENDED, error="invalid_token")
        cache_seconds = min(self._cache_seconds, (session.expires_at - now).total_seconds())
        cached = _CachedSession(session, time.monotonic() + cache_seconds)
        store_in_cache(self._cache, digest, cached)
        if now - session.used_at >= min(timedelta(seconds=NOTE_USE_SECONDS), self._idle / 10):
            self._background.start_and_report(
                self._store.touch(digest, now), "note the last use of a session"
            )
        return cached


def check_own_request(request: HTTPServerRequest) -> None:
    """Raise a ``403`` problem unless the console itself, or the person, sent a request.

    Reading is refused where the browser says that another page asks, as SameSite calls another
    port of the same host the same site.  What changes something must say more: from where it
    comes, and a header that no form and no other page can send.
    """
    site = request.headers.get("Sec-Fetch-Site", "").lower()
    if request.method in READING_METHODS:
        if site in ("", "same-origin", "none"):
            return
    elif request.headers.get(CONSOLE_HEADER) == "1" and (
        site == "same-origin" if site else _has_own_origin(request)
    ):
        return
    raise ProblemError(
        problems.CROSS_SITE_REQUEST,
        "the session of the console is for the console's own requests: those that change "
        f"something have the header {CONSOLE_HEADER}: 1 and this server's Origin",
    )


def check_own_websocket(request: HTTPServerRequest, *, has_session: bool) -> None:
    """Raise a ``403`` problem where another site's page may have opened a websocket.

    Browsers let any page do that, and give it the cookies of this server.  A program with a token
    sends no Origin.
    """
    if not (has_session or _is_of_a_page(request)) or _is_of_own_page(request):
        return
    raise ProblemError(
        problems.CROSS_SITE_REQUEST, "the console's websockets are for the console's own pages"
    )


def check_no_other_site(request: HTTPServerRequest) -> None:
    """Raise a ``403`` problem where another site's page sends what programs send."""
    if _is_of_a_page(request) and not _is_of_own_page(request):
        raise ProblemError(
            problems.CROSS_SITE_REQUEST,
            "this is for programs, and for no page of another site: programs send no Origin",
        )


def _is_of_a_page(request: HTTPServerRequest) -> bool:
    return "Origin" in request.headers or "Sec-Fetch-Site" in request.headers


def _is_of_own_page(request: HTTPServerRequest) -> bool:
    site = request.headers.get("Sec-Fetch-Site", "").lower()
    return site == "same-origin" if site else _has_own_origin(request)


def _has_own_origin(request: HTTPServerRequest) -> bool:
    """Whether the Origin is the host that was asked; behind a proxy the scheme can differ."""
    origin = request.headers.get("Origin", "")
    return bool(origin) and urlsplit(origin).netloc.lower() == request.host.lower()


def is_https(request: HTTPServerRequest) -> bool:
    """Whether the browser speaks https, to us or to a proxy before us.

    Whoever invents this only gets a cookie that his own browser sends less often.
    """
    return (
        request.protocol == "https"
        or request.headers.get("Origin", "").lower().startswith("https:")
        or request.headers.get("X-Forwarded-Proto", "").lower() == "https"
    )


def _view(found: OpenSession, own: bytes | None) -> ConsoleSession:
    session = found.session
    return ConsoleSession(
        id=session.id,
        token_id=found.token.id,
        token_name=found.token.name,
        user_agent=session.user_agent,
        created_at=session.created_at,
        last_used_at=session.used_at,
        expires_at=session.expires_at,
        current=session.hash == own,
    )


def _printable(user_agent: str) -> str | None:
    """What a browser calls itself, short and without what a terminal would obey."""
    shown = "".join(each for each in user_agent if each.isprintable())
    return shown[:MOST_USER_AGENT_CHARACTERS].strip() or None


def _digest(secret: str) -> bytes:
    if len(secret) > MAX_SECRET_CHARACTERS or not secret.isascii():
        raise unauthenticated(ENDED, error="invalid_token")
    return secret_hash(secret)
