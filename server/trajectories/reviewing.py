"""Reviews: who may decide about a trajectory, and what becomes of a decision.

An approval is of one content, by its hash, and by somebody who made none of it.  Whatever changes
the content takes the approval back in the same transaction, so that no snapshot of the database has
an approved trajectory with another content than the approved one.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import UUID

from schemas.steps.reviews import Decision, Editor, NewReview, ReviewState
from server.errors import OwnWork, WrongState
from server.store.idempotency import KeyedRequest
from server.store.times import now
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.reviews import StoredReview
from server.store.transactions import Transaction, Transactions
from server.store.versions import Versions
from server.trajectories.answers import KeyedAnswer, head_answer, head_result

MOST_AUTHORS: Final = 200

_STATES: Final[Mapping[Decision, ReviewState]] = {
    "approve": "approved",
    "reject": "rejected",
    "withdraw": "withdrawn",
}


class Reviews:
    """Decisions about trajectories; ``authors_may_approve`` is the setting of that name."""

    def __init__(self, transactions: Transactions, *, authors_may_approve: bool) -> None:
        self._transactions = transactions
        self._authors_may_approve = authors_may_approve

    async def decide(
        self,
        organization_id: UUID,
        by: Editor,
        trajectory_id: UUID,
        new: NewReview,
        versions: Versions = None,
        request: KeyedRequest | None = None,
        makers: Collection[UUID] = (),
    ) -> KeyedAnswer:
        """Keep a decision; the trajectory then, without its steps.

        ``makers`` are the tokens and users that have made the token of whoever decides.
        Raises NotFound, VersionMismatch, KeyReused, WrongState where it has another content than
        the decision is about, or OwnWork where its author would approve it.
        """

        async def work(transaction: Transaction) -> dict[str, Any]:
            opened = await transaction.trajectories.open(organization_id, trajectory_id, versions)
            await self._check(transaction, opened.stored, new, by, makers)
            return head_result(await opened.change_head(decided(opened.stored, new, by)))

        return head_answer(*await self._transactions.run_once(request, work))

    async def _check(
        self,
        transaction: Transaction,
        stored: StoredTrajectory,
        new: NewReview,
        by: Editor,
        makers: Collection[UUID],
    ) -> None:
        if refusal := refused_decision(stored, new):
            raise WrongState(refusal)
        if new.decision != "approve" or self._authors_may_approve:
            return
        behind = await transaction.makers.users_behind(author_tokens(stored))
        if is_own_work(stored, by, makers, behind):
            raise OwnWork(
                "you made it, or changed it, or one of your tokens did: somebody else has to "
                "approve it, unless the server's setting authors_may_approve lets its authors"
            )


def refused_decision(stored: StoredTrajectory, new: NewReview) -> str | None:
    """Why nothing can be decided so about this content, as a sentence; None where it can."""
    if stored.content_hash is None and stored.is_generated:
        return "it was stored before contents had a hash: set is_generated to true again first"
    if stored.content_hash is None:
        return "it is pending generation: only what is generated can be reviewed"
    if stored.content_hash.hex() != new.content_hash:
        return (
            f"its content is another than the one that was looked at: its content_hash is "
            f"{stored.content_hash.hex()}; read it again first"
        )
    if new.decision == "withdraw" and stored.review.state != "approved":
        return "it is not approved, so that there is no approval to withdraw"
    return None


def decided(stored: StoredTrajectory, new: NewReview, by: Editor) -> dict[str, Any]:
    """The fields that a decision changes; ``is_approved`` tells it to whoever reads no more."""
    is_approved = new.decision == "approve"
    review = StoredReview(_STATES[new.decision], by, now(), new.comment, stored.content_hash)
    return {
        "review": review,
        "is_approved": is_approved,
        "has_been_approved": stored.has_been_approved or is_approved,
    }


def is_own_work(
    stored: StoredTrajectory, by: Editor, makers: Collection[UUID], behind: Collection[UUID]
) -> bool:
    """Whether somebody, or one user behind somebody, made or changed the content.

    ``makers`` have made the token of whoever decides; it is nobody else's where it has no user.
    ``behind`` are the users who have made the `author_tokens`.
    """
    own = {by.author}
    if by.user_id is None:
        own |= {f"user:{each}" for each in makers}
    users = behind if stored.user_id is None else [*behind, stored.user_id]
    return not own.isdisjoint((*stored.authors, *(f"user:{each}" for each in users)))


def author_tokens(stored: StoredTrajectory) -> list[UUID]:
    """The tokens without a user among the authors."""
    kinds = (each.partition(":") for each in stored.authors)
    return [UUID(own_id) for kind, _, own_id in kinds if kind == "token"]


def is_runnable(stored: StoredTrajectory) -> bool:
    """Whether exactly the content that it has was approved by whoever may do so."""
    review = stored.review
    return (
        review.state == "approved"
        and stored.content_hash is not None
        and review.content_hash == stored.content_hash
    )


def withdrawn(stored: StoredTrajectory, by: Editor) -> dict[str, Any]:
    """The fields that take an approval back, where there is one."""
    if stored.review.state != "approved":
        return {}
    return {"review": StoredReview("withdrawn", by, now(), None, stored.review.content_hash)}


def edited(stored: StoredTrajectory, by: Editor) -> dict[str, Any]:
    """The fields that change, beside the content, where somebody changes that.

    Raises WrongState where it has had too many authors already.
    """
    return {
        **withdrawn(stored, by),
        "is_approved": False,
        "authors": with_author(stored.authors, by),
    }


def with_author(authors: tuple[str, ...], by: Editor) -> tuple[str, ...]:
    """All authors, and this one.  Raises WrongState where they are too many."""
    if by.author in authors:
        return authors
    if len(authors) >= MOST_AUTHORS:
        raise WrongState(
            f"{MOST_AUTHORS} users and tokens have changed it already, and no more are kept: "
            "make a new one of it"
        )
    return (*authors, by.author)
