"""What handlers share that ask something of a machine: who asks, and what a refusal becomes."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from schemas.http import problems
from schemas.http.problems import ProblemError
from server.api.machines.answers import problem_of
from server.dispatch.command import Sender
from server.dispatch.control import Caller
from server.dispatch.looks import LookedAt
from server.dispatch.questions.question import LinkQuestion, Question, Refusal
from server.dispatch.refusals import RefusedError
from server.web.handler import ApiHandler
from server.web.session_cookie import session_hash

R = TypeVar("R")


class AskingHandler(ApiHandler):
    """Asks machines through the door, and answers what is refused there."""

    answered = (*ApiHandler.answered, RefusedError)

    def answer_refusal(self, error: Exception) -> None:
        """Answer an error as every handler does; what is refused at the door is a problem."""
        if isinstance(error, RefusedError):
            error = problem_of(error.refusal)
        super().answer_refusal(error)

    async def ask(self, question: Question[R]) -> R:
        """What becomes of a question.  Raises what a handler answers where nothing does."""
        reply = await self.services.machines.dispatcher.ask(question)
        if isinstance(reply, Refusal):
            raise problem_of(reply)
        return reply

    async def look(self, question: LinkQuestion[R], at: LookedAt) -> R:
        """As ``ask``, for what the audit has to know somebody has seen."""
        looks = self.services.machines.looks
        looks.check_room()
        seen = await self.ask(question)
        looks.looked(self.sender(None), question.machine_id, at)
        return seen

    @contextmanager
    def place_among(self, taken: Counter[UUID], most: int, what: str) -> Iterator[None]:
        """One of the places that the token has for what takes its time; ``what`` names them."""
        token_id = self.principal.token_id
        if taken[token_id] >= most:
            raise ProblemError(
                problems.TOO_MANY_STREAMS,
                f"this token may have {most} {what} open",
                headers={"Retry-After": "1"},
            )
        taken[token_id] += 1
        try:
            yield
        finally:
            taken[token_id] -= 1
            if not taken[token_id]:
                del taken[token_id]

    @property
    def caller(self) -> Caller:
        """Who takes or has control: a lease is good for the token or session alone that took it."""
        principal = self.principal
        return Caller(principal.token_id, principal.token_name, session_hash(self))

    def looking_at(self, machine_id: str) -> dict[str, Any]:
        """What every question has whose answer the caller is to see something in."""
        return {
            "organization_id": self.organization_id,
            "machine_id": machine_id,
            "looker": self.caller.looker,
        }

    def sender(
        self, lease: str | None, *, in_segment: bool = False, recording: UUID | None = None
    ) -> Sender:
        """Who sends an input, which came with a control lease or with none.

        ``recording`` is the one that it names as its own.
        """
        return Sender(
            organization_id=self.organization_id,
            token_id=self.principal.token_id,
            token_name=self.principal.token_name,
            request_id=self.request_id,
            lease_hash=None if lease is None else self.caller.lease_hash(lease),
            in_segment=in_segment,
            recording=recording,
            user_id=self.principal.user_id,
        )
