"""Looks for canaries in everything that a server and its machines keep, tell and export."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any, Final

from pymongo import MongoClient

from server.vision.looking.pixels import decoded
from server.vision.looking.texts import read
from tests.processes import ServedApi

ALIKE: Final = 0.75
"""What a reader of pictures takes for something else is the same for all that."""

TRIES: Final = 10
"""To look through files of which none goes meanwhile."""

NOTHING: Final = re.compile(rb"\0{16,}")
"""What most of a database's files is, which would be looked through at every place."""


def in_bytes(content: bytes, canaries: Iterable[str]) -> set[str]:
    """The canaries, of small letters, that stand in these: whole, key by key, or in Base64."""
    known = _spelled(tuple(canaries))
    content = NOTHING.sub(b"\0", content)
    shapes = {len(canary) for canary in known.values()}
    return {
        known[found[1]]
        for length in shapes
        for shape in _shapes(length)
        for found in shape.finditer(content)
        if found[1] in known
    }


@cache
def _spelled(canaries: tuple[str, ...]) -> dict[bytes, str]:
    """Each canary by all that it may be written as."""
    return {
        spelling: canary
        for canary in canaries
        for spelling in (
            *(canary.encode(), " ".join(canary).encode(), '","'.join(canary).encode()),
            *_in_base64(canary),
        )
    }


def _in_base64(canary: str) -> Iterator[bytes]:
    """The characters that are of it alone, wherever it begins among three bytes."""
    for before in range(3):
        encoded = b64encode(bytes(before) + canary.encode() + bytes(3))
        first = -(-before * 4 // 3)
        # The last one or two letters are left out, so that each is as long as the canary.
        yield encoded[first : first + len(canary)]


@cache
def _shapes(length: int) -> tuple[re.Pattern[bytes], ...]:
    """What a canary of so many letters may look like, at every place."""
    between = length - 1
    return (
        re.compile(rb"(?=([A-Za-z0-9+/]{%d}))" % length),
        re.compile(rb"(?=((?:[a-z] ){%d}[a-z]))" % between),
        re.compile(rb'(?=((?:[a-z]","){%d}[a-z]))' % between),
    )


def in_files(directory: Path, canaries: Iterable[str]) -> dict[str, set[str]]:
    """The files, logs and journals among them, in which canaries stand.

    Where one goes meanwhile, as those of a database do that runs, all are looked through anew: what
    was in it may be in another by then.
    """
    wanted = [*canaries]
    for _ in range(TRIES):
        with suppress(FileNotFoundError):
            return _in_files(directory, wanted)
    raise AssertionError(f"the files in {directory} do not stay while they are looked through")


def _in_files(directory: Path, wanted: list[str]) -> dict[str, set[str]]:
    found = {}
    for path in directory.rglob("*"):
        if path.is_file() and (those := in_bytes(path.read_bytes(), wanted)):
            found[str(path.relative_to(directory))] = those
    return found


def in_database(uri: str, canaries: Iterable[str]) -> dict[str, set[str]]:
    """The collections, those of pictures among them, in which canaries stand."""
    wanted: list[str] = [*canaries]
    found: dict[str, set[str]] = {}
    with MongoClient[dict[str, Any]](uri) as client:
        for name in client.list_database_names():
            database = client[name]
            for collection in database.list_collection_names():
                for document in database[collection].find():
                    if those := in_bytes(repr(document).encode(), wanted):
                        found.setdefault(f"{name}.{collection}", set()).update(those)
    return found


def in_answers(api: ServedApi, canaries: Iterable[str]) -> dict[str, set[str]]:
    """The lists and exports in which canaries stand."""
    wanted: list[str] = [*canaries]
    found: dict[str, set[str]] = {}
    for path in (
        *("/v1/trajectories/export?is_generated=null", "/v1/recordings", "/v1/audit"),
        *("/v1/commands", "/v1/workflows", "/v1/machines", "/v1/help", "/v1/webhooks", "/metrics"),
        *_each(api, "/v1/runs", "/v1/runs/{id}"),
        *_each(api, "/v1/trajectories", "/v1/trajectories/{id}"),
        *_each(api, "/v1/webhooks", "/v1/webhooks/{id}/deliveries"),
    ):
        if those := in_bytes(api.call("GET", path).body, wanted):
            found[path] = those
    return found


def _each(api: ServedApi, path: str, one: str) -> Iterator[str]:
    """The path of each that is listed."""
    for each in api.call("GET", f"{path}?limit=100").json["items"]:
        yield one.format(id=each["id"])


def pictures_of(steps: Iterable[dict[str, Any]]) -> set[str]:
    """The pictures that steps name."""
    return {each for step in steps for each in _named(step)}


def in_picture(content: bytes, canaries: Iterable[str]) -> set[str]:
    """The canaries that can be read on a picture, or what comes near them."""
    lines = [re.sub(r"\s", "", line.text).lower() for line in read(decoded(content))]
    return {each for each in canaries if any(_stands_in(each, line) for line in lines)}


def _named(step: dict[str, Any]) -> Iterator[str]:
    for name in ("picture", "picture_after"):
        if step.get(name):
            yield step[name]


def _stands_in(canary: str, line: str) -> bool:
    length = len(canary)
    parts = (line[at : at + length] for at in range(max(len(line) - length, 0) + 1))
    return any(SequenceMatcher(None, canary, part).ratio() >= ALIKE for part in parts)
