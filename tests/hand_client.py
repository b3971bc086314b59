"""The other end of a hand's websocket, as a program would speak it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

SUBPROTOCOL = "farhand.hand.v1"
PATIENCE_SECONDS = 60.0


LEASE_SPELLINGS = ("control/", "%63ontrol/", "control%2F", "/control/", "%2563ontrol/", "x?")
"""What may stand before a lease in the address of a machine, and what is none but looks like it."""


def hand_path(machine: str, lease: str) -> str:
    return f"/v1/machines/{machine}/control/{lease}/hand"


def handshake(
    url: str, path: str, headers: Mapping[str, str], subprotocol: str = SUBPROTOCOL
) -> connect:
    """Begin the websocket."""
    return connect(
        url.replace("http:", "ws:") + path,
        additional_headers=dict(headers),
        subprotocols=[Subprotocol(subprotocol)],
        compression=None,
        ping_interval=None,
        proxy=None,
    )


class HandClient:
    """Numbers its batches by itself."""

    def __init__(self, websocket: ClientConnection) -> None:
        self.websocket = websocket
        self.sequence = 0

    @classmethod
    @asynccontextmanager
    async def on(cls, url: str, path: str, token: str) -> AsyncIterator["HandClient"]:
        headers = {"Authorization": f"Bearer {token}"}
        async with handshake(url, path, headers) as websocket:
            yield cls(websocket)

    async def does(self, *events: dict[str, Any]) -> int:
        """Send a batch; its number."""
        self.sequence += 1
        await self.says({"sequence": self.sequence, "events": events})
        return self.sequence

    async def says(self, message: Any) -> None:
        """Send anything."""
        await self.websocket.send(
            message if isinstance(message, str | bytes) else json.dumps(message)
        )

    async def hears(self) -> Any:
        """The next message."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return json.loads(await self.websocket.recv())

    async def until_acknowledged(self, sequence: int | None = None) -> None:
        """Wait until a batch, the last one unless told otherwise, has its end."""
        wanted = self.sequence if sequence is None else sequence
        while (message := await self.hears())["type"] != "acknowledged" or message[
            "sequence"
        ] < wanted:
            assert message["type"] == "acknowledged", message

    async def closed(self) -> tuple[int, str]:
        """With which code and words the server closes it."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            with suppress(ConnectionClosed):
                while True:
                    await self.websocket.recv()
        return self.websocket.close_code or 0, self.websocket.close_reason or ""


def move(x: int, y: int) -> dict[str, Any]:
    return {"type": "move", "x": x, "y": y}


def button(down: bool, name: str = "left", **place: int) -> dict[str, Any]:
    return {"type": "button", "button": name, "down": down, **place}


def key(name: str, down: bool) -> dict[str, Any]:
    return {"type": "key", "key": name, "down": down}


def stroke(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return key(name, True), key(name, False)


def wheel(direction: str, amount: int = 1) -> dict[str, Any]:
    return {"type": "wheel", "direction": direction, "amount": amount}
