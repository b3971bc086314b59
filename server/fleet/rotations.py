"""Machines change their tokens over their links, without a visit."""

from uuid import UUID

from schemas.resources.invitations import Invitation
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.questions.control import RotateToken
from server.dispatch.questions.question import Refusal
from server.dispatch.refusals import RefusedError
from server.fleet.fleet import Fleet
from server.fleet.invitations import Invitations


class Rotations:
    """Every method sees the machines of the organization it is given, and no others."""

    def __init__(self, fleet: Fleet, invitations: Invitations, dispatcher: Dispatcher) -> None:
        self._fleet = fleet
        self._invitations = invitations
        self._dispatcher = dispatcher

    async def begin(self, organization_id: UUID, machine_id: str, *, by: str) -> Invitation:
        """Have a machine make itself a new token; once the invitation is used, it has come back.

        Raises RefusedError for a machine that is not there or cannot be asked: it keeps its token.
        """
        await self._fleet.check(organization_id, machine_id)
        made = await self._invitations.rotation(organization_id, machine_id, by=by)
        question = RotateToken(
            organization_id=organization_id, machine_id=machine_id, code=made.code
        )
        reply = await self._dispatcher.ask(question)
        if isinstance(reply, Refusal):
            await self._invitations.revoke(organization_id, made.id)
            raise RefusedError(reply)
        return Invitation(**dict(made))
