"""One session of Windows, one server and one witness for all that is driven from here."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine_client.desktop.windows.rig import WITNESS, WindowsWitness
from tests.processes import ServedApi, ServerProcess
from tests.wine.machines import SETTINGS, Machine
from tests.wine.programs import WineDesktop, wine_desktop


@pytest.fixture(scope="session")
def desktop() -> Iterator[WineDesktop]:
    with wine_desktop() as desktop:
        yield desktop


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    server = ServerProcess(tmp_path_factory.mktemp("server"), **SETTINGS)
    with server.run():
        yield server


@pytest.fixture(scope="session")
def api(server: ServerProcess) -> Iterator[ServedApi]:
    api = server.api()
    yield api
    api.close()


@pytest.fixture(scope="session")
def seen_by(desktop: WineDesktop) -> Iterator[WindowsWitness]:
    witness = WindowsWitness(desktop.popen("-m", WITNESS, stdin=subprocess.PIPE))
    yield witness
    witness.close()


@pytest.fixture
def witness(seen_by: WindowsWitness) -> WindowsWitness:
    """Sees what happens from the test's beginning."""
    seen_by.take()
    seen_by.copied()
    return seen_by


@pytest.fixture
def machine(
    api: ServedApi,
    server: ServerProcess,
    desktop: WineDesktop,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Machine:
    """One of the test's own."""
    name = f"wine-{abs(hash(request.node.nodeid)) % 10**9}"
    user = tmp_path / "Jörg Müller"
    token, home = api.add_machine(name), user / "AppData Local"
    return Machine(name, token, api, server, desktop, home, user / "token")
