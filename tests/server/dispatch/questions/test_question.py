"""What crosses the bus, and what is refused of it."""

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from schemas.inputs.pictures import PictureWanted
from schemas.link.messages import Capability, Display
from schemas.link.picture_frames import Picture
from schemas.values.pictures import Region, Size
from server.dispatch import refusals
from server.dispatch.questions.clipboard import ReadClipboard, TextRead
from server.dispatch.questions.control import FindLink
from server.dispatch.questions.nodes import Described, LiveMachine, MetricsRead
from server.dispatch.questions.question import (
    Done,
    MessageRefusedError,
    NotHere,
    Refusal,
    RefusalKind,
    decode_question,
    decode_reply,
    encode,
)
from server.dispatch.questions.screens import (
    NextPicture,
    NoPicture,
    PictureTaken,
    ScreenEnded,
    TakeScreenshot,
)

FIND = FindLink(organization_id=UUID(int=1), machine_id="desk-1")
WATCHING = NextPicture(
    organization_id=UUID(int=1),
    machine_id="desk-1",
    viewer=UUID(int=2),
    width=None,
    height=3,
    quality=4,
    rate=0.5,
    names=("Ada",),
)
LIVE = LiveMachine(
    state="online",
    reason="connected",
    since=5,
    displays=(Display(x=0, y=0, width=1, height=1),),
    screen=Capability(available=True),
    round_trip_seconds=0.5,
    node="a",
)


@pytest.mark.parametrize("question", [FIND, WATCHING], ids=lambda each: each.type)
def test_question_arrives_as_it_was(question: FindLink | NextPicture) -> None:
    assert decode_question(encode(question)) == question


@pytest.mark.parametrize(
    "reply",
    [
        Done(),
        Described(machines={"desk-1": LIVE}),
        refusals.busy("inputs"),
        refusals.unavailable("controlled", "why", 1, by="Ada"),
        refusals.clipboard_unreadable("too_long", "it is too long"),
        TextRead.of("\n€"),
    ],
    ids=lambda each: each.type,
)
def test_reply_arrives_as_it_was(reply: Done | Described | Refusal | TextRead) -> None:
    assert decode_reply(encode(reply)) == reply


@given(content=st.binary(max_size=100))
def test_content_arrives_byte_for_byte(content: bytes) -> None:
    reply = MetricsRead(content=content)
    assert decode_reply(encode(reply)) == reply


def test_picture_is_the_same_on_the_other_node() -> None:
    picture = Picture("png", b"\n\0bytes", Size(3, 2), Region(-1, 0, 6, 4), 77)
    taken = decode_reply(encode(PictureTaken.of(picture)))
    assert isinstance(taken, PictureTaken)
    assert taken.picture == picture


def test_content_of_a_reply_that_has_none_is_refused() -> None:
    with pytest.raises(MessageRefusedError, match="malformed"):
        decode_reply(encode(Done()) + b"\ncontent")


def test_question_knows_its_replies() -> None:
    taken = PictureTaken(format="png", region=Region(0, 0, 1, 1), size=Size(1, 1), captured_at=0)
    ended = ScreenEnded(reason="it is off", since=None)
    assert [FIND.is_answered_by(each) for each in (Done(), NotHere(), taken)] == [
        True,
        False,
        False,
    ]
    assert all(WATCHING.is_answered_by(each) for each in (taken, NoPicture(), ended))
    assert not WATCHING.is_answered_by(Done())


def test_lost_reply_is_no_word_about_the_machine() -> None:
    about: dict[str, Any] = {"organization_id": UUID(int=1), "machine_id": "desk-1"}
    screenshot = TakeScreenshot(**about, wanted=PictureWanted())
    assert screenshot.lost().reason == "no_screen"
    assert ReadClipboard(**about, selection="primary").lost().reason == "no_clipboard"
    assert FIND.lost().reason == "unreachable"


def test_fields_of_a_newer_node_are_ignored() -> None:
    message = json.loads(encode(FIND)) | {"of_tomorrow": [1]}
    assert decode_question(json.dumps(message).encode()) == FIND


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": 2}, "version"),
        ({"version": "1"}, "version"),
        ({"version": 2, "type": "of tomorrow"}, "version"),
        ({"type": "of tomorrow"}, "malformed"),
        ({"type": None}, "malformed"),
        ({"organization_id": "mine"}, "malformed"),
        ({"machine_id": 7}, "malformed"),
        ({"machine_id": "x" * 129}, "malformed"),
    ],
)
def test_what_is_not_understood_is_refused_with_the_reason(
    change: dict[str, Any], why: str
) -> None:
    message = json.dumps(json.loads(encode(FIND)) | change).encode()
    for decode in (decode_question, decode_reply):
        with pytest.raises(MessageRefusedError, match=rf"^{why}$"):
            decode(message)


@given(message=st.binary(max_size=200))
def test_any_bytes_are_refused_or_understood(message: bytes) -> None:
    for decode in (decode_question, decode_reply):
        with pytest.raises(MessageRefusedError, match=r"^malformed$"):
            decode(message)


def test_refusal_of_a_kind_of_tomorrow_is_not_understood() -> None:
    refusal = Refusal(kind=RefusalKind.BUSY, detail="d")
    message = encode(refusal).replace(b"machine-busy", b"of-tomorrow")
    with pytest.raises(MessageRefusedError):
        decode_reply(message)


def test_bases_are_no_messages() -> None:
    class OfNoType(BaseModel):
        version: int = 1

    with pytest.raises(MessageRefusedError):
        decode_reply(OfNoType().model_dump_json().encode())
