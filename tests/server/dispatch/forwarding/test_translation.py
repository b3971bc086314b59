"""Commands, answers, problems and pictures, to another node and back."""

from dataclasses import fields, replace
from uuid import uuid4

import pytest

from schemas.bus.messages import (
    Answered,
    Invalid,
    MessageRefusedError,
    PictureTaken,
    Problem,
    decode_reply,
    decode_request,
)
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.inputs.bodies import AnyInput, DragMouse, MoveMouse, TypeText
from schemas.link.messages import Capability, Display
from schemas.link.picture_frames import Picture, Region, Size
from server.dispatch.command import Command
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.forwarding.translation import (
    answer_of,
    answered,
    command_of,
    described,
    forwarded,
    live_machine,
    picture_of,
    picture_taken,
    problem,
    raise_problem,
)
from server.dispatch.links_here import LiveMachine
from server.dispatch.refusals import busy, key_reused, unavailable
from server.store.commands import Answer
from server.store.errors import StoreUnavailable


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize(
    "body",
    [
        MoveMouse(x=1, y=2),
        TypeText(text="a\nb 漢"),
        DragMouse(start_x=0, start_y=0, to_x=5, to_y=5, duration=1.5),
    ],
)
def test_command_is_the_same_on_the_other_node(body: AnyInput, key: str | None) -> None:
    command = Command.accept(
        organization_id=uuid4(),
        machine_id="desk-1",
        body=body,
        key=key,
        fingerprints=Fingerprints(b"secret"),
        timeout=10,
        request_id="r-1",
        minimal=True,
        token_id=uuid4(),
        token_name="of a test",
    )
    message = decode_request(forwarded(command).encode())
    assert command_of(message) == command  # type: ignore[arg-type]
    assert forwarded(command).forward_id != forwarded(command).forward_id


def test_no_field_of_a_command_is_lost_on_the_way() -> None:
    command = replace(
        Command.accept(
            organization_id=uuid4(),
            machine_id="desk-1",
            body=MoveMouse(x=1, y=2),
            key="k",
            fingerprints=Fingerprints(b"secret"),
            timeout=10,
            request_id="r-1",
            minimal=True,
            token_id=uuid4(),
            token_name="of a test",
        ),
        proof="of a lease",
        in_stretch=True,
    )
    left_out = {
        field.name for field in fields(Command) if getattr(command, field.name) == field.default
    }
    assert left_out == set(), "give it a value that is not the default's"
    message = decode_request(forwarded(command).encode())
    assert command_of(message) == command  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "answer", [Answer(200, "application/json", b"{\n}"), Answer(204, None, b"")]
)
def test_answer_is_the_same_byte_for_byte(answer: Answer) -> None:
    message, content = decode_reply(answered(answer, is_replayed=True))
    assert isinstance(message, Answered)
    assert answer_of(message, content) == (answer, True)


@pytest.mark.parametrize("error", [busy("inputs"), unavailable("paused", "why", 1)])
def test_problem_is_raised_as_it_was(error: ProblemError) -> None:
    message, _ = decode_reply(problem(error).encode())
    with pytest.raises(ProblemError) as caught:
        raise_problem(message)
    raised = caught.value
    assert (raised.problem_type, raised.detail) == (error.problem_type, error.detail)
    assert (raised.members, raised.headers) == (dict(error.members), dict(error.headers))


def test_other_errors_are_raised_as_they_were() -> None:
    invalid, _ = decode_reply(problem(key_reused()).encode())
    assert isinstance(invalid, Invalid)
    with pytest.raises(InvalidRequestError, match="this key was used"):
        raise_problem(invalid)
    unavailable_store, _ = decode_reply(problem(StoreUnavailable("away")).encode())
    with pytest.raises(StoreUnavailable, match="away"):
        raise_problem(unavailable_store)
    of_tomorrow = Problem(name="of-tomorrow", detail="d", members={}, headers={})
    with pytest.raises(MessageRefusedError, match="version"):
        raise_problem(of_tomorrow)


def test_picture_and_machine_are_the_same_on_the_other_node() -> None:
    picture = Picture("png", b"\n\0bytes", Size(3, 2), Region(-1, 0, 6, 4), 77)
    message, content = decode_reply(picture_taken(picture))
    assert isinstance(message, PictureTaken)
    assert picture_of(message, content) == picture
    live = LiveMachine(
        "online",
        "connected",
        5,
        (Display(x=0, y=0, width=1, height=1),),
        Capability(available=True),
        0.5,
        "a",
    )
    assert live_machine(described("desk-1", live)) == live
