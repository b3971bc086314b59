"""The sockets of several workers are the same ones."""

import os
import socket
from pathlib import Path

import pytest

from server.foundation import StartError
from server.settings import ServerSettings
from server.workers.inherited import InheritedFoundation
from server.workers.place import WorkerPlace

URI = "mongodb://user:secret@host/"


def inherited(tmp_path: Path, *descriptors: int, uri: str | None = URI) -> InheritedFoundation:
    settings = ServerSettings(data_dir=tmp_path, mongodb_uri=uri)
    return InheritedFoundation(
        WorkerPlace(group="g1", settings=settings, sockets=descriptors, reports=-1)
    )


async def test_workers_accept_from_one_socket(bound: socket.socket, tmp_path: Path) -> None:
    one, two = (inherited(tmp_path, os.dup(bound.fileno())) for _ in range(2))
    address = bound.getsockname()
    assert one.port == two.port == address[1]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    for foundation in (one, two):
        (listening,) = foundation.listen()
        with socket.create_connection(address) as client, listening:
            accepted, peer = listening.accept()
            with accepted:
                assert peer == client.getsockname()
    # What one of them has closed is still open for the others.
    socket.create_connection(address).close()


async def test_what_is_not_listened_on_is_released(bound: socket.socket, tmp_path: Path) -> None:
    descriptor = os.dup(bound.fileno())
    foundation = inherited(tmp_path, descriptor)
    assert not os.get_inheritable(descriptor)
    await foundation.release()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


async def test_database_is_the_parents(bound: socket.socket, tmp_path: Path) -> None:
    foundation = inherited(tmp_path, os.dup(bound.fileno()))
    assert foundation.embedded is None
    assert foundation.group == "g1"
    assert await foundation.mongodb_uri() == URI
    await foundation.release()
    foundation = inherited(tmp_path, os.dup(bound.fileno()), uri=None)
    with pytest.raises(StartError, match="not told where MongoDB is"):
        await foundation.mongodb_uri()
    await foundation.release()


def test_descriptor_that_is_none_is_said(tmp_path: Path) -> None:
    readable, writable = os.pipe()
    os.close(writable)
    os.close(readable)
    with pytest.raises(StartError, match="inherited no sockets"):
        inherited(tmp_path, readable)
