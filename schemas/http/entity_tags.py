"""What names a version in ETag, If-Match and If-None-Match (RFC 9110, section 8.8.3)."""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from schemas.values.strict import StrictModel

_TAG: Final = re.compile(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")')
_BETWEEN: Final = re.compile(r"[ \t]*(?:,[ \t]*)+")
_VERSION: Final = re.compile(r'"([0-9]{1,18})(?:\.[0-9]{1,18})?"')


def version_tag(version: int, included: int | None = None) -> str:
    """The strong tag of a version, alone or together with that of what is included."""
    return f'"{version}"' if included is None else f'"{version}.{included}"'


@dataclass(frozen=True)
class EntityTags:
    """A list of tags; ``*`` is ``is_any``.  Each tag has its quotes, and lacks its ``W/``."""

    is_any: bool = False
    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    @property
    def versions(self) -> AbstractSet[int] | None:
        """The versions that the strong tags name, whatever was included; None is any version.

        For If-Match: a weak tag never matches there, and one that nobody gave names no version.
        """
        if self.is_any:
            return None
        found = map(_VERSION.fullmatch, self.strong)
        return {int(version[1]) for version in found if version}

    def name(self, tag: str) -> bool:
        """Whether the tag is one of these, weak or strong; for If-None-Match."""
        return self.is_any or tag in self.strong or tag in self.weak


def parse_tags(text: str) -> EntityTags:
    """Read the value of a header.  Raises ValueError with a sentence."""
    text = text.strip(" \t")
    if text == "*":
        return EntityTags(is_any=True)
    strong: set[str] = set()
    weak: set[str] = set()
    place = 0
    while place < len(text):
        found = _TAG.match(text, place)
        if found is None:
            break
        (weak if found[1] else strong).add(found[2])
        place = found.end()
        between = _BETWEEN.match(text, place)
        if between is None:
            break
        place = between.end()
    if place < len(text) or not (strong or weak):
        raise ValueError('must be * or entity tags in double quotes, such as "1763711000123"')
    return EntityTags(strong=frozenset(strong), weak=frozenset(weak))


def _tags(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_tags(value)
    except ValueError as error:
        raise PydanticCustomError("entity_tag", "{error}", {"error": str(error)}) from None


Tags = Annotated[EntityTags, BeforeValidator(_tags), WithJsonSchema({"type": "string"})]
"""A header that names versions."""


class ChangeHeaders(StrictModel):
    """Headers of what changes something that is there."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    if_match: Tags | None = Field(
        None,
        alias="If-Match",
        description="Change it only if its ETag is one of these; * is any.  Without it, the last "
        "write of each field stands.",
    )

    @property
    def versions(self) -> AbstractSet[int] | None:
        """The versions that may be changed; None is any."""
        return None if self.if_match is None else self.if_match.versions


class ReadHeaders(StrictModel):
    """Headers of what reads something that has versions."""

    if_none_match: Tags | None = Field(
        None,
        alias="If-None-Match",
        description="304 and no body where its ETag is one of these, or for *.",
    )
