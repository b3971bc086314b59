"""Two nodes, of which the first has the machine's link."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from tests.nats import NatsServer
from tests.nodes import running_nodes
from tests.service import Service

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
    with ExitStack() as ending:
        nodes = io_loop.run_sync(running.__aenter__)
        ending.callback(io_loop.run_sync, lambda: running.__aexit__(None, None, None))
        yield nodes
