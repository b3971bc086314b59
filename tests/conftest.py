"""What tests of several rooms need: a MongoDB and an X server for all, a database for each test."""

import gc
import inspect
import itertools
import os
import signal
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import hypothesis
import pymongo
import pytest

from server.store.embedded_mongod import EmbeddedMongoDB
from server.store.mongodb.documents import Document
from tests.desktop import Witness, set_layout, virtual_display
from tests.nats import NatsServer
from tests.store import async_run, async_test

# A shell that runs the tests in the background has them ignore Ctrl-C, and so all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says nothing of what is tested.
hypothesis.settings.register_profile("farhand", deadline=None)
hypothesis.settings.load_profile("farhand")

# Its tests are in classes that others bind, so pytest does not find them as tests by itself.
pytest.register_assert_rewrite("tests.machine_client.desktop.contract")

_DATABASE_NUMBERS = itertools.count(1)

_COMPUTING = ("tests/simulation/", "tests/model/")
"""Where the tests are that need the processor for longest."""

_LONG = (
    *("tests/simulation/", "tests/run_kills/", "tests/faults/test_faults.py"),
    *("tests/model/test_protocol.py", "tests/end_to_end/test_workers.py"),
    *("tests/server/store/trajectories/test_listing.py", "tests/browser/test_accessibility.py"),
    *("tests/machine_client/desktop/x11/test_contract.py", "tests/server/cli/test_demo.py"),
    *("tests/canaries/", "tests/test_fleet_benchmark.py", "tests/model/", "tests/browser/"),
    *("tests/server/vision/", "tests/end_to_end/", "tests/faults/", "tests/test_"),
    *("tests/finding/", "tests/recorded_sessions/", "tests/server/cli/", "tests/server/webhooks/"),
)
"""Where there are files that take half a minute and more, those that take longest first."""

_NICENESS = 10


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collector away from what stays to the end: all modules, and a case for each test.

    It would take half of the time in which they are loaded, and look at them again ever after.  Nor
    does it look once at the end: what little is garbage by then may stay as well.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long files, each of which keeps one worker busy: else it ends after the rest.

    Apart from that the order stays as it is; a file is never split.
    """
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """The place of a test's file or room among those that are long; behind them for all others."""
    return next(
        (turn for turn, room in enumerate(_LONG) if item.nodeid.startswith(room)), len(_LONG)
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the coroutines that use an event loop of the fixtures: they run in that one."""
    if (
        isinstance(item, pytest.Function)
        and "io_loop" in item.fixturenames
        and inspect.iscoroutinefunction(item.obj)
    ):
        item.add_marker("gen_test")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run every other test that is a coroutine function in an event loop of its own.

    Let the tests that compute for long give way to those whose programs answer in real time.  The
    priority is that of a thread: a process could not get its own back.
    """
    function = pyfuncitem.obj
    is_marked = pyfuncitem.get_closest_marker("gen_test") is not None
    if inspect.iscoroutinefunction(function) and not is_marked:
        function = async_test(function)
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    if pyfuncitem.nodeid.startswith(_COMPUTING):
        with ThreadPoolExecutor(1, initializer=_give_way) as thread:
            thread.submit(function, **arguments).result()
        return True
    if function is pyfuncitem.obj:
        return None
    function(**arguments)
    return True


def _give_way() -> None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


@pytest.fixture(scope="session")
def mongodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a mongod that is there for the whole session."""
    directory: Path = tmp_path_factory.mktemp("mongodb")
    embedded = EmbeddedMongoDB(directory)
    # Its loops leave that of a module as it is, whose test may be the first that wants this.
    uri = async_run(embedded.start())
    yield uri
    async_run(embedded.stop())


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """The name of an X display of 1280 x 800 with the layout "us"."""
    with virtual_display() as name:
        set_layout(name, "us")
        yield name


@pytest.fixture(scope="session")
def session_witness(display: str) -> Iterator[Witness]:
    with closing(Witness(display)) as witness:
        yield witness


@pytest.fixture
def witness(session_witness: Witness) -> Witness:
    """Sees the device events from the test's beginning."""
    session_witness.take()
    return session_witness


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """A nats-server for the whole session; who kills it starts it again."""
    server = NatsServer(tmp_path_factory.mktemp("nats"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def nats_url(nats_server: NatsServer) -> str:
    """The URL of the session's nats-server, which runs."""
    nats_server.start()
    return nats_server.url


@pytest.fixture(scope="session")
def emptied_databases(mongodb: str) -> Iterator["EmptiedDatabases"]:
    with pymongo.MongoClient[Document](mongodb) as client:
        yield EmptiedDatabases(client)


@pytest.fixture
def database_name(emptied_databases: "EmptiedDatabases") -> Iterator[str]:
    """The name of a database with nothing in it, which no other test uses meanwhile.

    It may have been another test's: to make all indexes takes longer than most tests.
    """
    name = emptied_databases.take()
    yield name
    emptied_databases.give_back(name)


@pytest.fixture
def fresh_database_name() -> str:
    """The name of a database that nobody has ever used."""
    return f"fresh_{next(_DATABASE_NUMBERS)}"


class EmptiedDatabases:
    """Databases whose tests have ended."""

    def __init__(self, client: pymongo.MongoClient[Document]) -> None:
        self._client = client
        self._names: list[str] = []

    def take(self) -> str:
        """One that is empty."""
        return self._names.pop() if self._names else f"test_{next(_DATABASE_NUMBERS)}"

    def give_back(self, name: str) -> None:
        """Empty it for the next test; its indexes stay."""
        database = self._client[name]
        database.command("profile", 0)
        for collection in database.list_collection_names():
            if collection.startswith("system."):
                database.drop_collection(collection)
            else:
                database[collection].delete_many({})
        self._names.append(name)
