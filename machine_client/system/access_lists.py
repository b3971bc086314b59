"""Lists of access, as Windows keeps one for each file: who is allowed what.

What a descriptor means is read from its bytes, which are as Microsoft's [MS-DTYP] has them
(SECURITY_DESCRIPTOR, ACL, ACE and SID, sections 2.4.2 to 2.4.6).
"""

import struct
from typing import Final

_DACL_IS_THERE: Final = 0x0004  # SE_DACL_PRESENT
_CONTROL, _DACL = 2, 16  # where a descriptor says so
_DESCRIPTOR_BYTES, _LIST_BYTES, _ENTRY_BYTES, _SID_BYTES = 20, 8, 8, 8

_ALLOWS: Final = frozenset({0, 9})  # ACCESS_ALLOWED_ACE_TYPE, and with a condition
_FOR_CHILDREN_ALONE: Final = 0x08  # INHERIT_ONLY_ACE
_READS: Final = 0x00000001 | 0x80000000 | 0x10000000  # FILE_READ_DATA, GENERIC_READ, GENERIC_ALL

EVERYONE: Final = "S-1-1-0"
SYSTEM: Final = "S-1-5-18"
ADMINISTRATORS: Final = "S-1-5-32-544"
OWNER: Final = "S-1-3-4"
TRUSTED: Final = frozenset({SYSTEM, ADMINISTRATORS, OWNER})
"""Who reads every file of Windows, or owns this one."""

_NAMES: Final = {
    EVERYONE: "Everyone",
    "S-1-5-11": "all users who are logged on",
    "S-1-5-32-545": "Users",
    "S-1-5-32-546": "Guests",
}


def readers(descriptor: bytes) -> list[str]:
    """The SIDs that a self-relative descriptor allows to read, in its order.

    What it denies is not taken away: who is named here may be kept out by that all the same.
    A descriptor that cannot be read allows everyone.
    """
    try:
        return _readers(descriptor)
    except struct.error:
        return [EVERYONE]


def name_of(sid: str) -> str:
    """How a person knows it, in English; else as it is."""
    return _NAMES.get(sid, sid)


def _readers(descriptor: bytes) -> list[str]:
    (control,) = struct.unpack_from("<H", descriptor, _CONTROL)
    (place,) = struct.unpack_from("<I", descriptor, _DACL)
    if not control & _DACL_IS_THERE or place < _DESCRIPTOR_BYTES:
        return [EVERYONE]  # without a list, all is allowed
    (count,) = struct.unpack_from("<H", descriptor, place + 4)
    place += _LIST_BYTES
    found: dict[str, None] = {}
    for _ in range(count):
        kind, flags, size, mask = struct.unpack_from("<BBHI", descriptor, place)
        if kind in _ALLOWS and not flags & _FOR_CHILDREN_ALONE and mask & _READS:
            found[_sid(descriptor, place + _ENTRY_BYTES)] = None
        place += max(size, _ENTRY_BYTES)
    return list(found)


def _sid(content: bytes, place: int) -> str:
    revision, parts = struct.unpack_from("<BB", content, place)
    authority = int.from_bytes(content[place + 2 : place + _SID_BYTES], "big")
    numbers = struct.unpack_from(f"<{parts}I", content, place + _SID_BYTES)
    return "-".join(map(str, ("S", revision, authority, *numbers)))
