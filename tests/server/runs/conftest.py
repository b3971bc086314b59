"""A machine that does what runs ask of it, and a node that has no other runs."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from tornado.ioloop import IOLoop

from tests.nodes import running_nodes
from tests.runs import Player, playing
from tests.service import ScriptedMachine, Service
from tests.store import entered


@pytest.fixture
def player(io_loop: IOLoop, service: Service, machine: ScriptedMachine) -> Iterator[Player]:
    """The machine desk-1, which is connected and does what it is asked."""
    with entered(io_loop, playing(service, machine)) as player:
        yield player


@pytest.fixture
def node(io_loop: IOLoop, mongodb: str, nats_url: str, tmp_path: Path) -> Iterator[Service]:
    """A node alone with its database, which has no runs but those of the test."""
    nodes = running_nodes(mongodb, f"runs_{uuid4().hex}", nats_url, tmp_path, "a")
    with entered(io_loop, nodes) as (node,):
        yield node
