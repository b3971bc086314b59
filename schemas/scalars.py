"""Scalar types that several schemas share, with the bounds that the service promises."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

Int32 = Annotated[int, Field(strict=True, ge=-(2**31), le=2**31 - 1)]
"""A JSON integer of 32 bits: no string, no boolean, no fraction."""

Coordinate = Int32
"""A place on the desktop in pixels; the machine knows which places exist."""

StrictBool = Annotated[bool, Field(strict=True)]
"""JSON ``true`` or ``false``, nothing that merely resembles one."""

MachineId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
"""What an operator calls a machine: 1 to 128 letters, digits, dots, underscores and hyphens."""


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

Name = Annotated[str, Field(min_length=1, max_length=255), Storable]
"""A name that people gave, 1 to 255 characters."""
