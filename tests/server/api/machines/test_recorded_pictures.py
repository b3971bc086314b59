"""Pictures of a recording, and what a hand did in it, with a machine that the test plays."""

import asyncio
import io
from typing import Any
from uuid import UUID

import pytest
from PIL import Image, ImageDraw

from schemas.link.messages import (
    Input,
    Interrupt,
    Interrupted,
    Screenshot,
    ScreenStart,
    ScreenStop,
)
from schemas.resources.stored_pictures import StoredPicture
from schemas.values.pictures import Size
from server.clock import server_time
from server.dispatch.recording import gestures, session
from server.dispatch.recording.writing import RecordingWriter
from server.store.recordings.recordings import StoredRecording
from server.store.trajectories.pictures import PictureStore
from tests.hand_client import HandClient, button, hand_path, move, stroke
from tests.pictures import REGION, encoded, picture
from tests.screens import Desk, connected
from tests.server.api.machines.test_recordings import RECORDINGS, steps_of, stopped
from tests.service import Service
from tests.waiting import waited


async def begun(desk: Desk, **body: Any) -> Any:
    """Begin a recording of a machine, whose screen is black then."""
    starting = desk.service.server.services.background.start(
        desk.service.post(RECORDINGS, body), "somebody who records"
    )
    asked = await desk.heard(ScreenStart)
    await shows(desk, asked, 0)
    reply = await starting
    assert reply.status == 201, reply.body
    return reply.json, asked


async def shows(desk: Desk, asked: ScreenStart, shade: int) -> None:
    """Show a grey of this shade, from now on."""
    content = picture("jpeg", shade=shade)
    await desk.shows(content, number=asked.stream, captured_at=server_time())


async def clicked(desk: Desk, x: int) -> None:
    """Have the machine click somewhere."""
    clicking = desk.machine.service.server.services.background.start(
        desk.service.post(desk.machine.input_path("mouse/click"), {"x": x, "y": 1}), "a client"
    )
    command = await desk.heard(Input)
    await desk.link.acknowledge(command.command_id)
    assert (await clicking).status == 200


async def test_steps_have_the_screen_before_and_after_and_each_picture_is_kept_once(
    service: Service,
) -> None:
    async with connected(service) as desk:
        recording, asked = await begun(desk)
        await clicked(desk, 1)
        await shows(desk, asked, 200)
        await until_steps(service, recording, 1)
        await clicked(desk, 2)
        await until_steps(service, recording, 2)
        await clicked(desk, 3)
        await shows(desk, asked, 100)
        # At once: what the last one came to is waited for.
        ended = await stopped(service, recording)
        await desk.heard(ScreenStop)
    first, second, third = await steps_of(service, recording)
    assert first["picture"] != first["picture_after"] == second["picture"]
    assert second["picture"] == second["picture_after"] == third["picture"]
    assert ended["pictures"] == 3
    for picture_id, shade in (
        (first["picture"], 0),
        (second["picture"], 200),
        (third["picture_after"], 100),
    ):
        kept = await service.get(f"/v1/pictures/{picture_id}")
        assert kept.body == picture("jpeg", shade=shade)
    around = {"x": 0, "y": 0, "width": 320, "height": 160}
    assert first["target"] == {
        "display": 0,
        "crop": {"picture": first["picture"], "area": around},
    }


async def test_no_step_waits_for_the_pictures_of_another_to_be_kept(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_keeping, may_go_on, add = asyncio.Event(), asyncio.Event(), PictureStore.add

    async def slowly(*arguments: Any) -> tuple[StoredPicture, bool]:
        is_keeping.set()
        await may_go_on.wait()
        return await add(*arguments)

    monkeypatch.setattr(PictureStore, "add", slowly)
    recordings = service.server.services.machines.recordings._store
    async with connected(service) as desk:
        recording, _ = await begun(desk)

        async def both_are_written() -> bool | None:
            stored = await recordings.get(service.organization_id, UUID(recording["id"]))
            return (stored is not None and len(stored.open_steps) == 2) or None

        await clicked(desk, 1)
        await is_keeping.wait()
        await clicked(desk, 2)
        await waited(both_are_written)
        may_go_on.set()
        ended = await stopped(service, recording)
    steps = await steps_of(service, recording)
    assert [step["body"]["x"] for step in steps] == [1, 2]
    assert all(step["picture"] and step["picture_after"] for step in steps)
    assert ended["gaps"] == 0


async def test_step_alone_is_written_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PICTURES_SECONDS", 60)
    appended, append = [], RecordingWriter.append

    async def noted(*arguments: Any, **counts: Any) -> StoredRecording:
        appended.append(arguments[3:])
        return await append(*arguments, **counts)

    monkeypatch.setattr(RecordingWriter, "append", noted)
    async with connected(service) as desk:
        recording, _ = await begun(desk)
        await clicked(desk, 1)
        await until_steps(service, recording, 1)
        await stopped(service, recording)
    assert [tuple(map(len, each)) for each in appended] == [(1, 0)]


async def test_step_whose_text_is_secret_has_no_picture(service: Service) -> None:
    async with connected(service) as desk:
        recording, asked = await begun(desk)
        body = {"text": "hunter2"}
        typing = service.server.services.background.start(
            service.post(desk.machine.input_path("keyboard/type"), body), "a client"
        )
        command = await desk.heard(Input)
        await desk.link.acknowledge(command.command_id)
        await typing
        await shows(desk, asked, 100)
        await stopped(service, recording)
    (step,) = await steps_of(service, recording)
    assert (step["secret"], step["picture"], step["picture_after"]) == ("secret_1", None, None)


async def test_what_a_hand_does_is_put_together_and_its_texts_are_secrets(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However late the word comes that it went up again, it was not held.
    monkeypatch.setattr(gestures, "HELD", 3_600_000)
    async with connected(service) as desk:
        recording, _ = await begun(desk)
        obeying = service.server.services.background.start(obeys(desk), "a machine of the test")
        lease = (await service.post("/v1/machines/desk-1/control")).json["id"]
        async with HandClient.on(service.url, hand_path("desk-1", lease), service.token) as hand:
            await hand.does(move(5, 5), button(True, x=5, y=5))
            await hand.until_acknowledged()
            await asyncio.sleep(0.25)
            await hand.does(button(False, x=5, y=5))
            await hand.until_acknowledged()
            await hand.does(*stroke("h"), *stroke("u"), *stroke("enter"))
            await hand.until_acknowledged()
            ended = await stopped(service, recording)
        obeying.cancel()
    steps = await steps_of(service, recording)
    assert [(step["operation"], step["body"], step.get("secret")) for step in steps] == [
        ("mouse.click", {"x": 5, "y": 5}, None),
        ("keyboard.type", {}, "secret_1"),
        ("keyboard.key", {"text": "enter"}, None),
    ]
    assert {step["by"]["through"] for step in steps} == {"hand"}
    # From when the button went down: a click that is sent again does not last.
    assert steps[1]["after_ms"] >= 240
    assert ended["gaps"] == 0


async def obeys(desk: Desk) -> None:
    """Carry out whatever comes."""
    while True:
        message = await desk.link.next_message()
        if isinstance(message, Interrupt):
            await desk.link.say(Interrupted(request=message.request))
        elif isinstance(message, Input):
            await desk.link.acknowledge(message.command_id)


async def until_steps(service: Service, recording: Any, number: int) -> None:
    """Wait until so many steps are written."""
    path = f"/v1/recordings/{recording['id']}"

    async def has_them() -> bool | None:
        return (await service.get(path)).json["steps"] >= number or None

    await waited(has_them)


async def test_pointer_is_taken_off_where_the_input_before_has_left_it(service: Service) -> None:
    def screen(pointer: tuple[int, int] | None) -> bytes:
        image = Image.new("RGB", REGION[2:], "#f0f0f0")
        if pointer is not None:
            x, y = pointer
            ImageDraw.Draw(image).polygon([(x, y), (x + 12, y + 12), (x, y + 18)], "black")
        return encoded(image, "jpeg")

    async with connected(service) as desk:
        recording, asked = await begun(desk)
        await clicked(desk, 1)
        size, now = Size(*REGION[2:]), server_time()
        await desk.shows(screen((3, 4)), number=asked.stream, size=size, captured_at=now)
        bare = await desk.heard(Screenshot)
        assert not bare.pointer
        await desk.answers(bare, screen(None), size=size, captured_at=server_time())
        await until_steps(service, recording, 1)
        await clicked(desk, 2)
        await until_steps(service, recording, 2)
        await stopped(service, recording)
    first, second = await steps_of(service, recording)
    for picture_id, darkest in ((first["picture_after"], 0), (second["picture"], 230)):
        kept = await service.get(f"/v1/pictures/{picture_id}")
        with Image.open(io.BytesIO(kept.body)) as image:
            found = min(image.convert("L").crop((0, 0, 40, 40)).tobytes())
        assert abs(found - darkest) < 20, found
