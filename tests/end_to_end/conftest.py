"""Real processes for the end-to-end tests: shared where a test leaves no trace, else their own."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.system import System, Workstation
from tests.processes import ServedApi, ServerProcess

SHORT = {"token_check": "0.5"}
"""Settings of a server; its links and inputs have their usual time, of which a busy machine takes
some: what goes silent is cut by the tests, or has a short heartbeat there."""


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that no test stops."""
    server = ServerProcess(tmp_path_factory.mktemp("shared"), **SHORT)
    with server.run():
        yield server


@pytest.fixture(scope="session")
def api(shared_server: ServerProcess) -> Iterator[ServedApi]:
    """The API of the server that no test stops, as its administrator."""
    with closing(shared_server.api()) as api:
        yield api


@pytest.fixture
def workstation(
    shared_server: ServerProcess, api: ServedApi, display: str, tmp_path: Path
) -> Workstation:
    """A machine of the test's own on the shared server; its client is the test's to start."""
    return Workstation.added(shared_server.url, api, display, tmp_path)


@pytest.fixture
def desk(workstation: Workstation) -> Iterator[Workstation]:
    """That machine, connected."""
    with workstation.joined():
        yield workstation


@pytest.fixture
def system(tmp_path: Path, display: str) -> Iterator[System]:
    """A server and a machine of the test's own, running and connected."""
    with System.running(ServerProcess(tmp_path, **SHORT), display) as system:
        yield system
