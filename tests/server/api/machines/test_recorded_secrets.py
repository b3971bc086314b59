"""What is known of texts that are recorded, with a machine that the test plays, fields and all."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from schemas.inputs.outcomes import Failed
from schemas.link.element_messages import ElementsQuery, ElementsSeen, SeenElement
from schemas.link.messages import Input, Interrupt, Interrupted, Resolve, ScreenStart
from schemas.values.pictures import Region, Size
from server.clock import server_time
from server.dispatch.recording import gestures, surroundings
from tests.events import listening
from tests.hand_client import HandClient, hand_path, stroke
from tests.links import COMPLETED
from tests.pictures import decoded, frames_of, header, picture
from tests.server.api.machines.test_recorded_pictures import until_steps
from tests.server.api.machines.test_recordings import (
    begun,
    holding,
    sending,
    steps_of,
    stopped,
)
from tests.server.dispatch.recording.test_fields import WINDOW, field, password
from tests.service import ScriptedLink, ScriptedMachine, Service, new_key
from tests.told_elements import element, telling
from tests.waiting import until

SIZE = Size(640, 480)
SHOWN = Region(0, 0, *SIZE)
FIELD, PASSWORD = (20, 30), (20, 70)
"""Places within the two fields."""
HALF = Failed(code="interrupted", message="cut short", injected_at_least=2)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is late, or held for long, by what a busy machine makes of it."""
    monkeypatch.setattr(surroundings, "ANSWER_SECONDS", 60.0)
    for name in ("HELD", "TEXT_PAUSE"):
        monkeypatch.setattr(gestures, name, 3_600_000)


class Form:
    """A machine with two fields, of which one has the focus and holds what is typed into it."""

    def __init__(self, machine: ScriptedMachine, link: ScriptedLink) -> None:
        self.machine = machine
        self.service = machine.service
        self.link = link
        self.in_password = False
        self.value = ""
        # How many inputs came, and whether it says nothing of what became of them, or that it was
        # half of it.
        self.took, self.is_silent, self.fails = 0, False, False
        # What a label says, and after each click.
        self.said, self.answers = "", ["", ""]

    @property
    def elements(self) -> list[SeenElement]:
        order = field(self.value, focused=not self.in_password)
        answer = [element("label", self.said)] if self.said else []
        return [WINDOW, order, password(focused=self.in_password), *answer]

    async def obeys(self) -> None:
        """Carry out whatever comes, and tell of the fields."""
        while True:
            message = await self.link.next_message()
            match message:
                case Interrupt():
                    await self.link.say(Interrupted(request=message.request))
                case ScreenStart():
                    await self._shows(message.stream)
                case ElementsQuery():
                    await self.link.say(
                        ElementsSeen(request=message.request, elements=self.elements)
                    )
                case Resolve(command_id=asked):
                    await self.link.report(asked, COMPLETED)
                case Input():
                    self._takes(message.body)
                    self.took += 1
                    if not self.is_silent:
                        half = HALF if self.fails else None
                        await self.link.acknowledge(message.command_id, half)

    def _takes(self, body: dict[str, Any]) -> None:
        text = body.get("text", "")
        if "x" in body:
            self.said = self.answers.pop(0)
        if body.get("down") is False:
            return
        if text == "tab":
            self.in_password = not self.in_password
        elif not self.in_password:
            self.value += text

    async def _shows(self, stream: int) -> None:
        content = picture("jpeg", *SIZE, shade=200)
        head = header(content, number=stream, size=SIZE, region=SHOWN, captured_at=server_time())
        for frame in frames_of(head, content):
            await self.link.websocket.send(frame)

    async def looked(self) -> None:
        """Wait until the server knows its elements as they are now, and looks no more."""
        here = self.service.server.services.machines.recordings_here
        link = self.service.link_of("desk-1")
        assert link is not None
        surroundings = here._surroundings[link]
        await until(lambda: bool(surroundings._seen) and not surroundings._typed)

    async def does(self, operation: str, body: Any) -> None:
        reply = await self.service.post(self.machine.input_path(operation), body)
        assert reply.status == 200, reply.body

    async def scrolls(self) -> None:
        """Turn the wheel, again and again."""
        while True:
            await self.does("mouse/scroll", {"direction": "down", "amount": 1})

    async def types(self, text: str) -> None:
        await self.does("keyboard/type", {"text": text})


@asynccontextmanager
async def shown(service: Service) -> AsyncIterator[Form]:
    machine = await service.new_machine()
    async with machine.connected(telling()) as link, obeying(Form(machine, link)) as form:
        yield form


@asynccontextmanager
async def again(form: Form) -> AsyncIterator[None]:
    """The same on another link, with all that came on the one before."""
    form.is_silent = False
    greeting = telling(sequence=9)
    async with form.machine.connected(greeting, wait_until_live=False) as form.link, obeying(form):
        # It is asked first what became of what was under way.
        await form.machine.until_live()
        yield


@asynccontextmanager
async def obeying(form: Form) -> AsyncIterator[Form]:
    task = form.service.server.services.background.start(form.obeys(), "a form of the test")
    try:
        yield form
    finally:
        task.cancel()


async def secret(form: Form, recording: Any, *, on: bool) -> None:
    reply = await form.service.post(f"/v1/recordings/{recording['id']}/secret", {"on": on})
    assert (reply.status, reply.json["secret"]) == (200, on)


async def blacks(service: Service, step: Any, place: tuple[int, int]) -> list[bool | None]:
    """Whether a place is black on a step's pictures; None where there is none."""
    found: list[bool | None] = []
    for name in ("picture", "picture_after"):
        if step[name] is None:
            found.append(None)
            continue
        kept = await service.get(f"/v1/pictures/{step[name]}")
        found.append(decoded(kept.body).convert("L").getpixel(place) == 0)
    return found


async def test_text_is_kept_in_a_plain_field_and_not_in_a_passwords(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    canary = f"canary{uuid4().hex}"
    async with shown(service) as form, listening(service) as told:
        recording = await begun(service)
        await form.looked()
        await form.types("4711")
        await form.looked()
        await form.does("keyboard/key", {"text": "tab"})
        await form.looked()
        await form.types(canary)
        assert await holding(service, canary) == []
        assert (await stopped(service, recording))["secrets"] == 1
        seen = await told.until(lambda event: event.data.get("state") == "stopped")
        assert canary not in str(seen.data)
    typed, tab, hidden = await steps_of(service, recording)
    assert typed["body"] == {"text": "4711"}
    assert (hidden["body"], hidden["secret"]) == ({}, "secret_1")
    assert await blacks(service, typed, PASSWORD) == [False, False]
    assert await blacks(service, tab, PASSWORD) == [False, False]
    assert await blacks(service, hidden, PASSWORD) == [True, True]
    assert await blacks(service, hidden, FIELD) == [False, False]
    assert await holding(service, canary) == []
    assert canary not in caplog.text


async def test_name_that_shows_what_was_typed_is_not_proposed(service: Service) -> None:
    canary = f"canary{uuid4().hex}"
    async with shown(service) as form:
        recording = await begun(service)
        await form.looked()
        await form.types("4711")
        await form.looked()
        await form.does("keyboard/key", {"text": "tab"})
        await form.looked()
        await form.types(canary)
        await form.looked()
        form.answers = ["Order 4711", f"Nobody has {canary[:9]}…", "Signed in"]
        while form.answers:
            await form.does("mouse/click", {"x": 300, "y": 300})
            await form.looked()
        await stopped(service, recording)
    steps = await steps_of(service, recording)
    proposed = [step.get("proposed") for step in steps]
    order, signed_in = (
        {"element": {"role": "label", "name": name}} for name in ("Order 4711", "Signed in")
    )
    assert proposed == [None, None, None, [order], [{**order, "gone": True}], [signed_in]]
    assert canary[:9] not in str(steps)


async def test_text_that_nobody_saw_in_its_field_is_not_kept(service: Service) -> None:
    async with shown(service) as form:
        recording = await begun(service)
        await form.looked()
        # One right after the other: which of both is in it, nobody tells.
        await asyncio.gather(form.types("4711"), form.types("4712"))
        await form.looked()
        await stopped(service, recording)
    for step in await steps_of(service, recording):
        assert "text" not in step["body"]


async def test_step_whose_text_is_followed_by_inputs_without_end_waits_for_no_look(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "MOST_SECONDS", 0.2)
    async with shown(service) as form:
        recording = await begun(service)
        await form.looked()
        # However slowly they follow one another on a machine that is busy.
        monkeypatch.setattr(surroundings, "QUIET_SECONDS", 1.0)
        await form.types("4711")
        scrolling = service.server.services.background.start(form.scrolls(), "a program")
        await until_steps(service, recording, 2)
        # Else it is only that the link has ended.
        assert not scrolling.done()
        scrolling.cancel()
        await stopped(service, recording)
    typed, *_ = await steps_of(service, recording)
    assert typed["secret"] == "secret_1"


async def test_what_is_typed_while_secret_is_on_is_secret_and_its_field_stays_black(
    service: Service,
) -> None:
    async with shown(service) as form:
        recording = await begun(service, keep_texts=True)
        await form.looked()
        await secret(form, recording, on=True)
        (mark,) = (await service.get("/v1/machines/desk-1")).json["recordings"]
        assert mark["secret"] is True
        await form.types("hunter2")
        await form.looked()
        await secret(form, recording, on=False)
        await form.does("mouse/click", {"x": 300, "y": 300})
        await form.looked()
        await form.does("keyboard/key", {"text": "tab"})
        await form.looked()
        await form.types("4711")
        await form.looked()
        ended = await stopped(service, recording)
        late = await service.post(f"/v1/recordings/{recording['id']}/secret", {"on": True})
        assert late.refusal == (409, "wrong-state")
    steps = await steps_of(service, recording)
    assert [step.get("secret") for step in steps] == ["secret_1", None, None, None]
    assert steps[-1]["body"] == {"text": "4711"}
    assert ended["secrets"] == 1
    for step in steps:
        assert await blacks(service, step, FIELD) == [True, True]
    assert await blacks(service, steps[-1], PASSWORD) == [False, False]
    assert await holding(service, "hunter2") == []


async def test_field_in_which_something_is_pasted_while_secret_is_on_stays_black(
    service: Service,
) -> None:
    async with shown(service) as form:
        recording = await begun(service)
        for on in (False, True, False):
            await secret(form, recording, on=on)
            await form.looked()
            await form.does("keyboard/key", {"text": "ctrl+v"})
        await form.looked()
        form.answers = ["Nobody is called S3cret"]
        await form.does("mouse/click", {"x": 300, "y": 300})
        await form.looked()
        ended = await stopped(service, recording)
    *pasting, clicked = await steps_of(service, recording)
    blackened = [await blacks(service, step, FIELD) for step in pasting]
    assert blackened == [[False, False], [True, True], [True, True]]
    assert [step["body"] for step in pasting] == [{"text": "ctrl+v"}] * 3
    # Nobody knows what was pasted, so that a name may have it.
    assert "S3cret" not in str(clicked)
    # Nothing has to be filled in: what is pasted is copied before.
    assert ended["secrets"] == 0


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("mouse/click", {"x": 300, "y": 300}),
        ("mouse/click", {}),
        ("mouse/drag", {"start_x": 1, "start_y": 1, "to_x": 9, "to_y": 9, "duration": 0}),
    ],
)
async def test_nothing_is_shown_after_the_middle_button_pasted_until_secret_is_off(
    service: Service, operation: str, body: Any
) -> None:
    async with shown(service) as form:
        recording = await begun(service)
        form.answers = [""] * 4
        for on, button in ((False, "middle"), (True, "middle"), (True, "left"), (False, "left")):
            await secret(form, recording, on=on)
            await form.looked()
            await form.does(operation, {**body, "button": button})
        await form.looked()
        await stopped(service, recording)
    steps = await steps_of(service, recording)
    assert [step["picture"] is not None for step in steps] == [True, False, False, True]


async def test_nothing_is_shown_after_a_link_came_back_while_secret_is_on(
    service: Service,
) -> None:
    async with shown(service) as form:
        recording = await begun(service)
        await form.looked()
        await secret(form, recording, on=True)
        await form.types("hunter2")
        await form.looked()
    await form.machine.until_gone()
    async with again(form):
        await form.looked()
        await form.does("mouse/click", {"x": 300, "y": 300})
        await form.looked()
        await secret(form, recording, on=False)
        await form.does("mouse/click", {"x": 301, "y": 300})
        await form.looked()
        await stopped(service, recording)
    _, hidden, open_ = await steps_of(service, recording)
    assert (hidden["picture"], hidden["picture_after"]) == (None, None)
    assert None not in await blacks(service, open_, FIELD)


async def test_step_that_is_made_up_shows_nothing_of_the_screen_as_it_is_later(
    service: Service,
) -> None:
    inputs = (
        ("mouse/click", {"x": 20, "y": 30}, {"Idempotency-Key": new_key()}),
        ("keyboard/type", {"text": "hunter2"}, {"Idempotency-Key": new_key()}),
    )
    async with shown(service) as form:
        recording = await begun(service, keep_texts=True)
        await form.looked()
        form.is_silent = True
        under_way = [
            sending(service, form.machine.input_path(operation), body, headers=key)
            for operation, body, key in inputs
        ]
        await until(lambda: form.took == len(inputs))
    assert [(await each).status for each in under_way] == [504, 504]
    await form.machine.until_gone()
    async with again(form):
        await form.looked()
        for operation, body, key in inputs:
            reply = await service.post(form.machine.input_path(operation), body, headers=key)
            assert (reply.status, "Idempotency-Replayed" in reply.headers) == (200, True)
        await stopped(service, recording)
    # The machine told what became of both in one moment, in either order.
    steps = {each["operation"]: each for each in await steps_of(service, recording)}
    clicked, typed = steps["mouse.click"], steps["keyboard.type"]
    assert (typed["body"], typed["secret"]) == ({}, "secret_1")
    for step in (clicked, typed):
        assert (step["picture"], step["picture_after"]) == (None, None)
    assert not clicked["target"].keys() & {"element", "box", "crop", "around"}


@pytest.mark.parametrize("by_hand", [False, True])
async def test_nothing_is_shown_of_a_secret_that_was_typed_in_part(
    service: Service, by_hand: bool
) -> None:
    async with shown(service) as form:
        recording = await begun(service)
        await form.looked()
        await secret(form, recording, on=True)
        form.fails, lease = True, ""
        if by_hand:
            lease = (await service.post("/v1/machines/desk-1/control")).json["id"]
            path = hand_path("desk-1", lease)
            async with HandClient.on(service.url, path, service.token) as hand:
                await hand.does(*stroke("h"))
                while (await hand.hears())["type"] != "refused":
                    pass
        else:
            await service.post(form.machine.input_path("keyboard/type"), {"text": "hunter2"})
        form.fails = False
        await form.looked()
        headers = {"Farhand-Control": lease} if by_hand else {}
        path = form.machine.input_path("mouse/click")
        assert (await service.post(path, {"x": 300, "y": 300}, headers=headers)).status == 200
        await form.looked()
        await stopped(service, recording)
    *_, clicked = await steps_of(service, recording)
    assert clicked["operation"] == "mouse.click"
    assert False not in await blacks(service, clicked, FIELD)


async def test_texts_by_hand_are_kept_or_secret_as_any_others(service: Service) -> None:
    async with shown(service) as form:
        recording = await begun(service)
        await form.looked()
        lease = (await service.post("/v1/machines/desk-1/control")).json["id"]
        async with HandClient.on(service.url, hand_path("desk-1", lease), service.token) as hand:
            await hand.does(*stroke("4"), *stroke("7"), *stroke("1"))
            await hand.until_acknowledged()
            await form.looked()
            await hand.does(*stroke("tab"))
            await hand.until_acknowledged()
            await form.looked()
            await hand.does(*stroke("h"), *stroke("u"))
            await hand.until_acknowledged()
            await form.looked()
            await secret(form, recording, on=True)
            await hand.does(*stroke("x"))
            await hand.until_acknowledged()
            await stopped(service, recording)
    steps = await steps_of(service, recording)
    assert [(step["body"].get("text"), step.get("secret")) for step in steps] == [
        ("471", None),
        ("tab", None),
        (None, "secret_1"),
        (None, "secret_2"),
    ]


async def test_bad_words_about_secrets_are_told(service: Service) -> None:
    unknown = await service.post(f"/v1/recordings/{uuid4()}/secret", {"on": True})
    assert unknown.refusal == (404, "not-found")
    async with shown(service):
        recording = await begun(service)
        path = f"/v1/recordings/{recording['id']}/secret"
        wrong = await service.post(path, {"on": "yes"})
        assert wrong.faults[0][0] == ["body", "on"]
        await stopped(service, recording)
