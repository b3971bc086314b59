"""The link's effects on a connection that only remembers them."""

import asyncio
import logging
from uuid import uuid4

import pytest

from schemas.inputs.outcomes import Outcome, Refused
from schemas.link.close_codes import CloseCode
from schemas.link.messages import (
    SERVER_MESSAGES,
    Ack,
    DesktopChanged,
    HeartbeatAck,
    Hello,
    Input,
    Ready,
    Report,
    Resolve,
)
from server.errors import StoreUnavailable
from server.machines.link.errors import (
    LinkBusyError,
    LinkDownError,
    LinkLostError,
    LinkUnsettledError,
)
from server.machines.link.frame_budget import BURST
from server.machines.link.greeting import LinkTerms
from server.machines.link.questions.screen import FrameArrived
from server.machines.link_timers import LinkTimers
from server.machines.socket import LinkSocket
from server.tasks import Tasks
from tests.links import COMPLETED, MARK, about, hello, input_message
from tests.service import until
from tests.store import ORGANIZATION

LATER = 1 << 42
"""Milliseconds since 1970, far away."""


class Wire:
    """Remembers what a link did to its websocket."""

    def __init__(self) -> None:
        self.sent: list[object] = []
        self.closed: list[tuple[int, str]] = []

    def send_text(self, text: str) -> None:
        self.sent.append(SERVER_MESSAGES.validate_json(text))

    def close(self, code: int, reason: str) -> None:
        self.closed.append((code, reason))


class Observer:
    """Admits every machine at once, and notes what else it is told."""

    def __init__(self, error: Exception | None = None) -> None:
        self.told: list[str] = []
        self._error = error

    async def admit(self, link: LinkSocket, hello: Hello) -> None:
        if self._error is not None:
            raise self._error
        link.welcome(1)

    def closing(self, link: LinkSocket) -> None:
        self.told.append("closing")

    def desktop_changed(self, link: LinkSocket, desktop: DesktopChanged) -> None:
        self.told.append("desktop changed")

    def rivals_changed(self, link: LinkSocket) -> None:
        """Each has a token of its own in these tests."""

    def viewers_changed(self, link: LinkSocket) -> None:
        """Nobody looks at it in these tests."""

    def availability_changed(self, link: LinkSocket) -> None:
        self.told.append("availability changed")

    def frame_arrived(self, link: LinkSocket, frame: FrameArrived) -> None:
        self.told.append(f"frame {frame.number}")


async def up(
    unanswered_limit: int = 64,
    observer: Observer | None = None,
    *,
    reconciled: bool = True,
) -> tuple[Wire, LinkSocket]:
    """A link that takes inputs, and its wire; what it has sent so far is forgotten."""
    wire = Wire()
    socket = LinkSocket(
        wire,
        organization_id=ORGANIZATION,
        machine_id="desk-1",
        token_id=uuid4(),
        observer=observer or Observer(),
        background=Tasks(),
        timers=LinkTimers(),
        terms=LinkTerms(unanswered_limit, heartbeat_seconds=20.0),
    )
    socket.received(hello().model_dump_json())
    await until(lambda: wire.sent)
    socket.received(Ready().model_dump_json())
    await socket.until_ready()
    marking = asyncio.gather(socket.until_up())
    await until(lambda: len(wire.sent) == 2)
    socket.received(HeartbeatAck(sequence=1, journal_sequence=1, mark=MARK).model_dump_json())
    await marking
    assert socket.is_up
    if reconciled:
        socket.reconciled()
    wire.sent.clear()
    return wire, socket


def acknowledgement(command: Input, outcome: Outcome = COMPLETED) -> str:
    message = Ack(command_id=command.command_id, outcome=outcome, journal_sequence=1)
    return message.model_dump_json()


async def test_sent_command_ends_with_its_outcome() -> None:
    wire, socket = await up()
    command = input_message()
    answered = socket.send(command, LATER)
    assert wire.sent == [command]
    assert socket.unanswered == 1
    socket.received(acknowledgement(command))
    assert await answered == COMPLETED
    assert socket.unanswered == 0


async def test_long_answers_are_no_flood() -> None:
    wire, socket = await up()
    displays = [{"x": 0, "y": 0, "width": 1920, "height": 1080}] * 64
    refused = Refused(
        code="coordinates_outside_display",
        message="outside",
        loc=("body", "x"),
        ctx={"displays": displays},
    )
    for _ in range(BURST):
        command = input_message()
        answered = socket.send(command, LATER)
        socket.received(acknowledgement(command, refused))
        socket.frames_came()
        assert await answered == refused
    assert not wire.closed


async def test_resolved_command_is_asked_for_once_for_all_who_wait() -> None:
    wire, socket = await up()
    question = about(uuid4())
    first, second = socket.resolve(question), socket.resolve(question)
    assert wire.sent == [question]
    report = Report(command_id=question.command_id, outcome=COMPLETED, journal_sequence=1)
    socket.received(report.model_dump_json())
    assert first is second
    await first.reported
    assert await first.outcome == COMPLETED


async def test_lost_link_fails_everything_that_waits() -> None:
    _, socket = await up()
    answered, resolved = socket.send(input_message(), LATER), socket.resolve(about(uuid4()))
    socket.lost()
    for future in (answered, resolved.outcome, resolved.reported):
        with pytest.raises(LinkLostError):
            await future


async def test_link_that_is_not_up_takes_nothing() -> None:
    wire, socket = await up()
    socket.close(CloseCode.SERVER_STOPPING, "the server is stopping")
    assert wire.closed == [(4000, "the server is stopping")]
    with pytest.raises(LinkDownError):
        socket.send(input_message(), LATER)
    with pytest.raises(LinkDownError):
        socket.resolve(about(uuid4()))
    with pytest.raises(LinkDownError), socket.slot():
        pass
    assert not wire.sent


async def test_link_that_is_not_live_asks_but_sends_nothing() -> None:
    wire, socket = await up(reconciled=False)
    with pytest.raises(LinkUnsettledError):
        socket.send(input_message(), LATER)
    assert not wire.sent
    socket.resolve(about(uuid4()))
    assert [type(message) for message in wire.sent] == [Resolve]


async def test_slots_are_limited_to_commands_that_wait_or_are_being_claimed() -> None:
    _, socket = await up(unanswered_limit=2)
    command = input_message()
    with socket.slot():
        answered = socket.send(command, LATER)
    with socket.slot(), pytest.raises(LinkBusyError), socket.slot():
        pass
    socket.received(acknowledgement(command))
    await answered
    with socket.slot(), socket.slot():
        pass


async def test_slot_is_free_again_whatever_happens_to_who_held_it() -> None:
    _, socket = await up(unanswered_limit=1)
    for _ in range(2):
        with pytest.raises(StoreUnavailable), socket.slot():
            raise StoreUnavailable("The database did not answer in time.")


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (b"\x00picture", "a binary frame has"),
        ("{", "not a message"),
        ("[]", "not a message"),
        ('{"type":"welcome"}', "not a message"),
        ('{"type":"ack","command_id":"x","journal_sequence":-1}', "command_id"),
    ],
)
async def test_frame_that_is_no_message_closes_the_link_in_words(
    frame: str | bytes, words: str
) -> None:
    wire, socket = await up()
    socket.received(frame)
    ((code, reason),) = wire.closed
    assert code == CloseCode.MESSAGE_INVALID
    assert words in reason


async def test_close_reason_is_cut_to_what_a_close_frame_carries() -> None:
    wire, socket = await up()
    socket.close(CloseCode.SERVER_ERROR, "ü" * 100)
    assert wire.closed == [(4003, "ü" * 61)]


async def test_machine_that_cannot_be_recorded_is_sent_away_to_come_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wire, background = Wire(), Tasks()
    socket = LinkSocket(
        wire,
        organization_id=ORGANIZATION,
        machine_id="desk-1",
        token_id=uuid4(),
        observer=Observer(RuntimeError("the database is on fire")),
        background=background,
        timers=LinkTimers(),
        terms=LinkTerms(unanswered_limit=1, heartbeat_seconds=20.0),
    )
    with caplog.at_level(logging.ERROR):
        socket.received(hello().model_dump_json())
        await background.close(5.0)
    assert wire.closed == [(4003, "the server could not record the connection")]
    assert "admit a machine" in caplog.text


async def test_answer_after_everybody_gave_up_harms_nothing() -> None:
    _, socket = await up()
    command = input_message()
    answered = socket.send(command, LATER)
    answered.cancel()
    await asyncio.sleep(0)
    socket.received(acknowledgement(command))
    assert socket.unanswered == 0
    assert socket.is_up
