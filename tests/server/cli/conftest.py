"""One server process for all tests of the administrative commands."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commandline import Served, serving


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="session")
def served(mongodb: str, data_dir: Path) -> Iterator[Served]:
    """``farhand serve`` on a database of its own, as a process."""
    with serving(mongodb, data_dir, "test_command_line") as served:
        yield served
