"""Who a request is of, where more than its token counts."""

from server.dispatch.control import Caller
from server.identity.authentication import secret_hash
from server.identity.sessions import COOKIE
from server.web.handler import ApiHandler


def caller_of(handler: ApiHandler) -> Caller:
    """Who takes or has control: a lease is good for the token or session alone that took it."""
    principal, session_hash = handler.principal, None
    if handler.session_expires_at is not None:
        session_hash = secret_hash(handler.get_cookie(COOKIE) or "")
    return Caller(principal.token_id, principal.token_name, session_hash)
