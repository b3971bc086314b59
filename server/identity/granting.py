"""What a token may give away: never more than it allows itself, and never for longer.

So no chain of tokens, each made by the one before, leads to more than its first one allowed.  A
machine's own token is different: whoever may add machines also lets them in, for as long as they
are there.
"""

from datetime import UTC, datetime

from schemas.http.problems import FORBIDDEN, InvalidRequestError, ProblemError
from schemas.resources.tokens import NewToken, Scope
from schemas.values.times import format_time
from server.identity.authentication import Principal


def check_scopes(maker: Principal, new: NewToken) -> None:
    """Raise a ``403`` problem where the new token would allow what its maker's does not."""
    gift = "it" if new.role is None else f"the role {new.role}"
    for scope in new.allowed:
        if scope is Scope.MACHINE_CONNECT:
            maker.require(Scope.MACHINES_WRITE)
        elif scope not in maker.scopes:
            raise ProblemError(
                FORBIDDEN,
                f"your token lacks the scope {scope.value}, so it cannot give {gift} away",
                members={"scope": scope.value},
            )


def granted_end(maker: Principal, new: NewToken) -> datetime | None:
    """When the new token ends: as asked for, else with its maker's; None is never.

    Raises a validation error for an end in the past, and for one after the maker's.
    """
    if new.expires_at is not None and new.expires_at <= datetime.now(UTC):
        raise InvalidRequestError.single(
            ("body", "expires_at"), "must lie in the future", "future_time"
        )
    if maker.expires_at is None or set(new.allowed) == {Scope.MACHINE_CONNECT}:
        return new.expires_at
    if new.expires_at is not None and new.expires_at > maker.expires_at:
        end = format_time(maker.expires_at)
        raise InvalidRequestError.single(
            ("body", "expires_at"),
            f"must not be after {end}, when the token that makes it ends",
            "later_than_maker",
            format_time(new.expires_at),
            {"latest": end},
        )
    return new.expires_at or maker.expires_at
