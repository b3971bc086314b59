"""What the parent hands over to a worker, and what the worker says in return.

It is handed over on the worker's standard input: it holds passwords, and whoever may see a
process may see its command line.
"""

import os
from contextlib import suppress
from typing import Self

from pydantic import BaseModel, Field, ValidationError

from schemas.values.strict import StrictModel
from server.settings import ServerSettings


class PlaceError(Exception):
    """Something else than a place was handed over; the message is a sentence for a person."""


class WorkerPlace(StrictModel):
    """Where a worker stands.

    ``settings`` are the parent's, with this node's name and with where MongoDB and NATS are,
    whoever runs them.  ``group`` is the parent's own random name, which all of its workers share.
    ``sockets`` and ``reports`` are inherited file descriptors: the bound sockets, and the end of a
    pipe on which the worker says how it is.
    """

    group: str = Field(min_length=1)
    settings: ServerSettings
    sockets: tuple[int, ...] = Field(min_length=1)
    reports: int

    def to_bytes(self) -> bytes:
        """What is written to the worker."""
        return self.model_dump_json().encode()

    @classmethod
    def from_bytes(cls, handed_over: bytes) -> Self:
        """Take what the parent wrote.  Raises PlaceError, which repeats none of it."""
        try:
            return cls.model_validate_json(handed_over)
        except ValidationError as error:
            what = {".".join(map(str, each["loc"])) or each["type"] for each in error.errors()}
            raise PlaceError(
                "only farhand serve --workers starts this command, and hands over what it needs; "
                f"what came is not that: {', '.join(sorted(what))}"
            ) from None

    def report(self, error: str | None = None) -> None:
        """Tell the parent that requests are answered, or what is in the way of that."""
        # A parent that has gone needs no report.
        with suppress(OSError):
            os.write(self.reports, WorkerReport(error=error).model_dump_json().encode() + b"\n")


class WorkerReport(BaseModel):
    """What a worker says of itself: that it answers requests, or why it cannot."""

    error: str | None = None
