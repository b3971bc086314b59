"""The clipboard of a real machine, with other programs on its desktop; and who gets to see it."""

import contextlib
import http.client
import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pymongo
import pytest
from PIL import Image

from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from tests.desktop import Witness
from tests.end_to_end.clipboards import RemoteClipboard, round_trips
from tests.end_to_end.system import System, Workstation, sees
from tests.machine_client.desktop.x11.clipboard.programs import copied, pasting
from tests.processes import WAIT_SECONDS, until
from tests.signs import LIGHT, Sign

TEXT = "text that nobody else may see"


def test_random_texts_are_exact_both_ways(desk: Workstation) -> None:
    assert round_trips(desk, 100, seed=11) > 0


def test_longest_text_goes_there_and_back(desk: Workstation) -> None:
    clipboard = RemoteClipboard(desk)
    for text in ("\U0001f600" * (MAX_CLIPBOARD_BYTES // 4), "\x01" * MAX_CLIPBOARD_BYTES):
        assert clipboard.write(text).status == 200
        assert clipboard.read().json == {"text": text}
        with pasting(desk.display) as program:
            assert program.paste() == text.encode()


def test_refused_text_leaves_the_clipboard_as_it_was(desk: Workstation) -> None:
    clipboard = RemoteClipboard(desk)
    assert clipboard.write("before").status == 200
    for text, status in (
        ("a" * (MAX_CLIPBOARD_BYTES + 1), 422),
        ("a" * 10 * MAX_CLIPBOARD_BYTES, 413),
        ("nul\0", 422),
        (7, 422),
    ):
        assert clipboard.write(text).status == status
    assert clipboard.read().json == {"text": "before"}


def test_clipboards_that_cannot_be_read(desk: Workstation) -> None:
    clipboard = RemoteClipboard(desk)
    for forms, code in (
        ({"image/png": b"\x89PNG"}, "clipboard_no_text"),
        ({"UTF8_STRING": b"\xff"}, "clipboard_not_unicode"),
        ({"UTF8_STRING": b"a" * 10_000_000}, "clipboard_too_large"),
    ):
        with copied(desk.display, forms):
            answer = clipboard.read()
            assert (answer.status, answer.json["code"]) == (502, code)
    assert clipboard.read().json == {"text": ""}


def test_clipboard_is_in_the_order_of_inputs(desk: Workstation, witness: Witness) -> None:
    clipboard = RemoteClipboard(desk)
    clipboard.write("first")
    witness.take()
    click = {"operation": "mouse.click", "x": 900, "y": 500}
    region = {"x": 10, "y": 10, "width": 40, "height": 40}
    waiting = {"operation": "wait_for", "any": [{"changed": True, "region": region}], "timeout": 60}
    acting = desk.begin_to_act([click, waiting], "acting-before-a-text")
    sees(witness, "ButtonRelease 1")
    answers: dict[str, Any] = {}
    writing = threading.Thread(
        target=lambda: answers.update(written=clipboard.write("second", {"Idempotency-Key": "2"}))
    )
    writing.start()
    until(lambda: _unanswered(desk) == 2, "the text waits behind the actions")
    # A program pastes meanwhile, and has what was copied before.
    with pasting(desk.display) as program:
        assert program.paste() == b"first"
    shades = itertools.cycle(LIGHT)
    with Sign(desk.display, Image.new("RGB", (40, 40), next(shades)), (10, 10)) as sign:

        def has_ended() -> bool:
            # It may be looked at for the first time only now.
            sign.show(Image.new("RGB", (40, 40), next(shades)))
            return acting.done()

        until(has_ended, "the actions have seen the change")
    assert acting.result().status == 200
    assert clipboard.read().json == {"text": "second"}
    writing.join()
    assert answers["written"].status == 200


def _unanswered(desk: Workstation) -> int:
    metrics = desk.api.call("GET", "/metrics").body.decode()
    lines = [line for line in metrics.splitlines() if line.startswith("farhand_inputs_unanswered")]
    return sum(int(float(line.rpartition(" ")[2])) for line in lines)


@pytest.mark.parametrize("way", ["read", "write"])
def test_owner_switches_off_each_way(workstation: Workstation, way: str) -> None:
    clipboard = RemoteClipboard(workstation)
    settings: dict[str, Any] = {f"clipboard_{way}": "false"}
    with workstation.joined(**settings):
        calls = {"read": clipboard.read(), "write": clipboard.write("a")}
        assert calls.pop(way).json["reason"] == "no_clipboard"
        (other,) = calls.values()
        assert other.status == 200


def test_text_is_kept_nowhere(system: System) -> None:
    desk, server = system.workstation, system.server
    clipboard = RemoteClipboard(desk)
    with _events(server.url, server.administrators_token()) as told:
        long = f"{TEXT} " * 8000
        for number, text in enumerate((TEXT, long, f"{TEXT} \u20ac")):
            assert clipboard.write(text).status == 200
            assert clipboard.write(text, {"Idempotency-Key": f"k{number}"}).status == 200
            assert clipboard.write(text, {"Idempotency-Key": f"k{number}"}).status == 200
            assert clipboard.read().json == {"text": text}
        reused = clipboard.write(f"{TEXT}!", {"Idempotency-Key": "k0"})
        assert reused.status == 422
        refusals = [reused, clipboard.write(f"{TEXT}\0"), clipboard.write(TEXT, txt=TEXT)]
        refusals.append(clipboard.write(TEXT * 50_000))
        refusals.append(desk.api.call("PUT", clipboard.path, f'{{"text": "{TEXT}'.encode()))
        with copied(desk.display, {"UTF8_STRING": TEXT.encode() * 50_000}):
            refusals.append(clipboard.read())
        with copied(desk.display, {"UTF8_STRING": TEXT.encode() + b"\xff"}):
            refusals.append(clipboard.read())
        system.client.terminate()
        until(lambda: not desk.api.is_in_state(desk.machine, "online"), "the machine is gone")
        refusals += [clipboard.write(TEXT), clipboard.write(TEXT, {"Idempotency-Key": "late"})]
        assert [answer.status // 100 for answer in refusals if answer.status < 400] == []
        until(lambda: b'"clipboard.write"' in bytes(told), "the inputs are told of")
        seen = {
            "refusals": b"".join(answer.body for answer in refusals),
            "events": bytes(told),
            "audit": desk.api.call("GET", "/v1/audit?limit=200").body,
            "commands": desk.api.call("GET", f"/v1/machines/{desk.machine}/commands").body,
            "metrics": desk.api.call("GET", "/metrics").body,
            "machine": desk.api.call("GET", f"/v1/machines/{desk.machine}").body,
            "logs": f"{system.program.output}{system.client.output}".encode(),
            "database": _database(server.directory),
            **{f"file {file.name}": file.read_bytes() for file in _files(desk.directory)},
        }
        assert b"clipboard.write" in seen["audit"]
        assert b"clipboard.write" in seen["database"]
        assert b"SQLite" in b"".join(seen.values())
        word = TEXT.encode()
        assert [where for where, content in seen.items() if word in content] == []


@contextlib.contextmanager
def _events(url: str, token: str) -> Iterator[bytearray]:
    """Everything that the stream of events tells, as it comes."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=WAIT_SECONDS)
    connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    told = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError, AttributeError):
            while line := response.readline():
                told.extend(line)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield told
    finally:
        if connection.sock is not None:
            connection.sock.shutdown(2)
        reader.join(WAIT_SECONDS)
        connection.close()


def _database(directory: Path) -> bytes:
    """Every document of every collection, as JSON."""
    (socket,) = directory.rglob("mongod.sock")
    uri = f"mongodb://{quote(str(socket), safe='')}/?directConnection=true"
    with pymongo.MongoClient[dict[str, Any]](uri, uuidRepresentation="standard") as client:
        return "\n".join(
            json.dumps(document, default=repr)
            for name in client.list_database_names()
            for collection in client[name].list_collection_names()
            for document in client[name][collection].find()
        ).encode()


def _files(directory: Path) -> list[Path]:
    return [file for file in directory.rglob("*") if file.is_file()]
