"""Questions on sway's own socket, each bounded in time and size.

Only the sway of this Wayland socket is asked: SWAYSOCK may be that of another one, or of one that
has ended.
"""

import json
import os
import socket
import struct
import time
from pathlib import Path
from typing import Any, Final

from machine_client.desktop.base import DesktopError
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE

TREE: Final = 4
BARS: Final = 6

SECONDS: Final = 1.0
"""For sway to answer one question."""

MOST_BYTES: Final = 8 * 1024 * 1024
_MAGIC: Final = b"i3-ipc"
_HEADER: Final = struct.Struct("=6sII")
_CREDENTIALS: Final = struct.Struct("=3i")


def ask(wayland: str, kind: int, payload: str = "") -> Any:
    """What the sway that listens at ``wayland`` answers.  Raises DesktopError."""
    until = time.monotonic() + SECONDS
    try:
        with _connected(wayland, until) as connection:
            asked = payload.encode()
            connection.sendall(_HEADER.pack(_MAGIC, len(asked), kind) + asked)
            magic, length, _kind = _HEADER.unpack(_read(connection, _HEADER.size, until))
            if magic != _MAGIC or length > MOST_BYTES:
                raise refused("sway's own socket answered something else")
            return json.loads(_read(connection, length, until))
    except TimeoutError:
        raise refused("sway does not answer on its own socket") from None
    except (OSError, ValueError) as error:
        raise refused(f"sway's own socket cannot be asked ({error})") from error


def process_of(wayland: str) -> int:
    """The process that listens at a Wayland socket.  Raises OSError."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(SECONDS)
        connection.connect(wayland)
        return _listener(connection)


def refused(why: str) -> DesktopError:
    """Nothing was done, as it is not known where windows are."""
    return DesktopError(
        ELEMENTS_UNAVAILABLE,
        f"{why}, so that no place is that of an element for sure: element.invoke, "
        "element.set_value and element.focus work without places",
    )


def _connected(wayland: str, until: float) -> socket.socket:
    """A connection to that sway's own socket, wherever it is."""
    process = process_of(wayland)
    for path in _paths(wayland, process):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(max(0.01, until - time.monotonic()))
            connection.connect(path)
            if process and _listener(connection) == process:
                return connection
        except TimeoutError:
            connection.close()
            raise
        except OSError:
            pass
        connection.close()
    raise refused(
        "Wayland does not tell where windows are and what covers them, and no socket of sway's own "
        "was found, neither in SWAYSOCK nor beside the Wayland socket"
    )


def _paths(wayland: str, process: int) -> list[str]:
    """Where it may listen: as it is said, and where it does unless it is said."""
    said = os.environ.get("SWAYSOCK")
    beside = Path(wayland).parent.glob(f"sway-ipc.*.{process}.sock")
    return [*([said] if said else []), *map(str, beside)]


def _listener(connection: socket.socket) -> int:
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(told)[0])


def _read(connection: socket.socket, length: int, until: float) -> bytes:
    received = bytearray()
    while len(received) < length:
        connection.settimeout(max(0.01, until - time.monotonic()))
        part = connection.recv(min(64 * 1024, length - len(received)))
        if not part:
            raise OSError("it ended")
        received += part
        if time.monotonic() > until:
            raise TimeoutError
    return bytes(received)
