"""What a server answered, and what it says to people."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from schemas.http.problems import ValidationErrorBody
from schemas.values.validation_errors import sentence


@dataclass(frozen=True)
class Reply:
    """The whole of an answer; its headers are found in any case of letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def tag(self) -> str:
        """What names the version that was answered."""
        return self.headers.get("ETag", "")

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    def is_problem(self, name: str) -> bool:
        """Whether this is the problem of that name."""
        try:
            return bool(self.json["type"] == f"/problems/{name}")
        except (ValueError, KeyError, TypeError):
            return False

    @property
    def refusal(self) -> str:
        """What an error answer says, as a sentence."""
        try:
            return said_by(self.status, self.json)
        except (ValueError, KeyError, TypeError, ValidationError):
            return f"the server answered HTTP {self.status}"


def said_by(status: int, body: Any) -> str:
    """What the body of an error answer says, as a sentence."""
    if status == 422:
        return "; ".join(map(sentence, ValidationErrorBody.model_validate(body).detail))
    return f"{body['title']}: {body['detail']}"
