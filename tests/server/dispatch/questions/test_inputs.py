"""A command crosses the bus as itself, with everything that is known of it."""

import json
from dataclasses import fields
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.inputs.bodies import (
    AnyInput,
    ClickMouse,
    DragMouse,
    MoveMouse,
    PressKeys,
    TypeText,
    WriteClipboard,
)
from schemas.inputs.outcomes import Completed, Outcome, Point, Refused, Unknown
from schemas.inputs.places import PathPoint
from server.dispatch.command import Command, Ended, Pending, Sender
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.questions.inputs import CarryOut
from server.dispatch.questions.question import (
    MessageRefusedError,
    decode_question,
    decode_reply,
    encode,
)

SENDER = Sender(
    organization_id=uuid4(),
    token_id=uuid4(),
    token_name="of a test",
    request_id="r-1",
    lease_hash="of a lease",
    in_segment=True,
    recording=uuid4(),
    user_id=uuid4(),
    has_secrets=True,
)


def command(body: AnyInput = MoveMouse(x=1, y=2), key: str | None = "k") -> Command:  # noqa: B008
    return Command.accept(
        SENDER,
        "desk-1",
        body,
        key=key,
        minimal=True,
        fingerprints=Fingerprints(b"secret"),
        timeout=10,
    )


def sent(forwarded: Command) -> CarryOut:
    return CarryOut.of(forwarded, forward_id=uuid4(), text_at=uuid4())


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize(
    "body",
    [
        MoveMouse(x=1, y=2),
        MoveMouse(x=1, y=2, path=(PathPoint(x=3, y=4),)),
        TypeText(text="a\nb 漢"),
        DragMouse(start_x=0, start_y=0, to_x=5, to_y=5, duration=1.5),
        ClickMouse.model_validate({"in": {"width": 3, "height": 4}, "modifiers": ["ctrl"]}),
        PressKeys(text="a", hold=1.5, repeat=2),
        WriteClipboard(text=""),
    ],
)
def test_command_is_the_same_on_the_other_node(body: AnyInput, key: str | None) -> None:
    message = sent(command(body, key))
    assert decode_question(encode(message)) == message


def test_no_field_of_a_command_is_lost_on_the_way() -> None:
    message = sent(command())
    for each in (message, message.command, message.command.sender):
        assert defaults_of(each) == [], "give it a value that is not the default's"
    assert decode_question(encode(message)) == message


def defaults_of(said: CarryOut | Command | Sender) -> list[str]:
    """The fields that have their default's value, but for those of every message."""
    if isinstance(said, CarryOut):
        defaults = {name: field.default for name, field in type(said).model_fields.items()}
    else:
        defaults = {field.name: field.default for field in fields(said)}
    return [
        name
        for name, default in defaults.items()
        if name not in ("version", "type") and getattr(said, name) == default
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"machine_id": "another"},
        {"organization_id": str(UUID(int=3))},
    ],
)
def test_command_of_another_machine_than_the_messages_is_refused(change: dict[str, Any]) -> None:
    message = json.loads(encode(sent(command()))) | change
    with pytest.raises(MessageRefusedError, match="malformed"):
        decode_question(json.dumps(message).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "mouse.fly"},
        {"body": {"x": "left", "y": 2}},
        {"body": {"x": 1, "y": 2, "z": 3}},
        {"body": []},
        {"fingerprint": "f" * 65},
        {"expires_at": -1},
        {"answer_by": 1.5},
    ],
)
def test_command_that_no_request_could_make_is_refused(change: dict[str, Any]) -> None:
    message = json.loads(encode(sent(command())))
    message["command"] |= change
    with pytest.raises(MessageRefusedError, match="malformed"):
        decode_question(json.dumps(message).encode())


@pytest.mark.parametrize(
    "outcome",
    [
        Completed(duration_ms=1.5, pointer=Point(x=-1, y=2), effect="accepted"),
        Refused(code="c", message="m", loc=("body", "x"), ctx={"a": [1, {"b": None}]}),
        Unknown(injected_at_least=3),
    ],
    ids=lambda outcome: outcome.status,
)
def test_end_is_the_same_on_the_other_node(outcome: Outcome) -> None:
    ended = Ended.of(command(), outcome, 7).replayed()
    assert decode_reply(encode(ended)) == ended
    pending = Pending(command_id=uuid4())
    assert decode_reply(encode(pending)) == pending
