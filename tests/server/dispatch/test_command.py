import hashlib
from typing import Any
from uuid import UUID

import pytest

from schemas.inputs.bodies import (
    AnyInput,
    ClickMouse,
    DragMouse,
    MoveMouse,
    TypeText,
)
from server.dispatch.command import Command, Sender
from server.dispatch.fingerprints import Fingerprints
from tests.store import ORGANIZATION, OTHER_ORGANIZATION

LINK = UUID(int=9)

MOVE = MoveMouse(x=3, y=4)
FINGERPRINTS = Fingerprints(b"secret")


def accepted(
    body: AnyInput = MOVE,
    key: str | None = "key-1",
    *,
    machine_id: str = "desk-1",
    minimal: bool = False,
    timeout: float = 30.0,
    fingerprints: Fingerprints = FINGERPRINTS,
    **changes: Any,
) -> Command:
    sender = {
        "organization_id": ORGANIZATION,
        "token_id": UUID(int=1),
        "token_name": "a caller",
        "request_id": "r-1",
    }
    return Command.accept(
        Sender(**{**sender, **changes}),
        machine_id,
        body,
        key=key,
        minimal=minimal,
        timeout=timeout,
        fingerprints=fingerprints,
    )


def test_command_id_is_derived_from_organization_and_key() -> None:
    assert accepted().id == accepted(request_id="r-2", machine_id="desk-2").id
    assert accepted().id != accepted(key="key-2").id
    assert accepted().id != accepted(organization_id=OTHER_ORGANIZATION).id
    # The machine may have this very id in its journal: it must never change.
    assert accepted().id == UUID("1ab6b24a-3550-5b12-b099-00f5d21750f2")


def test_command_without_key_has_a_random_id_and_no_fingerprint() -> None:
    first, second = accepted(key=None), accepted(key=None)
    assert first.id != second.id
    assert first.fingerprint == second.fingerprint == ""
    assert not first.is_keyed
    assert accepted().is_keyed


@pytest.mark.parametrize(
    "other",
    [
        accepted(MoveMouse(x=3, y=5)),
        accepted(ClickMouse(x=3, y=4)),
        accepted(machine_id="desk-2"),
    ],
)
def test_fingerprint_tells_requests_apart(other: Command) -> None:
    assert other.fingerprint != accepted().fingerprint


def test_fingerprint_covers_the_body_as_it_was_understood() -> None:
    spelled_out = ClickMouse.model_validate_json('{"clicks":1, "button":"left","x":null}')
    assert accepted(spelled_out).fingerprint == accepted(ClickMouse()).fingerprint


def test_fingerprint_says_nothing_of_the_text_to_whoever_lacks_the_secret_or_the_key() -> None:
    typed = accepted(TypeText(text="hunter2"))
    guess = b'keyboard.type\ndesk-1\n{"text":"hunter2"}'
    assert hashlib.sha256(guess).hexdigest() != typed.fingerprint
    others: list[dict[str, Any]] = [
        {"key": "key-2"},
        {"organization_id": OTHER_ORGANIZATION},
        {"fingerprints": Fingerprints(b"another")},
    ]
    for other in others:
        assert accepted(TypeText(text="hunter2"), **other).fingerprint != typed.fingerprint
    assert accepted(TypeText(text="hunter2")).fingerprint == typed.fingerprint


def test_fingerprint_does_not_depend_on_how_the_answer_is_wanted() -> None:
    assert accepted(minimal=True).fingerprint == accepted().fingerprint


def test_input_may_begin_until_shortly_before_its_answer_is_due() -> None:
    command = accepted(timeout=30.0)
    assert command.expires_at - command.accepted_at == 29_000
    short = accepted(timeout=2.0)
    assert short.expires_at - short.accepted_at == 1_800


def test_own_duration_comes_on_top_of_the_time_for_an_answer() -> None:
    drag = DragMouse(start_x=0, start_y=0, to_x=9, to_y=9, duration=12.5)
    command = accepted(drag, timeout=30.0)
    assert command.answer_by - command.accepted_at == 42_500
    assert command.expires_at - command.accepted_at == 29_000


def test_message_carries_what_the_machine_needs() -> None:
    command = accepted()
    message = command.message(LINK)
    assert message.link_id == LINK
    assert message.command_id == command.id
    assert message.operation == "mouse.move"
    assert message.body == {"x": 3, "y": 4}
    assert message.fingerprint == command.fingerprint
    assert message.expires_at == command.expires_at
    assert message.server_time >= command.accepted_at
