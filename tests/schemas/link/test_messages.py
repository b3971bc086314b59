"""The messages of the link: what either side takes, and what it does not."""

import json
from typing import Any
from uuid import uuid4

import pytest
from pydantic import BaseModel, ValidationError

from schemas.inputs.outcomes import (
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Point,
    Refused,
    Unknown,
)
from schemas.inputs.selectors import Sought
from schemas.link.element_messages import ElementsQuery, ElementsSeen, SeenElement
from schemas.link.messages import (
    CLIENT_MESSAGES,
    SERVER_MESSAGES,
    Ack,
    Heartbeat,
    HeartbeatAck,
    Ready,
    Report,
    Resolve,
)
from schemas.values.pictures import Region
from tests.links import MARK, WELCOME, hello, input_message

COMMAND = uuid4()
SAVE = SeenElement(
    role="push button",
    name="Save \x01",
    states=["enabled", "a state of a later version"],
    bounds=Region(1, 2, 3, 4),
    window="Invoice 7",
    application="soffice",
    depth=3,
    ref=":1.7/4~ab",
)
FIELD = SAVE.model_copy(update={"role": "entry", "value": "4711"})
QUERY = ElementsQuery(
    request=1, sought=Sought(name="Save*"), at=Point(x=1, y=2), limit=5, depth=3, server_time=1
)

OUTCOMES = [
    Completed(duration_ms=0.5, pointer=Point(x=-1, y=2)),
    Refused(code="outside", message="outside", loc=("body", "x"), ctx={"width": 1}),
    Failed(code="x_error", message="gone", injected_at_least=1),
    Expired(),
    NotCarriedOut(),
    Unknown(injected_at_least=3),
]


@pytest.mark.parametrize(
    "message",
    [
        hello(),
        HeartbeatAck(sequence=1, journal_sequence=0, mark=MARK),
        Ready(),
        ElementsSeen(request=1, elements=[SAVE, FIELD], truncated="size", silent=["mousepad"]),
        Report(command_id=COMMAND, outcome=None, journal_sequence=2),
        *(Ack(command_id=COMMAND, outcome=each, journal_sequence=1) for each in OUTCOMES),
    ],
)
def test_clients_message_survives_the_wire(message: BaseModel) -> None:
    assert CLIENT_MESSAGES.validate_json(message.model_dump_json()) == message


@pytest.mark.parametrize(
    "message",
    [
        WELCOME.message,
        QUERY,
        input_message(),
        Resolve(command_id=COMMAND, fingerprint="f", server_time=1),
        Heartbeat(sequence=1, server_time=1),
    ],
)
def test_servers_message_survives_the_wire(message: BaseModel) -> None:
    assert SERVER_MESSAGES.validate_json(message.model_dump_json()) == message


def changed(message: BaseModel, **changes: Any) -> bytes:
    return json.dumps({**json.loads(message.model_dump_json()), **changes}).encode()


def test_fields_of_a_newer_side_are_ignored() -> None:
    assert CLIENT_MESSAGES.validate_json(changed(hello(), mood="fine")) == hello()
    outcome = {"status": "expired", "since": 1}
    message = changed(
        Ack(command_id=COMMAND, outcome=Expired(), journal_sequence=1), outcome=outcome
    )
    parsed = CLIENT_MESSAGES.validate_json(message)
    assert isinstance(parsed, Ack)
    assert parsed.outcome == Expired()


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "greeting"},
        {"type": None},
        {"protocols": []},
        {"protocols": ["one"]},
        {"protocols": list(range(17))},
        {"client_version": "v" * 65},
        {"displays": [{"x": 0, "y": 0, "width": 0, "height": 1}]},
        {"displays": [{"x": 0, "y": 0, "width": 1, "height": 1, "scale": 0}]},
        {"journal": {"id": "j", "sequence": 0}},
        {"journal": {"id": str(COMMAND), "sequence": -1}},
        {"journal": {"id": str(COMMAND), "sequence": 2**63}},
        {"input": {"available": False, "reason": "r" * 501}},
        {"input": None},
    ],
)
def test_wrong_hello_is_none(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CLIENT_MESSAGES.validate_json(changed(hello(), **changes))


@pytest.mark.parametrize(
    "outcome",
    [
        {"status": "done"},
        {},
        {"status": "completed", "duration_ms": -1, "pointer": {"x": 0, "y": 0}},
        {"status": "completed", "duration_ms": 1},
        {"status": "failed", "code": "c" * 65, "message": "m", "injected_at_least": 0},
        {"status": "failed", "code": "c", "message": "m", "injected_at_least": -1},
    ],
)
def test_wrong_outcome_is_none(outcome: dict[str, Any]) -> None:
    message = Ack(command_id=COMMAND, outcome=Expired(), journal_sequence=1)
    with pytest.raises(ValidationError):
        CLIENT_MESSAGES.validate_json(changed(message, outcome=outcome))


def test_acknowledgement_always_has_an_outcome() -> None:
    message = Ack(command_id=COMMAND, outcome=Expired(), journal_sequence=1)
    with pytest.raises(ValidationError):
        CLIENT_MESSAGES.validate_json(changed(message, outcome=None))
