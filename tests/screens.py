"""A machine with a screen that a test plays, and those who look at it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from schemas.link.element_messages import ElementsQuery
from schemas.link.messages import ScreenCredit, Screenshot, ScreenStart, ServerMessage
from schemas.link.picture_frames import PictureKind
from server.dispatch.here import waits
from server.dispatch.questions.screens import AwaitScreen, ScreenSeen, StillWaiting
from server.machines.socket import LinkSocket
from tests.links import hello
from tests.pictures import Part, PictureStream, frames_of, header, picture
from tests.service import (
    PATIENCE_SECONDS,
    ScriptedLink,
    ScriptedMachine,
    Service,
    is_asked_by_recording,
)


def counted_questions(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """The waits that are asked for from now on, once for each time; the answers come quickly."""
    questions: list[UUID] = []
    seen = waits.WaitsHere.seen

    async def counted(
        here: waits.WaitsHere, link: LinkSocket, asked: AwaitScreen
    ) -> ScreenSeen | StillWaiting:
        questions.append(asked.wait_id)
        return await seen(here, link, asked)

    monkeypatch.setattr(waits, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(waits.WaitsHere, "seen", counted)
    return questions


class Desk:
    """A machine with a screen, and its link."""

    def __init__(self, service: Service, machine: ScriptedMachine, link: ScriptedLink) -> None:
        self.service = service
        self.machine = machine
        self.link = link
        self.sent = Counter[str]()

    def at(self, node: Service) -> "Desk":
        """The same machine, asked for at another node; its link stays where it is."""
        other = Desk(node, replace(self.machine, service=node), self.link)
        other.sent = self.sent
        return other

    def asking(self, path: str, **options: Any) -> Any:
        """A request in the background."""
        background = self.service.server.services.background
        return background.start(self.service.get(path, **options), "a client of the test")

    def opening(self, query: str = "", **options: Any) -> "asyncio.Task[PictureStream]":
        """A viewer who asks for the live screen, in the background."""
        background = self.service.server.services.background
        return background.start(self.viewer(query, **options), "a viewer of the test")

    async def viewer(self, query: str = "", *, token: str = "", **options: Any) -> PictureStream:
        secret = token or self.service.token
        path = f"/v1/computer/{self.machine.machine_id}/display/stream{query}"
        return await PictureStream.open(self.service.url, path, secret, **options)

    async def heard(self, kind: type[Any]) -> Any:
        """The next message, which is of this type.

        Credits are taken by themselves; what a recording asks about elements, and for pictures
        without the pointer, has no answer.
        """
        while True:
            message: ServerMessage = await self.link.next_message()
            if isinstance(message, ScreenCredit):
                assert message.received <= self.sent.total()
            elif isinstance(message, kind):
                return message
            else:
                is_of_recording = isinstance(message, ElementsQuery)
                assert is_of_recording or is_asked_by_recording(message), message

    async def shows(self, content: bytes | None = None, **head: Any) -> None:
        """Send a picture; live, unless told otherwise."""
        content = picture() if content is None else content
        self.sent["bytes"] += len(content)
        for frame in frames_of(header(content, **head), content):
            await self.link.websocket.send(frame)

    async def answers(self, asked: Screenshot, content: bytes, **head: Any) -> None:
        """Send the screenshot that was asked for."""
        numbered = {"kind": PictureKind.SCREENSHOT, "number": asked.request, "form": asked.format}
        await self.shows(content, **numbered, **head)

    async def watched(self, query: str = "") -> tuple[PictureStream, ScreenStart]:
        """A viewer of the live screen who is shown its first picture, which is black."""
        opening = self.opening(query)
        asked = await self.heard(ScreenStart)
        await self.shows(number=asked.stream)
        return await opening, asked


@asynccontextmanager
async def connected(service: Service, machine_id: str = "desk-1") -> AsyncIterator[Desk]:
    machine = await service.new_machine(machine_id)
    async with machine.connected(hello(no_screen=None)) as link:
        yield Desk(service, machine, link)


async def read(viewer: PictureStream) -> Part:
    """The viewer's next picture."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        part = await viewer.part()
    assert part is not None
    return part
