"""What tests of several rooms need: a real MongoDB for the session, a database for each test."""

import asyncio
import itertools
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from server.store.embedded import EmbeddedMongoDB

# A shell that runs the tests in the background has them ignore Ctrl-C, and so all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says nothing of what is tested.
hypothesis.settings.register_profile("farhand", deadline=None)
hypothesis.settings.load_profile("farhand")

_DATABASE_NUMBERS = itertools.count(1)

_LONGEST = ("tests/simulation/", "tests/model/")
"""Where the tests are that need the processor for longest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, which keep one worker busy: else it ends long after the rest.

    Apart from that the order stays as it is; a file is never split.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(_LONGEST))


@pytest.fixture(scope="session")
def mongodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a mongod that is there for the whole session."""
    directory: Path = tmp_path_factory.mktemp("mongodb")
    embedded = EmbeddedMongoDB(directory)
    uri = asyncio.run(embedded.start())
    yield uri
    asyncio.run(embedded.stop())


@pytest.fixture
def database_name() -> str:
    """The name of a database that no other test uses."""
    return f"test_{next(_DATABASE_NUMBERS)}"
