"""The demo's HTTP client: one connection, and the time that each answer took."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from server.client.replies import said_by
from server.demo import DemoError

REQUEST_SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    """What the server answered; ``milliseconds`` is from the request to the answer's last byte."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    milliseconds: float

    def json(self) -> Any:
        """The body's content."""
        return json.loads(self.body)


class Caller:
    """Sends requests to the demo's server with its administrator's token."""

    def __init__(self, address: str, token: str) -> None:
        # Imported late, for the reason that stands there.
        from server.client.connections import Connection  # noqa: PLC0415

        self._connection = Connection(address, token, REQUEST_SECONDS)

    def close(self) -> None:
        """Close the connection; nothing can be sent any more."""
        self._connection.close()

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request and return the answer, whatever its status; raises DemoError."""
        content = None if body is None else json.dumps(body).encode()
        try:
            with self._connection.opened(method, path, content, headers) as response:
                received = response.read()
        except OSError as error:
            raise DemoError(f"{method} {path} was not answered: {error!r}") from None
        took = response.elapsed.total_seconds() * 1000
        return Answer(response.status_code, response.headers, received, took)

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request that must succeed; raises DemoError with the server's own words."""
        answer = self.send(method, path, body, headers)
        if answer.status >= 300:
            raise DemoError(f"{method} {path} was answered {answer.status}: {_words(answer)}")
        return answer


def _words(answer: Answer) -> str:
    try:
        return said_by(answer.status, answer.json())
    except (ValueError, KeyError, TypeError, ValidationError):
        return "no words of its own"
