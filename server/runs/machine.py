"""The machine of one run, as the finding of its steps asks it."""

from typing import TypeVar
from uuid import UUID

from server.dispatch.dispatcher import Dispatcher
from server.dispatch.questions.question import Question, Refusal
from server.store.trajectories.pictures import PictureStore

R = TypeVar("R")


class RunMachine:
    """Asks through the door; see `server.runs.asking.Machine`."""

    def __init__(
        self,
        organization_id: UUID,
        machine_id: str,
        dispatcher: Dispatcher,
        pictures: PictureStore,
    ) -> None:
        self._organization_id = organization_id
        self._machine_id = machine_id
        self._dispatcher = dispatcher
        self._pictures = pictures

    @property
    def organization_id(self) -> UUID:
        """The organization of the machine."""
        return self._organization_id

    @property
    def machine_id(self) -> str:
        """The machine's id."""
        return self._machine_id

    async def ask(self, question: Question[R]) -> R | Refusal:
        """What the machine answers, or why it does not.  Raises StoreUnavailable."""
        return await self._dispatcher.ask(question)

    async def recorded(self, picture_id: str) -> bytes | None:
        """A picture that the steps refer to.  Raises StoreUnavailable."""
        found = await self._pictures.get(self._organization_id, picture_id)
        return None if found is None else found[1]
