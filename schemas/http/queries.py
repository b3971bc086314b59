"""What a query parameter may be: always text, ``null`` or nothing for null, and no guessing.

Models of whole queries inherit from ``Query``, so that an unknown parameter is an error.
"""

import re
from typing import Annotated, Any, Final, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from schemas.values.scalars import Storable
from schemas.values.strict import StrictModel
from schemas.values.times import Time, TimeRoundedUp

MAX_SKIP: Final = 2**63 - 1
MAX_LIMIT: Final = 1000
DEFAULT_LIMIT: Final = 100

MAX_SEARCH_CHARACTERS: Final = 2000
"""More than this is no search but a mistake, and beyond what a database's matcher takes."""

_INTEGER = re.compile(r"-?[0-9]+", re.ASCII)
# Beyond this every number is out of every bound anyway, and Python refuses to read 4301 digits.
_MAX_DIGITS = 100


def _boolean(value: Any) -> Any:
    if isinstance(value, str):
        if value not in ("true", "false"):
            raise PydanticCustomError("bool_parsing", "must be true or false")
        return value == "true"
    return value


def _integer(value: Any) -> Any:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value):
            raise PydanticCustomError("int_parsing", "must be decimal digits")
        if len(value) > _MAX_DIGITS:
            raise PydanticCustomError("int_parsing_size", "has too many digits")
        return int(value)
    return value


def _null(value: Any) -> Any:
    return None if value in ("", "null") else value


def _uuid(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            raise PydanticCustomError("uuid_parsing", "must be a UUID") from None
    return value


NullText: Final = BeforeValidator(_null)
"""Reads ``null`` and the empty text as null; put it outside of an optional type."""

QueryBool = Annotated[bool, BeforeValidator(_boolean)]
"""``true`` or ``false``."""

IntegerText: Final = BeforeValidator(_integer)
"""Reads decimal digits; put it after the bounds: ``Annotated[int, Field(ge=0), IntegerText]``."""

QueryUuid = Annotated[UUID, BeforeValidator(_uuid)]
"""A UUID in any of its usual spellings."""

QueryTime = Time
"""ISO 8601; UTC without a zone."""

QueryTimeFrom = TimeRoundedUp
"""The beginning of a range that includes its ends."""

NullableBool = Annotated[QueryBool | None, NullText]
NullableUuid = Annotated[QueryUuid | None, NullText]
NullableTime = Annotated[QueryTime | None, NullText]
NullableTimeFrom = Annotated[QueryTimeFrom | None, NullText]
NullableSearch = Annotated[
    Annotated[str, Field(max_length=MAX_SEARCH_CHARACTERS), Storable] | None, NullText
]


class Query(StrictModel):
    """The parameters of one operation, each given at most once, as text."""


class PageQuery(Query):
    """Which part of a list is wanted."""

    skip: Annotated[int, Field(ge=0, le=MAX_SKIP), IntegerText] = Field(
        0, description="Number of items to skip."
    )
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), IntegerText] = Field(
        DEFAULT_LIMIT, description="Page size."
    )


Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """A part of a list, and how long all of it is."""

    items: list[Item]
    total: int
    skip: int
    limit: int
