"""Two nodes, of which the first has the machine's link."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from tests.nats import NatsServer
from tests.nodes import running_nodes
from tests.service import Service
from tests.store import entered

DATABASE = "test_nodes"
"""One for all: to make a database takes longer than to start a node."""


@pytest.fixture
def nodes(
    io_loop: IOLoop,
    mongodb: str,
    nats_server: NatsServer,
    tmp_path: Path,
    settings: dict[str, Any],
) -> Iterator[list[Service]]:
    """Nodes ``a`` and ``b``, as one organization sees them."""
    nats_server.start()
    running = running_nodes(mongodb, DATABASE, nats_server.url, tmp_path, "a", "b", **settings)
    with entered(io_loop, running) as nodes:
        yield nodes
