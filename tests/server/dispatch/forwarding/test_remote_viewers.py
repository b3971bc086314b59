"""Viewers on another node, as the node sees them that has the machine's link."""

import asyncio
from collections.abc import Coroutine
from typing import Any
from uuid import uuid4

import pytest

from schemas.link.messages import ScreenStart, ScreenStop
from server.dispatch.forwarding import remote_viewers
from server.dispatch.forwarding.remote_viewers import RemoteViewers
from server.dispatch.questions.question import Reply
from server.dispatch.questions.screens import (
    NextPicture,
    NoPicture,
    PictureTaken,
    StopWatching,
)
from server.dispatch.refusals import RefusedError
from tests.links import hello
from tests.pictures import picture
from tests.screens import connected
from tests.service import PATIENCE_SECONDS, Service


def wish(service: Service, **changes: object) -> NextPicture:
    """A request for the next picture."""
    fields = {"viewer": uuid4(), "width": None, "height": None, "quality": 70, "rate": 30.0}
    return NextPicture.model_validate(
        {"organization_id": service.organization_id, "machine_id": "desk-1", **fields, **changes}
    )


def viewers_ask(service: Service, asking: Coroutine[Any, Any, Reply]) -> asyncio.Task[Reply]:
    return service.server.services.background.start(asking, "another node")


def leaving(wish: NextPicture) -> StopWatching:
    """What is said when its viewer has gone."""
    return StopWatching(
        organization_id=wish.organization_id, machine_id=wish.machine_id, viewer=wish.viewer
    )


async def test_each_picture_is_sent_once_and_an_unchanged_screen_is_said_to_be_so(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewers, request = RemoteViewers(), wish(service)
    async with connected(service) as desk:
        link = await desk.machine.until_live()
        asking = viewers_ask(service, viewers.next_picture(link, request))
        started = await desk.heard(ScreenStart)
        await desk.shows(picture(shade=9), number=started.stream)
        reply = await asking
        assert isinstance(reply, PictureTaken)
        assert reply.content == picture(shade=9)
        monkeypatch.setattr(remote_viewers, "UNCHANGED_SECONDS", 0.1)
        assert await viewers.next_picture(link, request) == NoPicture()
        larger = request.model_copy(update={"quality": 90})
        asking = viewers_ask(service, viewers.next_picture(link, larger))
        again = await desk.heard(ScreenStart)
        assert again.quality == 90
        await asking
        viewers.stop(leaving(request))
        await desk.heard(ScreenStop)
        assert not viewers._watching


class WithKnownTimers(RemoteViewers):
    """Remembers by which timers viewers would be taken to have left."""

    def __init__(self) -> None:
        super().__init__()
        self._timers: list[asyncio.TimerHandle] = []

    @property
    def running(self) -> int:
        """How many timers have not been called off."""
        return sum(not timer.cancelled() for timer in self._timers)

    def _leaving(self, *arguments: Any) -> asyncio.TimerHandle:
        self._timers.append(super()._leaving(*arguments))
        return self._timers[-1]


async def test_viewers_leave_by_the_timer_of_their_last_request_alone(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_viewers, "UNCHANGED_SECONDS", 0.01)
    viewers, request = WithKnownTimers(), wish(service)
    async with connected(service) as desk:
        link = await desk.machine.until_live()
        asking = viewers_ask(service, viewers.next_picture(link, request))
        started = await desk.heard(ScreenStart)
        await desk.shows(number=started.stream)
        await asking
        for _ in range(3):
            await viewers.next_picture(link, request)
            assert viewers.running == 1
        larger = request.model_copy(update={"quality": 90})
        asking = viewers_ask(service, viewers.next_picture(link, larger))
        await desk.heard(ScreenStart)
        await asking
        assert viewers.running == 1
        viewers.stop(leaving(request))
        assert viewers.running == 0


async def test_screen_that_cannot_be_seen_is_a_problem(service: Service) -> None:
    async with service.joined(hello(no_screen="it is off")) as (machine, _):
        link = await machine.until_live()
        with pytest.raises(RefusedError, match="it is off"):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await RemoteViewers().next_picture(link, wish(service))
