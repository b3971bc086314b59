"""One MCP message over HTTP, answered by the SDK: from Tornado's terms to ASGI's and back.

Nothing outlives the request: there are no sessions, and every request has a server of its own.
"""

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from farhand import AsyncFarhand
from server.mcp.own_handlers import Caller, OwnHandlers
from server.mcp.protocol import tool_server

__all__ = ["Caller", "answer"]

_KEPT = ("content-type", "host", "mcp-")
"""What the SDK is told of the headers; a token is not among them."""

_ACCEPT = (b"accept", b"application/json, text/event-stream")
"""Every answer is JSON, whatever is asked for: so it is everywhere else on this server."""


@dataclass
class HttpAnswer:
    """An answer of the SDK's."""

    status: int = 500
    media_type: str | None = None
    body: bytes = b""


async def answer(
    application: Any, caller: Caller, headers: Iterable[tuple[str, str]], body: bytes
) -> HttpAnswer:
    """The answer to a POST with an MCP message, whose tools ask ``application`` as the caller."""
    transport = OwnHandlers(application, caller)
    async with AsyncFarhand(
        "http://farhand", caller.token, transport=transport, wait_for_machine=False
    ) as farhand:
        manager = StreamableHTTPSessionManager(
            tool_server(farhand, caller.digest), stateless=True, json_response=True
        )
        async with manager.run():
            return await _answered(manager, headers, body)


async def _answered(
    manager: StreamableHTTPSessionManager, headers: Iterable[tuple[str, str]], body: bytes
) -> HttpAnswer:
    lowered = ((name.lower(), value) for name, value in headers)
    kept = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in lowered
        if name.startswith(_KEPT)
    ]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "headers": [_ACCEPT, *kept],
    }
    requests = [{"type": "http.request", "body": body, "more_body": False}]
    answered = HttpAnswer()

    async def receive() -> MutableMapping[str, Any]:
        return requests.pop() if requests else {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answered.status = message["status"]
            media_type = dict(message["headers"]).get(b"content-type")
            answered.media_type = None if media_type is None else media_type.decode("latin-1")
        else:
            answered.body += message.get("body", b"")

    await manager.handle_request(scope, receive, send)
    return answered
