"""Looks for canaries in everything that a server and its machines keep, tell and export."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

from pymongo import MongoClient

from server.vision.looking.pixels import decoded
from server.vision.looking.texts import read
from tests.processes import ServedApi

ALIKE: Final = 0.75
"""What a reader of pictures takes for something else is the same for all that."""


def spelled(canary: str) -> tuple[bytes, ...]:
    """A canary as it may be written somewhere: whole, or key by key."""
    return canary.encode(), " ".join(canary).encode(), '","'.join(canary).encode()


def in_bytes(content: bytes, canaries: Iterable[str]) -> set[str]:
    """The canaries that stand in these."""
    return {each for each in canaries if any(one in content for one in spelled(each))}


def in_files(directory: Path, canaries: Iterable[str]) -> dict[str, set[str]]:
    """The files, logs and journals among them, in which canaries stand."""
    wanted = [*canaries]
    found = {}
    for path in directory.rglob("*"):
        if path.is_file() and (those := in_bytes(path.read_bytes(), wanted)):
            found[str(path.relative_to(directory))] = those
    return found


def in_database(socket: Path, canaries: Iterable[str]) -> dict[str, set[str]]:
    """The collections, those of pictures among them, in which canaries stand."""
    wanted: list[str] = [*canaries]
    found: dict[str, set[str]] = {}
    address = f"mongodb://{str(socket).replace('/', '%2F')}/?directConnection=true"
    with MongoClient[dict[str, Any]](address) as client:
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
        *("/v1/commands", "/v1/workflows", "/v1/machines", "/metrics"),
    ):
        if those := in_bytes(api.call("GET", path).body, wanted):
            found[path] = those
    return found


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
