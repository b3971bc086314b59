"""What was wrong with something that had to be validated, entry by entry."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, JsonValue, ValidationError
from pydantic_core import PydanticCustomError

MAX_ENTRIES = 20
MAX_ECHO_CHARACTERS = 1000


class ValidationErrorEntry(BaseModel):
    """One thing that was wrong with a request."""

    loc: list[str] = Field(description="Where: body, query, path or header, then the field.")
    msg: str = Field(description="What was wrong, for a person.")
    type: str = Field(description="What was wrong, for a program.")
    input: Any = Field(None, description="The value at fault.")
    ctx: dict[str, Any] = Field(default_factory=dict, description="Facts, such as a bound.")


class Wrong(NamedTuple):
    """A part of a value that is wrong: where in it, what is wrong, and what stands there."""

    where: tuple[str | int, ...]
    error: PydanticCustomError
    value: Any


def errors_of(wrong: Iterable[Wrong]) -> ValidationError:
    """What a validator raises that looks at a whole, and finds parts of it wrong."""
    return ValidationError.from_exception_data(
        "value", [{"type": error, "loc": where, "input": value} for where, error, value in wrong]
    )


def entries_of(errors: Iterable[Mapping[str, Any]], *prefix: str) -> list[ValidationErrorEntry]:
    """Turn pydantic's error details into entries, with ``prefix`` before each place.

    Only what the sender sent goes back: class names and exceptions stay here, long values are
    cut, and after MAX_ENTRIES entries the rest is left out.
    """
    entries: list[ValidationErrorEntry] = []
    for error in errors:
        if len(entries) == MAX_ENTRIES:
            break
        context = {
            name: value if isinstance(value, str | int | float | list) else str(value)
            for name, value in error.get("ctx", {}).items()
            if name != "class_name"
        }
        entries.append(
            ValidationErrorEntry(
                loc=[*prefix, *_place(error["loc"])],
                msg=error["msg"].removeprefix("Value error, "),
                type=error["type"],
                input=echo(error.get("input")),
                ctx=context,
            )
        )
    return entries


_OF_SEVERAL_KINDS = ("actions", "any")
"""The lists whose elements are each of one of several kinds."""


def _place(loc: Sequence[str | int]) -> Iterator[str]:
    """A place as whoever sent it names it: pydantic puts the kind of an element behind its number.

    ``("actions", 3, "mouse.click", "x")`` is ``actions.3.x``.
    """
    for number, part in enumerate(loc):
        of_kinds = number > 1 and loc[number - 2] in _OF_SEVERAL_KINDS
        if not of_kinds or not isinstance(loc[number - 1], int):
            yield str(part)


def sentence(entry: ValidationErrorEntry) -> str:
    """One line that says where and what was wrong."""
    place = ".".join(entry.loc)
    return f"{place}: {entry.msg}" if place else entry.msg


def echo(value: Any) -> JsonValue:
    """What is told back of a wrong value: all of a small one, the beginning of a long text."""
    if isinstance(value, bytes):
        value = value[:MAX_ECHO_CHARACTERS].decode(errors="replace")
    if isinstance(value, str):
        return value[:MAX_ECHO_CHARACTERS].encode(errors="replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, int) or abs(value) < 10**MAX_ECHO_CHARACTERS else None
    if isinstance(value, dict | list):
        return _echo_container(value)
    return str(value)[:MAX_ECHO_CHARACTERS]


def _echo_container(value: dict[Any, Any] | list[Any]) -> JsonValue:
    text = repr(value) if len(value) <= MAX_ENTRIES else ""
    if not text or len(text) > MAX_ECHO_CHARACTERS:
        return f"({'an object' if isinstance(value, dict) else 'an array'} of {len(value)} entries)"
    if isinstance(value, dict):
        return {str(name): echo(entry) for name, entry in value.items()}
    return [echo(entry) for entry in value]
