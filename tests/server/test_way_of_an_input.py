"""The way of an input through the server: short, and no folder is entered twice."""

import sys
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import server
from server.machines.websocket.machine_websocket import MachineWebSocket
from tests.service import Service

MOST_FILES = 20
HANDLER = Path("api/machines/sending.py")
SERVER = Path(server.__file__).parent


def files_on_the_way(frame: FrameType | None) -> list[Path]:
    """Those of the server that are in the middle of a call, from the request to this frame."""
    called = []
    while frame is not None:
        called.append(Path(frame.f_code.co_filename))
        frame = frame.f_back
    ours = [each.relative_to(SERVER) for each in reversed(called) if each.is_relative_to(SERVER)]
    return [each for each, _ in groupby(ours)]


async def test_input_goes_from_its_handler_to_its_machine_through_each_folder_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[list[Path]] = []
    send_text = MachineWebSocket.send_text

    def seen(self: Any, text: str) -> Any:
        ways.append(files_on_the_way(sys._getframe()))
        return send_text(self, text)

    async with service.joined() as (machine, link):
        monkeypatch.setattr(MachineWebSocket, "send_text", seen)
        await link.obeys(machine.moving())
    (way,) = (each for each in ways if HANDLER in each)
    after_the_handler = way[way.index(HANDLER) :]
    assert len(after_the_handler) <= MOST_FILES
    rooms = [str(room) for room, _ in groupby(each.parent for each in after_the_handler)]
    assert rooms == ["api/machines", "dispatch", "dispatch/here", "dispatch/ledger", "machines"]
