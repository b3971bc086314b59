"""Scalar types that several schemas share, with the bounds that the service promises."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler
from pydantic.annotated_handlers import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

Int32 = Annotated[int, Field(strict=True, ge=-(2**31), le=2**31 - 1)]
"""A JSON integer of 32 bits: no string, no boolean, no fraction."""

Coordinate = Int32
"""A place on the desktop in pixels; the machine knows which places exist."""

StrictBool = Annotated[bool, Field(strict=True)]
"""JSON ``true`` or ``false``, nothing that merely resembles one."""


@dataclass(frozen=True)
class Fitting:
    """Annotates a text that must fit a regular expression; ``words`` say so to people."""

    pattern: str
    words: str

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(str))

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, __: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "pattern": f"^{self.pattern}$"}

    def _checked(self, text: str) -> str:
        if re.fullmatch(self.pattern, text) is None:
            raise PydanticCustomError("string_pattern_mismatch", self.words)
        return text


MachineId = Annotated[
    str,
    Fitting(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}",
        "must be 1 to 128 letters, digits, dots, underscores and hyphens, and begin with one of "
        "the first two",
    ),
]
"""What an operator calls a machine."""


def _storable(value: Any) -> Any:
    """Refuse lone surrogates: they are no Unicode text and no database or socket takes them."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("must be valid Unicode, without lone surrogates") from None
    return value


Storable = BeforeValidator(_storable)
"""Put it after the bounds of a text, so that these speak of characters, not of items."""

Text = Annotated[str, Storable]
"""Any Unicode text that can be stored and sent."""

Note = Annotated[str, Field(min_length=1, max_length=1000), Storable]
"""What somebody wrote down for others to read, 1 to 1000 characters."""

Name = Annotated[str, Field(min_length=1, max_length=255), Storable]
"""A name that people gave, 1 to 255 characters."""
