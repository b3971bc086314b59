"""An injector and a terminal on the display of all tests."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from machine_client.desktop.x11.connection import X11Connection
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.work.injector import DesktopInjector
from tests.desktop import (
    Terminal,
    set_layout,
)
from tests.machine_client.desktop.x11.somebody import pressed


@pytest.fixture
def terminal(display: str, tmp_path: Path) -> Iterator[Terminal]:
    with Terminal.open(display, tmp_path) as terminal:
        yield terminal


@pytest.fixture
def injector(display: str) -> Iterator[DesktopInjector]:
    set_layout(display, "us")
    injector = DesktopInjector(X11Desktop(display))
    yield injector
    injector.close()
    assert pressed(display) == (set(), set())
    set_layout(display, "us")


@pytest.fixture
def connection(display: str) -> Iterator[X11Connection]:
    with closing(X11Connection(display)) as connection:
        yield connection
