"""The cookie of a session of the console: set, cleared, and what is known of it."""

from datetime import datetime

from server.identity.authentication import secret_hash
from server.identity.sessions import COOKIE, is_https
from server.web.handler import ApiHandler


def session_hash(handler: ApiHandler) -> bytes | None:
    """The hash of the session that a request came with, if it came with one."""
    if handler.session_expires_at is None:
        return None
    return secret_hash(handler.get_cookie(COOKIE) or "")


def set_session_cookie(handler: ApiHandler, secret: str, expires_at: datetime) -> None:
    """Have the browser keep a session: no script sees it, and no other site gets it."""
    handler.set_cookie(
        COOKIE,
        secret,
        expires=expires_at,
        path="/",
        httponly=True,
        samesite="Strict",
        secure=is_https(handler.request),
    )


def clear_session_cookie(handler: ApiHandler) -> None:
    """Have the browser forget a session that has ended."""
    secure = is_https(handler.request)
    handler.clear_cookie(COOKIE, path="/", httponly=True, samesite="Strict", secure=secure)
