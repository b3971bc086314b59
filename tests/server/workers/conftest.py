"""A socket that workers share."""

import socket
from collections.abc import Iterator

import pytest

from server.foundation import bind


@pytest.fixture
def bound() -> Iterator[socket.socket]:
    (each,) = bind("127.0.0.1", 0)
    with each:
        yield each
