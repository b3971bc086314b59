"""What a server answered, and which error that is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from farhand.errors import NotFarhand, Refused, refused

_PROBLEM = "application/problem+json"
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole of an answer; its headers are found in any case of letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded.  Raises ValueError."""
        return json.loads(self.body)

    @property
    def is_success(self) -> bool:
        """Whether what was asked for was done."""
        return 200 <= self.status < 300 or self.status == 304

    @property
    def is_replayed(self) -> bool:
        """Whether it was given before, under the same key."""
        return self.headers.get("Idempotency-Replayed") == "true"

    def refusal(self, key: str | None = None) -> Refused | None:
        """The error that a Farhand server answered with; None where no such server says this."""
        is_problem = self.headers.get("Content-Type", "").startswith(_PROBLEM)
        if self.status != 422 and not is_problem:
            return None
        try:
            return refused(self.status, self.json, self.headers, key)
        except (ValueError, KeyError, TypeError):
            return None

    def stranger(self, url: str) -> NotFarhand:
        """The error where no Farhand server answered."""
        said = f"it answered HTTP {self.status}"
        if self.status in _REDIRECTS:
            said += ", which leads elsewhere, and a token is not sent there: give the final URL"
        elif self.is_success:
            said = "its answer is not what this library knows"
        error = NotFarhand(f"what answers at {url} is no Farhand server, or not it alone: {said}")
        error.status = self.status
        return error
