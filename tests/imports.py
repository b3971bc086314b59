"""Imports over HTTP: their lines, and what each was answered."""

import json
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from tests.service import Reply, Service
from tests.trajectories import sent

PATH = "/v1/trajectories/import"
REQUEST = f"POST {PATH}"
LINES = {"Content-Type": "application/x-ndjson"}
CHUNKED = "Transfer-Encoding: chunked"


def line(**fields: Any) -> bytes:
    """A line of an import, with an id of its own unless told otherwise."""
    return json.dumps(sent(**{"id": str(uuid4()), **fields})).encode() + b"\n"


async def send(
    service: Service, lines: Iterable[bytes], *, token: str | None = "", **headers: str
) -> Reply:
    """Send lines in one request."""
    given = {**LINES, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await service.post(PATH, content=b"".join(lines), token=token, headers=given)


async def imported(
    service: Service, lines: Iterable[bytes], *, token: str | None = "", **headers: str
) -> list[dict[str, Any]]:
    """The answers to lines, each an object."""
    reply = await send(service, lines, token=token, **headers)
    assert reply.status == 200, reply.body
    assert reply.headers["Content-Type"] == LINES["Content-Type"]
    return answers(reply.body)


def answers(body: bytes) -> list[dict[str, Any]]:
    """What a body says of each line."""
    assert body.endswith(b"\n") or not body
    return [json.loads(text) for text in body.splitlines()]


def outcomes(of: Iterable[dict[str, Any]]) -> list[str]:
    """The outcomes alone."""
    return [each["outcome"] for each in of]


async def kept(service: Service, **query: str) -> list[dict[str, Any]]:
    """All that the service's organization has."""
    chosen = "".join(f"&{name}={value}" for name, value in query.items())
    reply = await service.get(f"/v1/trajectories?is_generated=null&limit=1000{chosen}")
    items: list[dict[str, Any]] = reply.json["items"]
    return items
