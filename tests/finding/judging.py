"""Judges a run by the form's own record, and by nothing that the product says of it."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tests.finding.workflows import Wanted

CLOSE: Final = 2
"""By how much a number may differ that was set with a mouse."""


class Came(StrEnum):
    """What came of a run."""

    RIGHT = "right"
    """It ended with success, and all was entered."""
    HALTED = "halted"
    """It went no further, and nothing was entered that should not be."""
    WRONG = "wrong"


Line = Mapping[str, Any]


def read(record: Path) -> list[Line]:
    """What a form has written so far."""
    text = record.read_text() if record.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def judged(
    record: Sequence[Line], wanted: Wanted, held: Mapping[str, Any], *, is_success: bool
) -> Came:
    """What came of a run on a form that ``held`` this before."""
    if why_wrong(record, wanted) is not None:
        return Came.WRONG
    if is_success:
        return Came.RIGHT if is_whole(record, wanted, held) else Came.WRONG
    return Came.HALTED


def why_wrong(record: Sequence[Line], wanted: Wanted) -> str | None:
    """What was entered that should not be."""
    did = tuple(each["did"] for each in record if "did" in each)
    if did != wanted.did[: len(did)]:
        return f"did {', '.join(did)}"
    for each in _settled(record):
        name, value = each["name"], each["value"]
        if name not in wanted.holds or not _are_same(value, wanted.holds[name]):
            return f"{name} held {value!r}"
    return None


def is_whole(record: Sequence[Line], wanted: Wanted, held: Mapping[str, Any]) -> bool:
    """Whether all was done and is held that should be."""
    holds = {**held, **{each["name"]: each["value"] for each in record if "name" in each}}
    did = tuple(each["did"] for each in record if "did" in each)
    return did == wanted.did and all(
        name in holds and _are_same(holds[name], value) for name, value in wanted.holds.items()
    )


def _settled(record: Sequence[Line]) -> list[Line]:
    """What was held once something else was done: not each character of a text."""
    last = [{}, *record[-1:]][-1:]
    ended = [one for one, other in pairwise(record) if one.get("name") != other.get("name")]
    return [each for each in (*ended, *last) if "name" in each]


def _are_same(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= (CLOSE if not isinstance(other, bool) else 0)
    return bool(one == other)
