"""What handlers share that ask something of a machine: who asks, and what a refusal becomes."""

from typing import TypeVar

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

    @property
    def caller(self) -> Caller:
        """Who takes or has control: a lease is good for the token or session alone that took it."""
        principal = self.principal
        return Caller(principal.token_id, principal.token_name, session_hash(self))

    def sender(self, lease: str | None, *, in_segment: bool = False) -> Sender:
        """Who sends an input, which came with a control lease or with none."""
        return Sender(
            organization_id=self.organization_id,
            token_id=self.principal.token_id,
            token_name=self.principal.token_name,
            request_id=self.request_id,
            lease_hash=None if lease is None else self.caller.lease_hash(lease),
            in_segment=in_segment,
        )
