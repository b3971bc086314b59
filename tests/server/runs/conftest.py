"""A machine that does what runs ask of it."""

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from tests.runs import Player, playing
from tests.service import ScriptedMachine, Service
from tests.store import entered


@pytest.fixture
def player(io_loop: IOLoop, service: Service, machine: ScriptedMachine) -> Iterator[Player]:
    """The machine desk-1, which is connected and does what it is asked."""
    with entered(io_loop, playing(service, machine)) as player:
        yield player
