"""Trajectories to look at and to review, and who does so."""

import base64
import struct
import zlib
from dataclasses import dataclass
from typing import Any

from schemas.resources.tokens import ADMINISTRATOR_SCOPES
from tests.browser.rig import Site

SIZE = {"width": 1280, "height": 800}
CLICK: dict[str, Any] = {"operation": "mouse.click", "after_ms": 350, "body": {"x": 320, "y": 200}}
DRAG: dict[str, Any] = {
    "operation": "mouse.drag",
    "body": {"start_x": 100, "start_y": 100, "to_x": 900, "to_y": 500},
}
HELD: dict[str, Any] = {
    "operation": "mouse.drag",
    "body": {
        **dict.fromkeys(("start_x", "start_y", "to_x", "to_y"), 9),
        "duration": 0.6,
        "modifiers": ["ctrl"],
    },
}
"""A button that is held in one place, with a modifier."""
KEYS = {"operation": "keyboard.key", "body": {"text": "ctrl+a"}}


def png(
    width: int,
    height: int,
    claimed: tuple[int, int] | None = None,
    color: tuple[int, int, int] = (255, 0, 0),
) -> bytes:
    """A picture of one color; one that claims another size is what a hostile sender makes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", *(claimed or (width, height)), 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes(color) * width) * height)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def text_of(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


@dataclass
class Library:
    """Trajectories of one workflow, which no other test uses."""

    site: Site
    workflow: str

    def add(self, name: str, *steps: dict[str, Any], **fields: Any) -> str:
        body = {
            "workflow_id": self.workflow,
            "name": name,
            "dimensions": SIZE,
            "trajectory_data": list(steps) or None,
            **fields,
        }
        answer = self.site.api.call("POST", "/v1/trajectories", body)
        assert answer.status == 201, answer.body
        return str(answer.json["id"])

    def keep(self, picture: bytes, kind: str = "image/png") -> str:
        """Keep a picture; its id."""
        answer = self.site.api.call("POST", "/v1/pictures", picture, {"Content-Type": kind})
        return str(answer.json["id"])

    def get(self, trajectory: str) -> Any:
        return self.site.api.call("GET", f"/v1/trajectories/{trajectory}").json


def somebody(site: Site) -> str:
    """The token of somebody else than who made the trajectories, who may do everything."""
    return str(site.new_token(*ADMINISTRATOR_SCOPES, name="Nora")["token"])
