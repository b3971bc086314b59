"""Cables carry what they are given, until they are cut or held up, and then once mended."""

import socket
from collections.abc import Iterator
from typing import Any

import pymongo
import pytest

from tests.faults.cabling import Cable, Cabling
from tests.faults.node import Nats, NodeCables
from tests.faults.replica_set import ReplicaSet, uri_of
from tests.processes import until

WAIT_SECONDS = 30.0
SILENCE_SECONDS = 0.2


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(WAIT_SECONDS)
        yield server


@pytest.fixture
def cable(server: socket.socket) -> Iterator[Cable]:
    with Cabling() as cabling:
        yield cabling.lay(server.getsockname())


def connected(cable: Cable, server: socket.socket) -> tuple[socket.socket, socket.socket]:
    near = socket.create_connection(("127.0.0.1", cable.port), WAIT_SECONDS)
    far, _ = server.accept()
    far.settimeout(WAIT_SECONDS)
    return near, far


def is_over(end: socket.socket) -> bool:
    try:
        return end.recv(100) == b""
    except ConnectionResetError:
        return True


def is_turned_away(cable: Cable) -> bool:
    # The reset may come before the connection is there for us.
    try:
        with socket.create_connection(("127.0.0.1", cable.port), WAIT_SECONDS) as end:
            return is_over(end)
    except ConnectionResetError:
        return True


def test_cut_cable_resets_both_ends_and_lets_nobody_in(cable: Cable, server: socket.socket) -> None:
    near, far = connected(cable, server)
    with near, far:
        near.sendall(b"there")
        assert far.recv(100) == b"there"
        far.sendall(b"back")
        assert near.recv(100) == b"back"
        cable.cut()
        assert is_over(near)
        assert is_over(far)
    assert is_turned_away(cable)
    cable.mend()
    near, far = connected(cable, server)
    with near, far:
        near.sendall(b"again")
        assert far.recv(100) == b"again"


def test_held_cable_brings_everything_once_it_is_mended(
    cable: Cable, server: socket.socket
) -> None:
    near, far = connected(cable, server)
    with near, far:
        cable.hold()
        near.sendall(b"late")
        far.settimeout(SILENCE_SECONDS)
        with pytest.raises(TimeoutError):
            far.recv(100)
        far.settimeout(WAIT_SECONDS)
        cable.mend()
        assert far.recv(100) == b"late"


def test_end_of_one_side_is_the_end_of_the_other(cable: Cable, server: socket.socket) -> None:
    near, far = connected(cable, server)
    with near, far:
        far.close()
        assert is_over(near)


def test_driver_reaches_every_member_of_a_replica_set_by_its_cables_alone(
    tmp_path: Any,
) -> None:
    with (
        ReplicaSet.running(tmp_path / "mongodb") as replica_set,
        NodeCables.laid(Nats(tmp_path), replica_set) as cables,
    ):
        ports = {cable.port for cable in cables.mongodb}
        with pymongo.MongoClient[dict[str, Any]](uri_of(*ports)) as client:
            with client.start_session() as session, session.start_transaction():
                client.test.documents.insert_one({"number": 1}, session=session)
            until(lambda: len(client.nodes) == len(ports), "the driver knows all members")
            assert {port for _, port in client.nodes} == ports
            for cable in cables.mongodb:
                cable.cut()
            with pymongo.timeout(1), pytest.raises(pymongo.errors.ConnectionFailure):
                client.test.documents.find_one()
            for cable in cables.mongodb:
                cable.mend()
            until(lambda: client.test.documents.count_documents({}) == 1, "it comes back")
