"""pytest-tornado's fixtures, with our own server in the place of its bare one.

A test asks for ``service``, and is a coroutine function.
"""

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop
from tornado.web import Application

from server.app import Server
from server.store.machines.machines import MachineStore
from server.store.mongodb.database import Database
from tests.service import (
    ScriptedLink,
    ScriptedMachine,
    Service,
    in_new_organization,
    new_key,
    running_server,
)
from tests.store import entered, opened
from tests.trajectories import TrajectoryLibrary

TEST_SECONDS = 120.0
"""For one test: not how fast it must be, but when it is certainly stuck."""


@pytest.fixture(scope="session", autouse=True)
def patience(pytestconfig: pytest.Config) -> None:
    """The plugin would give up after 5 seconds, which a busy machine may need."""
    pytestconfig.option.async_test_timeout = TEST_SECONDS


@pytest.fixture(scope="module")
def io_loop() -> Iterator[IOLoop]:
    """The plugin's own would warn: it makes a loop current in a way that Tornado gives up."""
    asyncio_loop = asyncio.new_event_loop()
    asyncio.set_event_loop(asyncio_loop)
    loop = IOLoop(asyncio_loop=asyncio_loop, make_current=False)
    yield loop
    asyncio.set_event_loop(None)
    loop.close(all_fds=True)


@pytest.fixture
def database(io_loop: IOLoop, mongodb: str, database_name: str) -> Iterator[Database]:
    """A prepared database with nothing in it."""
    with entered(io_loop, opened(mongodb, database_name)) as database:
        yield database


@pytest.fixture
def library(database: Database) -> TrajectoryLibrary:
    return TrajectoryLibrary(database)


@pytest.fixture
def machines(database: Database) -> MachineStore:
    return MachineStore(database)


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings of the server that differ from the defaults; modules and tests override this."""
    return {}


@pytest.fixture(scope="module")
def shared_server(
    io_loop: IOLoop, mongodb: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server with the default settings, for all tests of a module."""
    with entered(io_loop, running_server(mongodb, tmp_path_factory.mktemp("data"))) as server:
        yield server


@pytest.fixture
def http_server(
    request: pytest.FixtureRequest,
    io_loop: IOLoop,
    mongodb: str,
    tmp_path: Path,
    settings: dict[str, Any],
) -> Iterator[Server]:
    """The server as ``farhand serve`` runs it, on a port of its own.

    A test has a server to itself where it wants other settings, or is marked ``own_server``
    because it stops the server or looks at what all organizations have in common.
    """
    if not settings and request.node.get_closest_marker("own_server") is None:
        yield request.getfixturevalue("shared_server")
        return
    with entered(io_loop, running_server(mongodb, tmp_path / "data", **settings)) as server:
        yield server


@pytest.fixture
def app(http_server: Server) -> Application:
    """The application that the server serves."""
    assert http_server._http is not None
    application = http_server._http.request_callback
    assert isinstance(application, Application)
    return application


@pytest.fixture
def base_url(http_server: Server) -> str:
    """The server's address."""
    return http_server.address


@pytest.fixture
def service(io_loop: IOLoop, http_client: Any, http_server: Server) -> Service:
    """The server, and an organization of the test's own in it."""
    service: Service = io_loop.run_sync(lambda: in_new_organization(http_server))
    return service


@pytest.fixture
def machine(io_loop: IOLoop, service: Service) -> ScriptedMachine:
    """A machine that has never connected."""
    machine: ScriptedMachine = io_loop.run_sync(service.new_machine)
    return machine


@pytest.fixture
def key() -> str:
    """A key that nobody has used."""
    return new_key()


@pytest.fixture
def link(io_loop: IOLoop, machine: ScriptedMachine) -> Iterator[ScriptedLink]:
    """The machine's link, which takes inputs."""
    with entered(io_loop, machine.connected()) as link:
        yield link


@pytest.fixture
def no_garbage_collection() -> Iterator[None]:
    """The collector stays away, as it does from a server that does little: nothing hides by it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
