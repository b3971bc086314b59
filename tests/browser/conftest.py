"""A browser and a server for each file of tests, a visitor for each test."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.library import Library, somebody
from tests.browser.rig import Desk, Site, Visit, chromium, served


@pytest.fixture(scope="module")
def site(mongodb: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with served(directory, mongodb_uri=mongodb, mongodb_database=directory.name) as site:
        yield site


@pytest.fixture
def own_database(mongodb: str, fresh_database_name: str) -> dict[str, str]:
    """Settings of another server, for a test that ends it or looks at an empty one."""
    return {"mongodb_uri": mongodb, "mongodb_database": fresh_database_name}


@pytest.fixture(scope="module")
def browser(site: Site) -> Iterator[Browser]:
    """Begun last: from then on no other event loop can run in this thread."""
    with chromium() as browser:
        yield browser


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
