"""Scalar types that several schemas share, with the bounds that the service promises."""

from typing import Annotated

from pydantic import AfterValidator, Field

Int32 = Annotated[int, Field(strict=True, ge=-(2**31), le=2**31 - 1)]
"""A JSON integer of 32 bits: no string, no boolean, no fraction."""

Coordinate = Int32
"""A place on the desktop in pixels; the machine knows which places exist."""

StrictBool = Annotated[bool, Field(strict=True)]
"""JSON ``true`` or ``false``, nothing that merely resembles one."""

MachineId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
"""What an operator calls a machine: 1 to 128 letters, digits, dots, underscores and hyphens."""


def _storable(text: str) -> str:
    """Refuse lone surrogates: they are no Unicode text and no database or socket takes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode, without lone surrogates") from None
    return text


Text = Annotated[str, AfterValidator(_storable)]
"""Any Unicode text that can be stored and sent."""

Name = Annotated[Text, Field(min_length=1, max_length=255)]
"""A name that people gave, 1 to 255 characters."""
