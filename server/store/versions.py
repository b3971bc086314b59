"""Versions of things that change: what tells one state of a thing from every other."""

from collections.abc import Collection
from datetime import datetime

from server.errors import VersionMismatch
from server.store.mongodb.documents import Document

Versions = Collection[int] | None
"""Which versions a request is about; None is any."""


def first_version(time: datetime) -> int:
    """The version of something made now: milliseconds since 1970.

    Each change counts one up.  So what is deleted and made anew under the same id does not repeat
    a version, unless it had been changed more than a thousand times a second.
    """
    return int(time.timestamp() * 1000)


def check_version(document: Document, wanted: Versions) -> None:
    """Raise VersionMismatch unless what is stored has one of the versions."""
    version = document["version"]
    if wanted is not None and version not in wanted:
        raise VersionMismatch(f"It has changed: its version is {version}.")
