"""Who is calling: bearer tokens, looked up by their SHA-256 and cached for a moment."""

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeVar
from uuid import UUID

from schemas.http.problems import FORBIDDEN, UNAUTHENTICATED, ProblemError
from schemas.resources.tokens import TOKEN_PREFIX, Role, Scope
from server.identity.secret_lookup import FailedAttempts, SecretLookup
from server.store.identity.tokens import StoredToken, TokenStore
from server.tasks import Tasks

MAX_CACHED = 10_000
MAX_TOKEN_CHARACTERS = 200
LAST_USE_SECONDS = 60.0
MAX_SCOPE_SETS = 100

_SCOPES = frozenset(Scope)
_ROLES = frozenset(Role)

Key = TypeVar("Key")
Value = TypeVar("Value")


def new_secret() -> str:
    """A token that nobody can guess: 256 random bits."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def secret_hash(secret: str) -> bytes:
    """What is stored and looked up in place of the secret."""
    return hashlib.sha256(secret.encode()).digest()


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller that a valid token stands for."""

    token_id: UUID
    token_name: str
    organization_id: UUID
    user_id: UUID | None
    scopes: frozenset[Scope]
    machine_id: str | None
    expires_at: datetime | None
    role: Role | None
    pools: frozenset[UUID] | None = None
    """Those that it is bound to: no other machine exists for it; None is all machines."""
    makers: frozenset[UUID] = frozenset()
    """The tokens that made its token, directly or through others, and their users."""

    def require(self, scope: Scope) -> None:
        """Raise a ``403`` problem where the token lacks the scope."""
        if scope not in self.scopes:
            raise ProblemError(
                FORBIDDEN,
                f"this needs a token with the scope {scope.value}",
                members={"scope": scope.value},
                headers={
                    "WWW-Authenticate": (
                        f'Bearer error="insufficient_scope", scope="{scope.value}"'
                    )
                },
            )


@dataclass(slots=True)
class _CachedPrincipal:
    principal: Principal
    until: float


class Authenticator:
    """Turns an Authorization header into a :class:`Principal`.

    A token is read from the database again after ``cache_seconds``, so a revoked one works at most
    that long on every node.  ``failed_attempts`` bounds what unknown tokens cost.
    """

    def __init__(
        self,
        tokens: TokenStore,
        background: Tasks,
        cache_seconds: float,
        failed_attempts: FailedAttempts,
    ) -> None:
        self._tokens = tokens
        self._lookup = SecretLookup(tokens.find_by_hashes, failed_attempts, background)
        self._background = background
        self._cache_seconds = cache_seconds
        self._cache: OrderedDict[bytes, _CachedPrincipal] = OrderedDict()
        self._last_use_noted: OrderedDict[UUID, float] = OrderedDict()

    async def principal(self, authorization: str | None, address: str) -> Principal:
        """The caller, or a ``401`` problem that says what is wrong with the header.

        ``address`` is where the request comes from.
        """
        return await self.principal_of(secret_hash(bearer(authorization)), address)

    async def principal_of(self, digest: bytes, address: str) -> Principal:
        """The caller with the token of this hash, or a ``401`` problem that says what is wrong."""
        cached = self._cache.get(digest)
        if cached is None or time.monotonic() >= cached.until:
            cached = await self._read(digest, address)
        return cached.principal

    async def _read(self, digest: bytes, address: str) -> _CachedPrincipal:
        token = await self._lookup.find(digest, address, was_valid=digest in self._cache)
        now = datetime.now(UTC)
        # The index has compared already, in a time that tells only of hashes; this tells nothing.
        if token is None or token.revoked_at or not hmac.compare_digest(token.hash, digest):
            raise self._refused(digest, address, "the token is not known or was revoked")
        if not token.is_usable(now):
            raise self._refused(digest, address, "the token has expired")
        cache_seconds = self._cache_seconds
        if token.expires_at is not None:
            cache_seconds = min(cache_seconds, (token.expires_at - now).total_seconds())
        cached = _CachedPrincipal(_principal(token), time.monotonic() + cache_seconds)
        store_in_cache(self._cache, digest, cached)
        self._note_use(token.id)
        return cached

    def _refused(self, digest: bytes, address: str, detail: str) -> ProblemError:
        self._cache.pop(digest, None)
        self._lookup.record_failure(address)
        return unauthenticated(detail, error="invalid_token")

    def _note_use(self, token_id: UUID) -> None:
        """Write the last use, at most once a minute for each token and never in the way."""
        now = time.monotonic()
        if now - self._last_use_noted.get(token_id, float("-inf")) < LAST_USE_SECONDS:
            return
        store_in_cache(self._last_use_noted, token_id, now)
        self._background.start_and_report(
            self._tokens.touch(token_id, datetime.now(UTC)), "note the last use of a token"
        )


def store_in_cache(cache: "OrderedDict[Key, Value]", key: Key, value: Value) -> None:
    """Add something, and drop the oldest beyond a bound."""
    cache[key] = value
    cache.move_to_end(key)
    if len(cache) > MAX_CACHED:
        cache.popitem(last=False)


def known_scopes(token: StoredToken) -> list[Scope]:
    """The token's scopes; one that only a newer Farhand knows allows nothing here."""
    return [Scope(scope) for scope in token.scopes if scope in _SCOPES]


def known_role(token: StoredToken) -> Role | None:
    """The token's role; one that only a newer Farhand knows is none here."""
    return Role(token.role) if token.role in _ROLES else None


@lru_cache(MAX_SCOPE_SETS)
def _shared_scopes(scopes: tuple[str, ...]) -> frozenset[Scope]:
    """The known ones; one set for all tokens with the same, such as those of all machines."""
    return frozenset(Scope(scope) for scope in scopes if scope in _SCOPES)


def _principal(token: StoredToken) -> Principal:
    return Principal(
        token_id=token.id,
        token_name=token.name,
        organization_id=token.organization_id,
        user_id=token.user_id,
        scopes=_shared_scopes(token.scopes),
        machine_id=token.machine_id,
        expires_at=token.expires_at,
        role=known_role(token),
        pools=None if token.pool_ids is None else frozenset(token.pool_ids),
        makers=frozenset(token.makers),
    )


def bearer(authorization: str | None) -> str:
    """The secret of an Authorization header.  Raises a ``401`` problem where it has none."""
    if not authorization:
        raise unauthenticated("the header Authorization: Bearer TOKEN is missing")
    scheme, _, secret = authorization.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise unauthenticated("the Authorization header must be of the form Bearer TOKEN")
    if len(secret) > MAX_TOKEN_CHARACTERS or not secret.isascii():
        raise unauthenticated("the token is not known or was revoked", error="invalid_token")
    return secret


def unauthenticated(detail: str, error: str | None = None) -> ProblemError:
    """A ``401`` problem with its challenge (RFC 6750)."""
    challenge = f'Bearer error="{error}"' if error else "Bearer"
    return ProblemError(UNAUTHENTICATED, detail, headers={"WWW-Authenticate": challenge})
