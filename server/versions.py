"""Whether a machine client is of an older version than this server."""

import re
from functools import lru_cache
from importlib.metadata import version
from typing import Final

VERSION: Final = version("farhand")

_PARTS: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9}){0,9})(.*)", re.ASCII)


@lru_cache(256)
def is_outdated(client_version: str | None) -> bool:
    """Whether a machine client said that it is older; what cannot be read is not called so."""
    if client_version is None or (theirs := _order(client_version)) is None:
        return False
    ours = _order(VERSION)
    return ours is not None and theirs < ours


def _order(text: str) -> tuple[list[int], bool] | None:
    """What versions are compared by: their numbers, and whether they are more than previews."""
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    numbers = [int(each) for each in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        del numbers[-1]
    return numbers, not found[2] or found[2].startswith(("+", ".post"))
