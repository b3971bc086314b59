"""Live screens of machines on other nodes: one stream for all viewers of this node who are one.

Who may see a machine is known on the node with its link alone: different lookers ask it on their
own.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final
from uuid import UUID, uuid4

from schemas.link.messages import ScreenStart
from server.dispatch.questions import screens
from server.dispatch.questions.question import LinkQuestion, Refusal, Reply
from server.machines.link.questions.screen import (
    LivePictureArrived,
    LiveScreenEnded,
    ScreenQuestion,
)
from server.machines.privacy import PrivateError
from server.machines.screens import MachineScreen
from server.tasks import Tasks

NOT_REACHED: Final = "the node that the machine is connected to cannot be reached"

Ask = Callable[[LinkQuestion[Any]], Awaitable[Reply | None]]
"""Asks the node with a machine's link; None where it cannot be asked."""


class RemoteScreens:
    """The screens of machines elsewhere that somebody on this node looks at."""

    def __init__(self, ask: Ask, background: Tasks) -> None:
        self._ask = ask
        self._background = background
        self._screens: dict[tuple[UUID, str, str], RemoteScreen] = {}

    @property
    def viewers(self) -> int:
        """How many look at them."""
        return sum(each.screen.viewers for each in self._screens.values())

    def of(self, organization_id: UUID, machine_id: str, looker: str) -> MachineScreen:
        """The screen of a machine, for a looker who is about to look at it."""
        self._screens = {key: each for key, each in self._screens.items() if each.screen.viewers}
        key = organization_id, machine_id, looker
        if key not in self._screens:
            self._screens[key] = RemoteScreen(*key, self._ask, self._background)
        return self._screens[key].screen


class RemoteScreen:
    """One machine's screen, seen by one looker through another node."""

    def __init__(
        self, organization_id: UUID, machine_id: str, looker: str, ask: Ask, background: Tasks
    ) -> None:
        self._organization_id = organization_id
        self._machine_id = machine_id
        self._looker = looker
        self._ask = ask
        self._background = background
        self._viewer = uuid4()
        self._pulling: asyncio.Task[None] | None = None
        self.screen = MachineScreen(self._asked, lambda: True)

    def _asked(self, question: ScreenQuestion) -> None:
        """The viewers of this node want something else than before."""
        if self._pulling is not None:
            self._pulling.cancel()
        if isinstance(question, ScreenStart):
            self._pulling = self._background.start_and_report(
                self._pull(question), "watch a screen of another node"
            )
        else:
            self._pulling = None
            self._background.start_and_report(self._stop(), "stop watching another node's screen")

    async def _pull(self, wanted: ScreenStart) -> None:
        request = screens.NextPicture(
            organization_id=self._organization_id,
            machine_id=self._machine_id,
            looker=self._looker,
            viewer=self._viewer,
            width=wanted.width,
            height=wanted.height,
            quality=wanted.quality,
            rate=wanted.rate,
        )
        while True:
            names = self.screen.viewer_names
            match await self._ask(request.model_copy(update={"names": names})):
                case screens.PictureTaken(picture=picture):
                    self.screen.arrived(LivePictureArrived(picture))
                    continue
                case screens.NoPicture():
                    continue
                case Refusal(reason="private", by=str(by), since=int(since)):
                    self.screen.hide(PrivateError(by, since))
                case screens.ScreenEnded(reason=why) | Refusal(detail=why):
                    self.screen.arrived(LiveScreenEnded(why))
                case _:
                    self.screen.arrived(LiveScreenEnded(NOT_REACHED))
            return

    async def _stop(self) -> None:
        # Where it is not told, it finds out by itself: nobody asks for pictures any more.
        await self._ask(
            screens.StopWatching(
                organization_id=self._organization_id,
                machine_id=self._machine_id,
                viewer=self._viewer,
            )
        )
