"""JSON text of what was decoded from it, without a second copy of a long text on the way.

Python's encoder makes three of each text: quoted, joined and encoded.  Where a text is twelve
million characters long, and one of them needs four bytes, each copy takes 48 MB.
"""

import json
from collections.abc import Iterator
from io import BytesIO
from itertools import chain, groupby
from typing import Any, Final

PIECE_CHARACTERS: Final = 64 * 1024
"""A text that is longer is encoded in pieces of this length."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode_json(value: Any) -> bytes:
    """Compact JSON in UTF-8.  Raises ValueError for what is not JSON, such as NaN."""
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode, without lone surrogates") from None
    except RecursionError:
        raise ValueError("must not be nested so deeply") from None
    except ValueError:
        # A JSON number can exceed what a double holds, and then reads as an infinity.
        raise ValueError("must have numbers that are finite and fit a double") from None


def encode_long_json(value: Any) -> bytes:
    """The same as :func:`encode_json` of a decoded value that may hold long texts."""
    holders: set[int] = set()
    try:
        if not _holds_long_text(value, holders):
            return encode_json(value)
        written = BytesIO()
        written.writelines(_pieces(value, holders))
    except RecursionError:
        raise ValueError("must not be nested so deeply") from None
    return written.getvalue()


def _holds_long_text(value: Any, holders: set[int]) -> bool:
    """Whether there is a long text in it; notes the ids of all arrays and objects that hold one."""
    if type(value) is str:
        return len(value) > PIECE_CHARACTERS
    children = chain(value, value.values()) if type(value) is dict else value
    is_holder = False
    if type(value) is dict or type(value) is list:
        for each in children:
            # No call for a number or null: there can be a hundred thousand.
            if type(each) is str:
                is_holder |= len(each) > PIECE_CHARACTERS
            elif type(each) is dict or type(each) is list:
                is_holder |= _holds_long_text(each, holders)
    if is_holder:
        holders.add(id(value))
    return is_holder


def _pieces(value: Any, holders: set[int]) -> Iterator[bytes]:
    """The text of a value in pieces."""
    if type(value) is str:
        yield b'"'
        for start in range(0, len(value), PIECE_CHARACTERS):
            yield encode_json(value[start : start + PIECE_CHARACTERS])[1:-1]
        yield b'"'
    elif id(value) not in holders:
        yield encode_json(value)
    else:
        separator, end = (b"{", b"}") if type(value) is dict else (b"[", b"]")
        for part in _parts(value, holders):
            yield separator
            yield from part
            separator = b","
        yield end


def _parts(value: Any, holders: set[int]) -> Iterator[Iterator[bytes]]:
    """What stands between the commas; what holds nothing long is encoded together."""

    def is_long(each: Any) -> bool:
        return len(each) > PIECE_CHARACTERS if type(each) is str else id(each) in holders

    if type(value) is list:
        for are_long, run in groupby(value, is_long):
            if are_long:
                yield from (_pieces(each, holders) for each in run)
            else:
                yield _inside(list(run))
        return
    for are_long, members in groupby(value.items(), lambda member: any(map(is_long, member))):
        if are_long:
            yield from (_member(key, each, holders) for key, each in members)
        else:
            yield _inside(dict(members))


def _member(key: str, value: Any, holders: set[int]) -> Iterator[bytes]:
    yield from _pieces(key, holders)
    yield b":"
    yield from _pieces(value, holders)


def _inside(value: Any) -> Iterator[bytes]:
    """An array or an object without its brackets."""
    yield encode_json(value)[1:-1]
