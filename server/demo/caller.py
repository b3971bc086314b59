"""The demo's HTTP client: one connection, and the time that each answer took."""

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from schemas.http.problems import ValidationErrorBody, sentence
from server.demo import DemoError

REQUEST_SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    """What the server answered; ``milliseconds`` is from the request's first byte to its last."""

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
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(
            parts.hostname or "", parts.port, timeout=REQUEST_SECONDS
        )
        self._token = token

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._connection.close()

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request and return the answer, whatever its status; raises DemoError."""
        content = None if body is None else json.dumps(body).encode()
        all_headers = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        if content is not None:
            all_headers["Content-Type"] = "application/json"
        begun = time.perf_counter()
        try:
            self._connection.request(method, path, content, all_headers)
            response = self._connection.getresponse()
            received = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise DemoError(f"{method} {path} was not answered: {error!r}") from None
        took = (time.perf_counter() - begun) * 1000
        return Answer(response.status, dict(response.headers), received, took)

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
        content = answer.json()
        if answer.status == 422:
            return "; ".join(map(sentence, ValidationErrorBody.model_validate(content).detail))
        return f"{content['title']}: {content['detail']}"
    except (ValueError, KeyError, TypeError):
        return "no words of its own"
