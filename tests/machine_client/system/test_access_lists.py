"""Who may read a file of Windows, from the bytes that Windows keeps for it."""

import struct

import pytest

from machine_client.system.access_lists import ADMINISTRATORS, EVERYONE, SYSTEM, name_of, readers

USER = "S-1-5-21-1-2-4294967295-1001"
READ, WRITE, FULL, GENERIC = 0x120089, 0x120116, 0x1F01FF, 0x80000000
ALLOW, DENY, FOR_CHILDREN = 0, 1, 0x08


def sid(text: str) -> bytes:
    revision, authority, *parts = map(int, text.split("-")[1:])
    head = bytes([revision, len(parts)]) + authority.to_bytes(6, "big")
    return head + struct.pack(f"<{len(parts)}I", *parts)


def entry(who: str, mask: int, kind: int = ALLOW, flags: int = 0) -> bytes:
    content = sid(who)
    return struct.pack("<BBHI", kind, flags, 8 + len(content), mask) + content


def descriptor(*entries: bytes) -> bytes:
    content = b"".join(entries)
    head = struct.pack("<BBHIIII", 1, 0, 0x8004, 0, 0, 0, 20)
    return head + struct.pack("<BBHHH", 2, 0, 8 + len(content), len(entries), 0) + content


def test_those_who_are_allowed_to_read_are_found() -> None:
    found = readers(
        descriptor(
            entry(USER, FULL),
            entry(SYSTEM, GENERIC),
            entry(EVERYONE, READ, DENY),
            entry("S-1-5-11", WRITE),
            entry(ADMINISTRATORS, READ, flags=FOR_CHILDREN),
            entry("S-1-5-32-545", READ),
            entry(USER, READ),
        )
    )
    assert found == [USER, SYSTEM, "S-1-5-32-545"]
    assert readers(descriptor()) == []


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("<BBHIIII", 1, 0, 0x8000, 0, 0, 0, 20),  # no list
        struct.pack("<BBHIIII", 1, 0, 0x8004, 0, 0, 0, 0),  # an empty one, which allows all
        descriptor(entry(USER, FULL))[:-6],
        b"",
    ],
)
def test_without_a_list_and_with_one_that_breaks_off_everyone_may(content: bytes) -> None:
    assert readers(content) == [EVERYONE]


def test_who_is_known_has_a_name() -> None:
    assert (name_of(EVERYONE), name_of(USER)) == ("Everyone", USER)
