"""MCP clients: the SDK's own, of both generations of the protocol, and bare messages."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ImageContent, TextContent

from tests.service import Reply, Service

MODES = ("2026-07-28", "legacy")
"""The newest version, and those that begin with initialize."""


@asynccontextmanager
async def mcp_client(url: str, token: str, mode: str = MODES[0]) -> AsyncIterator[Client]:
    """A client that calls the tools of a server."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    (text,) = (part.text for part in result.content if isinstance(part, TextContent))
    return text


def facts_of(result: CallToolResult) -> Any:
    """What a call that went well says."""
    assert not result.is_error, text_of(result)
    return json.loads(text_of(result))


def refusal_of(result: CallToolResult) -> str:
    """What a call that did not go well says."""
    assert result.is_error, text_of(result)
    return text_of(result)


def pictures_of(result: CallToolResult) -> list[ImageContent]:
    """The pictures of a result."""
    return [part for part in result.content if isinstance(part, ImageContent)]


def called(
    name: str,
    arguments: Mapping[str, Any],
    *,
    number: int = 1,
    meta: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The message that calls a tool, as hosts of the older versions send it."""
    params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


async def call(
    service: Service, name: str, arguments: Mapping[str, Any], *, token: str = "", **options: Any
) -> CallToolResult:
    """Call a tool by one bare message."""
    reply = await service.post("/mcp", called(name, arguments, **options), token=token)
    return result_of(reply)


def result_of(reply: Reply) -> CallToolResult:
    """The result of a tool that a bare message called."""
    assert reply.status == 200, reply.body
    return CallToolResult.model_validate(reply.json["result"])
