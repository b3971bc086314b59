"""Which programs are connected to a compositor: those without a window may draw what it tells not.

The kernel tells which sockets are connected to which, and a process which are its own.
"""

import contextlib
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 16 * 1024 * 1024
_SECONDS: Final = 1.0

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST_AND_DUMP: Final = 0x301
_ERROR, _DONE = 2, 3
_ESTABLISHED: Final = 1 << 1
_SHOW_FILE_AND_PEER: Final = 2 | 4
_FILE, _PEER = 1, 2
_HEADER: Final = struct.Struct("=IHHII")
_QUESTION: Final = struct.Struct("=BBHIII2I")
_MESSAGE: Final = struct.Struct("=BBBBI2I")
_ATTRIBUTE: Final = struct.Struct("=HH")
_INODE: Final = struct.Struct("=I")


def unknown_clients(path: str, known: set[int]) -> list[str]:
    """The names of processes that are connected at a path, but for those that are known.

    One that is another user's cannot be named.  Raises OSError where the kernel does not tell.
    """
    sockets = connected(Path(path).stat().st_ino)
    names: list[str] = []
    for process in (*known, *_others(known)):
        if not sockets:
            return names
        own = sockets & _sockets_of(process)
        sockets -= own
        if own and process not in known:
            names.append(_name(process))
    return [*names, *(["a program that cannot be named"] if sockets else [])]


def runs(name: str, *, user_of: int) -> bool:
    """Whether a program of this name runs for the user of a process.  Raises OSError."""
    user = Path(f"/proc/{user_of}").stat().st_uid
    for process in _others(set()):
        with contextlib.suppress(OSError):
            if _name(process) == name and Path(f"/proc/{process}").stat().st_uid == user:
                return True
    return False


def connected(file: int) -> set[int]:
    """The sockets at the other end of all that were accepted at this file.  Raises OSError."""
    found: set[int] = set()
    alive: set[int] = set()
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(_SECONDS)
        asked = _QUESTION.pack(socket.AF_UNIX, 0, 0, _ESTABLISHED, 0, _SHOW_FILE_AND_PEER, 0, 0)
        kernel.send(
            _HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _REQUEST_AND_DUMP, 1, 0) + asked
        )
        size = 0
        while size < MOST_BYTES:
            told = kernel.recv(256 * 1024)
            size += len(told)
            for kind, body in _parts(told, _HEADER):
                if kind == _ERROR:
                    raise OSError("the kernel does not tell of sockets")
                if kind == _DONE:
                    return found & alive
                alive.add(_MESSAGE.unpack_from(body)[4])
                attributes = dict(_parts(body[_MESSAGE.size :], _ATTRIBUTE))
                of_file, peer = attributes.get(_FILE, b""), attributes.get(_PEER, b"")
                if peer and of_file and _INODE.unpack_from(of_file)[0] == file & 0xFFFFFFFF:
                    found.add(_INODE.unpack(peer)[0])
    raise OSError("there are too many sockets")


def _parts(data: bytes, head: struct.Struct) -> Iterator[tuple[int, bytes]]:
    """The kind and the body of each part; a length is that with its head, and padded to four."""
    place = 0
    while place + head.size <= len(data):
        length, kind, *_ = head.unpack_from(data, place)
        if length < head.size:
            return
        yield kind, data[place + head.size : place + length]
        place += (length + 3) & ~3


def _others(known: set[int]) -> Iterator[int]:
    for each in Path("/proc").iterdir():
        if each.name.isdecimal() and int(each.name) not in known:
            yield int(each.name)


def _sockets_of(process: int) -> set[int]:
    """The sockets that a process has; none where that may not be known."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for each in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(each.readlink())
                if target.startswith("socket:["):
                    found.add(int(target[8:-1]))
    return found


def _name(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text(errors="replace").strip()
    return "a program that has just ended"
