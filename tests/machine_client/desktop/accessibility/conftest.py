"""One desktop with an accessibility bus for all tests of elements, and a program on it for each."""

from collections.abc import Iterator

import pytest

from tests.machine_client.desktop.accessibility.rig import (
    AccessibleDesktop,
    Program,
    accessible_desktop,
    patience_with_programs,
)


@pytest.fixture(scope="session")
def accessible() -> Iterator[AccessibleDesktop]:
    """The desktop."""
    with accessible_desktop() as desktop:
        yield desktop


@pytest.fixture(autouse=True)
def _patient() -> Iterator[None]:
    with patience_with_programs():
        yield


@pytest.fixture
def program(accessible: AccessibleDesktop) -> Iterator[Program]:
    """A program of GTK 3 that shows an invoice."""
    with accessible.gtk3() as shown:
        yield shown
