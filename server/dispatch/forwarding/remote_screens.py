"""Live screens of machines on other nodes: one stream for all viewers of this node."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from uuid import UUID, uuid4

from schemas.bus.messages import (
    MachineRequest,
    MessageRefusedError,
    NextPicture,
    NoPicture,
    PictureTaken,
    Reply,
    ScreenEnded,
    StopWatching,
)
from schemas.http.problems import ProblemError
from schemas.link.messages import ScreenStart
from server.bus.bus import BusError
from server.dispatch.forwarding.translation import picture_of
from server.machines.link.screen.screen import LivePictureArrived, LiveScreenEnded, ScreenQuestion
from server.machines.screens import MachineScreen
from server.store.errors import StoreUnavailable
from server.tasks import Tasks

PICTURE_SECONDS: Final = 20.0
"""For the reply of the other node, which says after half of that that nothing has changed."""

NOT_REACHED: Final = "the node that the machine is connected to cannot be reached"

Ask = Callable[[MachineRequest, float], Awaitable[tuple[Reply, bytes]]]
"""Asks the node with a machine's link.  Raises a BusError, or the problem that it answers."""


class RemoteScreens:
    """The screens of machines elsewhere that somebody on this node looks at."""

    def __init__(self, ask: Ask, background: Tasks) -> None:
        self._ask = ask
        self._background = background
        self._screens: dict[tuple[UUID, str], RemoteScreen] = {}

    @property
    def viewers(self) -> int:
        """How many look at them."""
        return sum(each.screen.viewers for each in self._screens.values())

    def of(self, organization_id: UUID, machine_id: str) -> MachineScreen:
        """The screen of a machine, for whoever is about to look at it."""
        self._screens = {key: each for key, each in self._screens.items() if each.screen.viewers}
        key = organization_id, machine_id
        if key not in self._screens:
            self._screens[key] = RemoteScreen(
                organization_id, machine_id, self._ask, self._background
            )
        return self._screens[key].screen


class RemoteScreen:
    """One machine's screen, seen through another node."""

    def __init__(self, organization_id: UUID, machine_id: str, ask: Ask, background: Tasks) -> None:
        self._organization_id = organization_id
        self._machine_id = machine_id
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
        request = NextPicture(
            organization_id=self._organization_id,
            machine_id=self._machine_id,
            viewer=self._viewer,
            width=wanted.width,
            height=wanted.height,
            quality=wanted.quality,
            rate=wanted.rate,
        )
        while True:
            try:
                asked = request.model_copy(update={"names": list(self.screen.viewer_names)})
                reply, content = await self._ask(asked, PICTURE_SECONDS)
            except (BusError, MessageRefusedError, StoreUnavailable):
                self.screen.arrived(LiveScreenEnded(NOT_REACHED))
                return
            except ProblemError as problem:
                self.screen.arrived(LiveScreenEnded(problem.detail))
                return
            match reply:
                case PictureTaken():
                    self.screen.arrived(LivePictureArrived(picture_of(reply, content)))
                case NoPicture():
                    continue
                case ScreenEnded():
                    self.screen.arrived(LiveScreenEnded(reply.reason))
                    return
                case _:
                    self.screen.arrived(LiveScreenEnded(NOT_REACHED))
                    return

    async def _stop(self) -> None:
        request = StopWatching(
            organization_id=self._organization_id,
            machine_id=self._machine_id,
            viewer=self._viewer,
        )
        # Else it finds out by itself: nobody asks for pictures any more.
        with suppress(BusError, ProblemError, MessageRefusedError, StoreUnavailable):
            await self._ask(request, PICTURE_SECONDS)
