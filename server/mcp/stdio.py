"""The tools over standard input and output, for a host that starts this program."""

import hashlib

from mcp.server.stdio import stdio_server

from farhand import AsyncFarhand
from server.mcp.protocol import tool_server


async def serve(url: str, token: str) -> None:
    """Answer the host's messages until it closes standard input.

    Raises ValueError where no server can have this address, or the token cannot be one.
    """
    caller = hashlib.sha256(token.encode()).digest()
    async with AsyncFarhand(url, token, wait_for_machine=False) as farhand:
        server = tool_server(farhand, caller)
        async with stdio_server() as (messages, answers):
            await server.run(messages, answers, server.create_initialization_options())
