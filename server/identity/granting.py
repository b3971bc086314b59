"""What a token may give away: never more than it allows itself, nor for longer, nor elsewhere.

So no chain of tokens, each made by the one before, leads to more than its first one allowed.  A
machine's own token is different: whoever may add machines also lets them in, for as long as they
are there.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from schemas.http.problems import FORBIDDEN, InvalidRequestError, ProblemError
from schemas.resources.tokens import NewToken, Scope
from schemas.values.times import format_time
from server.identity.authentication import Principal

MOST_MAKERS: Final = 100


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


def makers_by(maker: Principal) -> list[UUID]:
    """Who has made a token that is made now: its maker, and all who made that one's.

    Raises a ``403`` problem where they are too many to be known.
    """
    makers = maker.makers | {maker.token_id}
    if maker.user_id is not None:
        makers |= {maker.user_id}
    if len(makers) > MOST_MAKERS:
        raise ProblemError(
            FORBIDDEN,
            f"each of more than {MOST_MAKERS} tokens and users would have made the next one's: "
            "make it with a token that is nearer to the first",
        )
    return sorted(makers)


def check_pools(principal: Principal, pool_ids: Sequence[UUID]) -> None:
    """Raise a problem unless what is put into these pools stays within those of the token."""
    if principal.pools is None:
        return
    if not pool_ids:
        raise ProblemError(FORBIDDEN, "your token is bound to pools: name pool_ids among them")
    for place, pool_id in enumerate(pool_ids):
        if pool_id not in principal.pools:
            raise no_pool(place, pool_id)


def granted_pools(maker: Principal, new: NewToken) -> list[UUID] | None:
    """The pools that the new token is bound to: some of its maker's, by default all of them.

    A machine's own token is bound to its machine alone.  Raises a validation error for others.
    """
    if new.machine_id is not None:
        return None
    if new.pool_ids is None:
        return None if maker.pools is None else sorted(maker.pools)
    check_pools(maker, new.pool_ids)
    return [*dict.fromkeys(new.pool_ids)]


def no_pool(place: int, pool_id: UUID) -> InvalidRequestError:
    """The error of a body that names a pool which is not there, or not for whoever asks."""
    return InvalidRequestError.single(
        ("body", "pool_ids", str(place)), f"there is no pool {pool_id}", "no_pool", str(pool_id)
    )
