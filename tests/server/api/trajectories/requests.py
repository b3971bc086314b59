"""Requests about trajectories that many tests send."""

from typing import Any
from urllib.parse import urlencode

from tests.service import Reply, Service
from tests.trajectories import sent


async def created(service: Service, **fields: Any) -> Reply:
    """The answer to the creation of a trajectory."""
    reply = await service.post("/v1/trajectories", sent(**fields))
    assert reply.status == 201, reply.body
    return reply


def path_of(reply: Reply) -> str:
    """Where what was created is."""
    return str(reply.headers["Location"])


async def patched(service: Service, path: str, body: Any, **headers: str) -> Reply:
    """The answer to a change."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await service.request("PATCH", path, body, headers=named)


async def names(service: Service, **query: Any) -> list[str | None]:
    """The names of the trajectories on a page."""
    reply = await service.get("/v1/trajectories?" + urlencode(query))
    assert reply.status == 200, reply.body
    return [item["name"] for item in reply.json["items"]]


async def made(service: Service, **fields: Any) -> Any:
    """A trajectory that was created."""
    return (await created(service, **fields)).json
