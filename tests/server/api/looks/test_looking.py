"""Looking at a screen and reading a clipboard are in the audit, each stretch once."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.link.clipboard_messages import ClipboardFailed, ClipboardQuery, ClipboardRead
from schemas.link.messages import Hello, RequestFailed, Screenshot
from schemas.resources.tokens import Scope
from server.api.looks import screen as display
from server.dispatch import looks, stretches
from tests.clock import Clock
from tests.links import hello
from tests.pictures import picture
from tests.screens import Desk, read
from tests.server.api.machines.test_clipboard import CAN, PATH, reading_it
from tests.service import PATIENCE_SECONDS, ScriptedLink, Service, until

LOOKS = ("screen.seen", "clipboard.read", "elements.read")
SCREENSHOT = "/v1/computer/desk-1/display/screenshot"


def seen() -> Hello:
    """A greeting of a machine whose screen and clipboard may be looked at."""
    return hello(no_screen=None).model_copy(update={"clipboard_read": CAN})


def clock_of_stretches(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that stretches go by from now on: it stands still unless it is moved."""
    clock = Clock()
    time = SimpleNamespace(monotonic=clock)
    monkeypatch.setattr(looks, "time", time)
    monkeypatch.setattr(stretches, "time", time)
    return clock


async def entries(service: Service, action: str = "") -> list[Any]:
    """The entries about looks, newest first."""
    found = (await service.get(f"/v1/audit?action={action}")).json["items"]
    return [entry for entry in found if entry["action"] in LOOKS]


async def until_noted(service: Service, wanted: Callable[[list[str]], bool]) -> list[Any]:
    """Wait until the notes about looks are as wanted; the entries."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = await entries(service)
            if wanted([entry["note"] for entry in found]):
                return found
            await asyncio.sleep(0.02)


async def screenshot(desk: Desk, *, status: int = 200, **options: Any) -> None:
    asking = desk.asking(SCREENSHOT, **options)
    await desk.answers(await desk.heard(Screenshot), picture("png"))
    assert (await asking).status == status


async def text_read(service: Service, link: ScriptedLink, text: str) -> None:
    reads = reading_it(service)
    asked = await link.heard(ClipboardQuery)
    await link.say(ClipboardRead(request=asked.request, text=text))
    assert (await reads).status == 200


async def test_screenshots_are_one_entry_that_is_there_at_once_and_says_who(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service.joined(seen()) as (machine, link):
        desk = Desk(service, machine, link)
        await screenshot(desk, headers={"X-Request-Id": "first"})
        (first,) = await until_noted(service, lambda notes: len(notes) == 1)
        assert first["note"].startswith("1 picture so far, in ")
        assert (first["action"], first["machine_id"]) == ("screen.seen", "desk-1")
        assert (first["target"], first["request_id"]) == ("desk-1", "first")
        assert first["token_name"] == "administrator"
        await screenshot(desk)
        # Whoever has the picture already has seen all the same that it is so still.
        await screenshot(desk, status=304, headers={"If-None-Match": "*"})
        token = await service.new_token(Scope.SCREEN_READ)
        await screenshot(desk, token=token)
        monkeypatch.setattr(looks, "REST_SECONDS", 0.0)
        found = await until_noted(
            service, lambda notes: len(notes) == 2 and "so far" not in "".join(notes)
        )
        assert [(entry["token_name"], entry["note"].partition(",")[0]) for entry in found] == [
            ("of a test", "1 picture"),
            ("administrator", "3 pictures"),
        ]
        assert found[1]["id"] == first["id"]


async def test_live_screen_is_a_stretch_as_long_as_it_is_watched(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "CHECK_SECONDS", 0.02)
    clock = clock_of_stretches(monkeypatch)

    def is_still_watched() -> bool:
        opened = service.server.services.machines.looks._open.items()
        (last,) = [each.stretch.last for key, each in opened if service.organization_id in key]
        return last == clock.now

    async with service.joined(seen()) as (machine, link):
        desk = Desk(service, machine, link)
        viewer, asked = await desk.watched("?rate=30")
        async with viewer:
            await read(viewer)
            # A still picture is watched as well, for longer than a rest may be.
            for _ in range(3):
                clock.now += 0.9 * looks.REST_SECONDS
                await until(is_still_watched)
            await desk.shows(picture(shade=9), number=asked.stream)
            await read(viewer)
            (entry,) = await until_noted(service, lambda notes: len(notes) == 1)
            assert "so far" in entry["note"]
        # The server may look once more before it knows that the viewer is gone.
        async with asyncio.timeout(PATIENCE_SECONDS):
            while "so far" in entry["note"]:
                clock.now += looks.REST_SECONDS
                await asyncio.sleep(0.02)
                (entry,) = await entries(service)
        assert entry["action"] == "screen.seen"
        assert entry["note"].startswith("2 pictures, in ")


async def test_readings_of_a_clipboard_are_one_entry_without_the_text(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service.joined(seen()) as (_, link):
        for _ in range(3):
            await text_read(service, link, "hunter2")
        monkeypatch.setattr(looks, "REST_SECONDS", 0.0)
        (entry,) = await until_noted(
            service, lambda notes: len(notes) == 1 and "so far" not in notes[0]
        )
    assert (entry["action"], entry["machine_id"]) == ("clipboard.read", "desk-1")
    assert entry["note"].startswith("3 readings, in ")
    stored = service.server.services.operation.database.collection("audit").find({})
    assert "hunter2" not in str(await stored.to_list(None))


async def test_what_is_refused_is_no_look(service: Service) -> None:
    addresses = (SCREENSHOT, PATH, "/v1/computer/desk-1/display/stream")
    for address in addresses:
        assert (await service.get(address)).status == 404
    machine = await service.new_machine()
    for address in addresses:
        assert (await service.get(address)).status == 503
    async with machine.connected(seen()) as link:
        token = await service.new_token(Scope.MACHINES_READ)
        for address in addresses:
            assert (await service.get(address, token=token)).status == 403
        elsewhere = await service.elsewhere()
        for address in addresses:
            assert (await elsewhere.get(address)).status == 404
        desk = Desk(service, machine, link)
        asking = desk.asking(SCREENSHOT)
        asked = await link.heard(Screenshot)
        await link.say(RequestFailed(request=asked.request, reason="no display"))
        assert (await asking).status == 503
        reads = reading_it(service)
        query = await link.heard(ClipboardQuery)
        await link.say(
            ClipboardFailed(request=query.request, code="clipboard_no_text", reason="an image")
        )
        assert (await reads).status == 502
        # What is granted afterwards is the first entry of all.
        await text_read(service, link, "a")
        (entry,) = await until_noted(service, bool)
        assert entry["action"] == "clipboard.read"
    assert await entries(elsewhere) == []


@pytest.mark.parametrize("address", [SCREENSHOT, PATH, "/v1/computer/desk-1/display/stream"])
async def test_nobody_looks_where_the_audit_could_not_have_it(
    service: Service, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.dispatch.stretches.CAPACITY", 0)
    async with service.joined(seen()) as (_, link):
        assert (await service.get(address)).refusal == (503, "storage-unavailable")
        await link.nothing_heard()
