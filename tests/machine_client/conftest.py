"""One X server for all tests of the machine client, as a fresh one would be for each."""

from collections.abc import Iterator

import pytest

from tests.desktop import Witness, set_layout, virtual_display


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """The name of an X display of 1280 x 800 with the layout "us"."""
    with virtual_display() as name:
        set_layout(name, "us")
        yield name


@pytest.fixture(scope="session")
def session_witness(display: str) -> Iterator[Witness]:
    witness = Witness(display)
    yield witness
    witness.close()


@pytest.fixture
def witness(session_witness: Witness) -> Witness:
    """Sees the device events from the test's beginning."""
    session_witness.take()
    return session_witness
