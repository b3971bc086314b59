"""A hostile or broken machine client, on real websockets: refused, logged, nobody else affected.

Each thing that it does is one short function, which returns words of the reason it is closed with.
What all of them have in common is in :func:`test_client_that_lies_is_closed_and_nobody_else`.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from schemas.inputs.outcomes import Completed, NotCarriedOut, Point
from schemas.link.close_codes import CloseCode
from schemas.link.messages import (
    MAX_MESSAGE_BYTES,
    Ack,
    DesktopSeen,
    Display,
    HeartbeatAck,
    Input,
    Ready,
    Report,
    Resolve,
    ScreenFailed,
    Welcome,
)
from server.machines.admission import CLOSINGS_SAID
from server.machines.link.journal import MAX_ENTRIES_PER_COMMAND
from server.store.commands import CommandState
from tests.commands import recorded
from tests.links import COMPLETED, MARK, about, hello
from tests.pictures import frames_of, header
from tests.service import ScriptedLink, ScriptedMachine, Service, new_key, until


@dataclass
class Scene:
    """A hostile client that was sent one command, beside an honest one that was sent another."""

    hostile: ScriptedMachine
    link: ScriptedLink
    own: Input
    others: Input

    async def ask(self, command_id: UUID) -> None:
        """Have the server ask the hostile client about a command."""
        (await self.hostile.until_live()).resolve(about(command_id))
        await self.link.heard(Resolve)

    async def number(self) -> int:
        """The number of the hostile client's journal, as the server knows it."""
        return (await self.hostile.until_live()).journal_sequence


Misdeed = Callable[[Scene], Awaitable[str]]
MISDEEDS: list[Misdeed] = []


def misdeed(function: Misdeed) -> Misdeed:
    """Something that a client must not do once its link is up."""
    MISDEEDS.append(function)
    return function


@misdeed
async def acknowledges_what_nobody_sent(scene: Scene) -> str:
    await scene.link.acknowledge(uuid4())
    return "not waiting for an acknowledgement"


@misdeed
async def acknowledges_a_command_of_another_machine(scene: Scene) -> str:
    await scene.link.acknowledge(scene.others.command_id)
    return str(scene.others.command_id)


@misdeed
async def acknowledges_twice(scene: Scene) -> str:
    await scene.link.acknowledge(scene.own.command_id)
    await scene.link.acknowledge(scene.own.command_id)
    return "not waiting for an acknowledgement"


@misdeed
async def reports_what_it_was_not_asked(scene: Scene) -> str:
    await scene.link.report(scene.own.command_id, COMPLETED)
    return "which it was not asked about"


@misdeed
async def reports_on_a_command_of_another_machine(scene: Scene) -> str:
    await scene.ask(scene.own.command_id)
    await scene.link.report(scene.others.command_id, NotCarriedOut())
    return str(scene.others.command_id)


@misdeed
async def reports_twice(scene: Scene) -> str:
    await scene.ask(scene.own.command_id)
    await scene.link.report(scene.own.command_id, COMPLETED)
    await scene.link.report(scene.own.command_id, COMPLETED)
    return "which it was not asked about"


@misdeed
async def reports_otherwise_than_it_acknowledged(scene: Scene) -> str:
    await scene.link.acknowledge(scene.own.command_id, COMPLETED)
    await scene.ask(scene.own.command_id)
    await scene.link.report(scene.own.command_id, NotCarriedOut())
    return "contradicts its earlier outcome"


@misdeed
async def acknowledges_otherwise_than_it_reported(scene: Scene) -> str:
    await scene.ask(scene.own.command_id)
    await scene.link.report(scene.own.command_id, NotCarriedOut())
    await scene.link.acknowledge(scene.own.command_id, COMPLETED)
    return "contradicts its earlier outcome"


@misdeed
async def says_that_what_has_ended_still_runs(scene: Scene) -> str:
    await scene.link.acknowledge(scene.own.command_id)
    await scene.ask(scene.own.command_id)
    await scene.link.report(scene.own.command_id, None)
    return "contradicts its earlier outcome"


@misdeed
async def lets_its_journal_jump_in_an_acknowledgement(scene: Scene) -> str:
    scene.link.sequence += 5 * MAX_ENTRIES_PER_COMMAND
    await scene.link.acknowledge(scene.own.command_id)
    return "the journal jumped from 1 to"


@misdeed
async def lets_its_journal_jump_in_a_report(scene: Scene) -> str:
    await scene.ask(scene.own.command_id)
    scene.link.sequence = 2**63 - 2
    await scene.link.report(scene.own.command_id, COMPLETED)
    return "the journal jumped from 1 to"


@misdeed
async def lets_its_journal_jump_in_a_heartbeat(scene: Scene) -> str:
    await scene.link.say(HeartbeatAck(sequence=1, journal_sequence=2**62, mark=MARK))
    return "the journal jumped from 1 to"


@misdeed
async def lets_its_journal_go_back_in_an_acknowledgement(scene: Scene) -> str:
    scene.link.sequence = -1
    await scene.link.acknowledge(scene.own.command_id)
    return "the journal went back from 1 to 0"


@misdeed
async def lets_its_journal_go_back_in_a_report(scene: Scene) -> str:
    await scene.ask(scene.own.command_id)
    scene.link.sequence = -1
    await scene.link.report(scene.own.command_id, COMPLETED)
    return "the journal went back from 1 to 0"


@misdeed
async def lets_its_journal_go_back_in_a_heartbeat(scene: Scene) -> str:
    await scene.link.say(HeartbeatAck(sequence=1, journal_sequence=0, mark=MARK))
    return "the journal went back from 1 to 0"


@misdeed
async def says_hello_again(scene: Scene) -> str:
    await scene.link.say(hello(sequence=await scene.number()))
    return "say hello once"


@misdeed
async def says_ready_again(scene: Scene) -> str:
    await scene.link.say(Ready())
    return "ready once"


@misdeed
async def speaks_as_a_server(scene: Scene) -> str:
    await scene.link.say(scene.own)
    return "not a message"


@misdeed
async def says_a_number_that_no_journal_has(scene: Scene) -> str:
    text = Ack(command_id=scene.own.command_id, outcome=COMPLETED, journal_sequence=7)
    await scene.link.websocket.send(text.model_dump_json().replace(":7", f":{10**30}"))
    return "not a message: ack.journal_sequence"


@misdeed
async def leaves_out_the_outcome(scene: Scene) -> str:
    text = Report(command_id=scene.own.command_id, outcome=None, journal_sequence=7)
    await scene.link.websocket.send(text.model_dump_json().replace('"outcome":null,', ""))
    return "not a message: report.outcome"


@misdeed
async def took_for_ever(scene: Scene) -> str:
    text = Ack(command_id=scene.own.command_id, outcome=COMPLETED, journal_sequence=2)
    infinite = text.model_dump_json().replace('"duration_ms":1.5', '"duration_ms":1e999')
    await scene.link.websocket.send(infinite)
    return "not a message: ack.outcome.completed.duration_ms"


@misdeed
async def makes_up_a_type_of_message(scene: Scene) -> str:
    await scene.link.websocket.send('{"type":"a\\n2024-05-06T07:08:09.123 INFO forged"}')
    return "forged"


@misdeed
async def answers_a_heartbeat_that_was_not_sent(scene: Scene) -> str:
    await scene.link.say(HeartbeatAck(sequence=7, journal_sequence=await scene.number(), mark=MARK))
    return "a heartbeat that was not sent"


@misdeed
async def answers_a_heartbeat_twice(scene: Scene) -> str:
    await scene.link.say(HeartbeatAck(sequence=1, journal_sequence=await scene.number(), mark=MARK))
    return "or was answered before"


@misdeed
async def sends_what_is_no_json(scene: Scene) -> str:
    await scene.link.websocket.send("[" * 100_000)
    return "not a message"


@misdeed
async def sends_a_picture_without_a_header(scene: Scene) -> str:
    await scene.link.websocket.send(b"\x89PNG")
    return "a binary frame has"


@misdeed
async def sends_a_picture_that_nobody_asked_for(scene: Scene) -> str:
    await scene.link.websocket.send(frames_of(header())[0])
    return "a live screen 1 that nobody asked for"


@misdeed
async def sees_a_desktop_that_nobody_asked_for(scene: Scene) -> str:
    displays = [Display(x=0, y=0, width=1, height=1)]
    await scene.link.say(DesktopSeen(request=1, displays=displays, pointer=Point(x=0, y=0)))
    return "a request 1 that nobody has made"


@misdeed
async def fails_to_show_what_nobody_asked_for(scene: Scene) -> str:
    await scene.link.say(ScreenFailed(stream=1, reason="because"))
    return "a live screen 1 failed that nobody asked for"


@asynccontextmanager
async def honest_work(service: Service) -> AsyncIterator[Input]:
    """An honest machine's command, which is under way meanwhile and ends well all the same."""
    honest, key = await service.new_machine("desk-2"), new_key()
    async with honest.connected() as link:
        sending = honest.moving(key)
        command = await link.heard(Input)
        before = await honest.until_live()
        yield command
        await link.nothing_heard()
        await link.acknowledge(command.command_id)
        reply = await sending
        assert (reply.status, reply.json["command_id"]) == (200, str(command.command_id))
        assert (await honest.move(key)).body == reply.body
        await link.obeys(honest.moving())
        assert await honest.until_live() is before


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the server warned of."""
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.mark.parametrize("does", MISDEEDS, ids=lambda each: each.__name__)
async def test_client_that_lies_is_closed_and_nobody_else(
    service: Service, caplog: pytest.LogCaptureFixture, does: Misdeed
) -> None:
    hostile = await service.new_machine("desk-1")
    async with honest_work(service) as others:
        async with hostile.connected() as link:
            sending = hostile.moving(new_key())
            own = await link.heard(Input)
            words = await does(Scene(hostile, link, own, others))
            code, reason = await link.closed()
            assert (code, words in reason) == (CloseCode.MESSAGE_INVALID, True), reason
        # Its own command ends with its first word on it, or nobody knows yet.
        reply = await sending
        first_word_counts = reply.status == 200 or reply.problem == "not-carried-out"
        assert first_word_counts or reply.problem == "outcome-pending"
        record = await recorded(service, own.command_id)
        assert record.state.is_final == first_word_counts
        assert (await recorded(service, others.command_id)).state is CommandState.SENT
        await until(lambda: service.link_of("desk-1") is None)
    (warning,) = warnings_in(caplog)
    assert "machine=desk-1" in warning
    assert f"closing {CloseCode.MESSAGE_INVALID:d}: " in warning
    assert words in warning


async def test_client_that_was_closed_for_lying_may_come_back_and_be_asked(
    machine: ScriptedMachine, key: str
) -> None:
    async with machine.connected() as link:
        sending = machine.moving(key)
        own = await link.heard(Input)
        await link.acknowledge(uuid4())
        assert (await link.closed())[0] == CloseCode.MESSAGE_INVALID
        assert (await sending).problem == "outcome-pending"
    async with machine.connected(hello(sequence=2), wait_until_live=False) as link:
        assert (await link.heard(Resolve)).command_id == own.command_id
        await link.report(own.command_id, Completed(duration_ms=1, pointer=Point(x=3, y=4)))
        await machine.until_live()
        assert (await machine.move(key)).status == 200


@pytest.mark.parametrize("size", [MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES + 1], ids=["most", "above"])
async def test_message_above_the_limit_is_not_even_read(service: Service, size: int) -> None:
    machine = await service.new_machine()
    async with honest_work(service), machine.connected() as link:
        await link.websocket.send("x" * size)
        code, reason = await link.closed()
        was_read = (code, "not a message" in reason) == (CloseCode.MESSAGE_INVALID, True)
        assert was_read == (size == MAX_MESSAGE_BYTES)


LONG_TYPE = '{"type": "' + "A" * 200_000 + '\\u001b[2J"}'


async def test_what_a_client_made_up_is_cut_where_it_enters(
    service: Service, machine: ScriptedMachine, caplog: pytest.LogCaptureFixture
) -> None:
    async with machine.connected() as link:
        await link.websocket.send(LONG_TYPE)
        assert (await link.closed())[0] == CloseCode.MESSAGE_INVALID
    await machine.until_gone()
    said = (await service.get("/v1/machines/desk-1")).json["reason"]
    assert said.startswith("not a message: ")
    assert "AAAA" in said
    assert len(said) < 300
    assert all(len(each) < 500 for each in warnings_in(caplog))


async def test_client_that_lies_again_and_again_fills_no_log(
    machine: ScriptedMachine, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        for _ in range(3 * CLOSINGS_SAID):
            async with machine.open_websocket() as websocket:
                await websocket.send(LONG_TYPE)
                assert (await ScriptedLink(websocket).closed())[0] == CloseCode.MESSAGE_INVALID
        await machine.until_closed()
    about = [each.getMessage() for each in caplog.records if "machine=desk-1" in each.getMessage()]
    assert len(about) == CLOSINGS_SAID


async def test_what_a_client_says_of_itself_steers_no_terminal(service: Service) -> None:
    machine = await service.new_machine()
    greeting = hello(no_screen="none\x1b[2J", no_input="gone\nERROR all is lost")
    async with machine.connected(greeting):
        shown = (await service.get("/v1/machines/desk-1")).json
    assert shown["reason"] == r"gone\nERROR all is lost"
    assert shown["screen"]["reason"] == r"none\x1b[2J"


Greeting = Callable[[ScriptedLink], Awaitable[None]]
GREETINGS: list[Greeting] = []


def greeting(function: Greeting) -> Greeting:
    """Something that a client must not do before its link is up."""
    GREETINGS.append(function)
    return function


@greeting
async def is_ready_before_hello(link: ScriptedLink) -> None:
    await link.say(Ready())


@greeting
async def is_ready_before_it_was_welcomed(link: ScriptedLink) -> None:
    await link.say(hello())
    await link.say(Ready())


@greeting
async def is_ready_twice(link: ScriptedLink) -> None:
    await greet(link)
    await link.say(Ready())


@greeting
async def marks_its_journal_before_it_is_ready(link: ScriptedLink) -> None:
    await link.say(hello())
    await link.heard(Welcome)
    await link.say(HeartbeatAck(sequence=1, journal_sequence=1, mark=MARK))


@greeting
async def marks_nothing(link: ScriptedLink) -> None:
    await greet(link)
    link.sequence -= 1
    await link.mark()


@greeting
async def marks_with_a_jump(link: ScriptedLink) -> None:
    await greet(link)
    link.sequence = 2**62
    await link.mark()


@greeting
async def acknowledges_before_hello(link: ScriptedLink) -> None:
    await link.acknowledge(uuid4())


@greeting
async def acknowledges_before_its_journal_is_marked(link: ScriptedLink) -> None:
    await greet(link)
    await link.acknowledge(uuid4())


@greeting
async def reports_before_its_journal_is_marked(link: ScriptedLink) -> None:
    await greet(link)
    await link.report(uuid4(), NotCarriedOut())


async def greet(link: ScriptedLink) -> None:
    """As an honest client does, up to the first heartbeat."""
    await link.say(hello())
    await link.heard(Welcome)
    await link.say(Ready())


@pytest.mark.parametrize("does", GREETINGS, ids=lambda each: each.__name__)
async def test_client_that_greets_wrongly_never_gets_a_link(
    service: Service, machine: ScriptedMachine, caplog: pytest.LogCaptureFixture, does: Greeting
) -> None:
    async with honest_work(service), machine.open_websocket() as websocket:
        link = ScriptedLink(websocket)
        await does(link)
        code, _ = await link.closed()
        assert code == CloseCode.MESSAGE_INVALID
        assert service.link_of("desk-1") is None
        assert (await machine.move()).problem == "machine-unavailable"
    (warning,) = warnings_in(caplog)
    assert "machine=desk-1" in warning
