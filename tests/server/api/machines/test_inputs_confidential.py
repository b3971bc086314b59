"""Whatever is wrong with the body of an input, or of signing in: none of it is told back."""

import json
from typing import Any

import pytest

from schemas.inputs.texts import MAX_TEXT_LENGTH
from schemas.values.validation_errors import MAX_ENTRIES
from server.web.bodies.incoming import SMALL_BYTES
from tests.server.api.route_table import TABLE
from tests.service import Service

WORD = "hunter2"
NUMBER = 73219471
LONG = WORD * (MAX_TEXT_LENGTH // len(WORD) + 1)
UNKNOWN = {f"k{number}": WORD for number in range(2 * MAX_ENTRIES)}
OWN = {"Farhand-Console": "1", "Sec-Fetch-Site": "same-origin"}
INPUTS = [
    row.path.partition("/input/")[2]
    for row in TABLE
    if row.method == "POST" and "/input/" in row.path
]

WRONG_BODIES: dict[str, Any] = {
    "too long": {"text": LONG},
    "a number": {"text": NUMBER},
    "a fraction": {"text": NUMBER / 2},
    "an array": {"text": [WORD, WORD]},
    "an object": {"text": {"text": WORD}},
    "a control code in it": {"text": f"{WORD}\x1b{WORD}"},
    "no key has that name": {"text": f"ctrl+{WORD}", "button": WORD},
    "no keys have these names": {"text": f"{WORD} {WORD}+{WORD}", "x": WORD},
    "another field beside it": {"text": WORD, "texts": WORD},
    "many others beside it": {"text": WORD, **UNKNOWN},
    "more others than are looked at": {"text": WORD, **UNKNOWN, "long": LONG},
    "another field in its place": {"txt": WORD},
    "down is none": {"text": "a", "down": WORD},
    "it is in every field": dict.fromkeys(
        (
            *("x", "y", "to_x", "button", "clicks", "down", "direction", "amount", "duration"),
            *("modifiers", "in", "path", "hold", "repeat", "token"),
        ),
        WORD,
    ),
    "modifiers are none": {"modifiers": [WORD], "hold": NUMBER, "repeat": NUMBER},
    "it is beside the picture": {"x": NUMBER, "y": 0, "in": {"width": 1, "height": 1}},
    "it takes too long": {"text": "漢" * 601 + WORD},
    "a text alone": WORD,
    "a long text alone": LONG,
    "a number alone": NUMBER,
    "an array of it": [WORD],
    "half a character": json.dumps({"text": f"{WORD}\ud800"}).encode(),
    "broken off": f'{{"text": "{WORD}'.encode(),
    "without quotes": f'{{"text": {WORD}}}'.encode(),
    "with something behind": f'{{"text": "{WORD}"}} {WORD}'.encode(),
    "not UTF-8": b'{"text": "' + WORD.encode() + b'\xff"}',
    "a form": f"text={WORD}".encode(),
    "long, and wrong": f'{{"text": "{WORD}", "x": {" " * SMALL_BYTES}{NUMBER}.5}}'.encode(),
}


async def assert_nothing_is_told_back(service: Service, path: str, body: Any) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply = await service.post(path, content=content, headers=OWN)
    assert reply.status in (422, 413)
    for entry in reply.json["detail"] if reply.status == 422 else ():
        assert entry["loc"][0] == "body"
        assert entry["msg"]
        assert entry["input"] is None
    for secret in (WORD, str(NUMBER), str(NUMBER / 2)):
        assert secret not in reply.body.decode().lower()


@pytest.mark.parametrize("body", WRONG_BODIES.values(), ids=WRONG_BODIES)
async def test_no_text_of_an_input_is_told_back(service: Service, body: Any) -> None:
    machine = await service.new_machine()
    for operation in INPUTS:
        await assert_nothing_is_told_back(service, machine.input_path(operation), body)


@pytest.mark.parametrize("body", WRONG_BODIES.values(), ids=WRONG_BODIES)
async def test_no_token_is_told_back(service: Service, body: Any) -> None:
    await assert_nothing_is_told_back(service, "/console/session", body)


async def test_place_and_reason_are_told_all_the_same(service: Service) -> None:
    machine = await service.new_machine()
    reply = await service.post(machine.input_path("keyboard/key"), {"text": "ctrl+pgdwn"})
    (entry,) = reply.json["detail"]
    assert entry["loc"] == ["body", "text"]
    assert entry["msg"].endswith("characters 6 to 10: did you mean pgdown?")
    assert entry["ctx"] == {"reason": entry["msg"], "position": 6}
