"""A stream of events about machines, as a client of one node reads it."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any


def told(connection: http.client.HTTPConnection, token: str) -> Iterator[tuple[str, Any]]:
    """The ids and data of the events that come on a connection, from now on."""
    headers = {"Authorization": f"Bearer {token}"}
    connection.request("GET", "/v1/events?types=machine", headers=headers)
    response = connection.getresponse()
    assert response.status == 200
    # The first block says from where on it is told.
    while response.readline().strip():
        pass
    return _events(connection, response)


def _events(
    connection: http.client.HTTPConnection, response: http.client.HTTPResponse
) -> Iterator[tuple[str, Any]]:
    with closing(connection):
        block: dict[str, str] = {}
        while line := response.readline().decode():
            name, _, value = line.strip().partition(": ")
            if name:
                block[name] = value
            elif "data" in block:
                yield block["id"], json.loads(block["data"])
                block = {}
