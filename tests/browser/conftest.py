"""A browser for all files of tests, a server for each of them, a visitor for each test."""

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.library import Library, somebody
from tests.browser.rig import Desk, Site, Visit, chromium, served
from tests.conftest import EmptiedDatabases

_HERE = Path(__file__).parent


class OneBrowser:
    """A browser that stays from one file of tests to the next: to start one costs a second.

    No other event loop can run in this thread meanwhile, so it ends before a test from elsewhere.
    """

    def __init__(self) -> None:
        self._browser: Browser | None = None
        self._end = ExitStack()

    def get(self) -> Browser:
        """The one that runs; a new one where there is none, or it crashed."""
        if self._browser is None or not self._browser.is_connected():
            self.end()
            self._browser = self._end.enter_context(chromium())
        return self._browser

    def end(self) -> None:
        """End the one that runs, if any."""
        self._browser = None
        self._end.close()


_BROWSER = OneBrowser()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """End the browser after the last of the tests here that come one after another."""
    try:
        return (yield)
    finally:
        if nextitem is not None and not nextitem.path.is_relative_to(_HERE):
            _BROWSER.end()


@pytest.fixture(scope="session")
def one_browser(mongodb: str) -> Iterator[OneBrowser]:
    """Between the beginning and the end of the MongoDB, which need an event loop of their own."""
    yield _BROWSER
    _BROWSER.end()


@pytest.fixture(scope="module")
def files_database(mongodb: str, emptied_databases: EmptiedDatabases) -> Iterator[dict[str, str]]:
    """Settings of a file's server: a database of the MongoDB that all share, empty by then."""
    name = emptied_databases.take()
    yield {"mongodb_uri": mongodb, "mongodb_database": name}
    emptied_databases.give_back(name)


@pytest.fixture(scope="module")
def site(
    files_database: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    with served(tmp_path_factory.mktemp("site"), **files_database) as site:
        yield site


@pytest.fixture
def own_database(mongodb: str, fresh_database_name: str) -> dict[str, str]:
    """Settings of another server, for a test that ends it or looks at an empty one."""
    return {"mongodb_uri": mongodb, "mongodb_database": fresh_database_name}


@pytest.fixture(scope="module")
def browser(one_browser: OneBrowser) -> Browser:
    return one_browser.get()


@pytest.fixture(scope="module")
def desk(site: Site) -> Iterator[Desk]:
    """A machine that no test ends."""
    with site.desk("Reception") as desk:
        yield desk


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Visit]:
    """Somebody who has not signed in."""
    with Visit.begun(browser, site) as visit:
        yield visit


@pytest.fixture
def operator(visit: Visit) -> Visit:
    """Somebody who has signed in as the administrator and looks at the machines."""
    visit.sign_in()
    return visit


@pytest.fixture
def library(site: Site) -> Library:
    answer = site.api.call("POST", "/v1/workflows", {"name": "Enter an invoice"})
    return Library(site, answer.json["id"])


@pytest.fixture
def reader(visit: Visit, library: Library) -> Visit:
    """Somebody who looks at the trajectories of the library."""
    visit.sign_in(f"/trajectories?workflow_id={library.workflow}", somebody(library.site))
    return visit
