"""What a compositor offers, lacks and withdraws."""

import pytest

from machine_client.desktop.base import DesktopLost, InjectionUnavailable
from machine_client.desktop.wayland.wire.connection import WaylandConnection
from machine_client.desktop.wayland.wire.protocols import (
    DATA_MANAGER,
    POINTER_MANAGER,
    SEAT,
    XDG_OUTPUT_MANAGER,
)
from machine_client.desktop.wayland.wire.registry import Registry
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor


def test_what_is_lacking_is_named(fake: FakeCompositor) -> None:
    connection = WaylandConnection(fake.name)
    registry = Registry(connection)
    assert registry.lacking([SEAT, XDG_OUTPUT_MANAGER]) == ["zxdg_output_manager_v1"]
    assert (registry.version_of(SEAT), registry.version_of(XDG_OUTPUT_MANAGER)) == (1, 0)
    with pytest.raises(InjectionUnavailable, match="zxdg_output_manager_v1"):
        registry.bind(XDG_OUTPUT_MANAGER)
    connection.close()


def test_what_is_needed_and_withdrawn_is_lost_and_nothing_else(fake: FakeCompositor) -> None:
    connection = WaylandConnection(fake.name)
    removed: list[int] = []
    registry = Registry(connection, removed=removed.append)
    registry.bind(POINTER_MANAGER)
    fake.withdraw(DATA_MANAGER.name)
    connection.round_trip()
    registry.check()
    assert registry.lacking([DATA_MANAGER])
    fake.withdraw(POINTER_MANAGER.name)
    connection.round_trip()
    with pytest.raises(DesktopLost, match="withdrawn zwlr_virtual_pointer_manager_v1"):
        registry.check()
    assert len(removed) == 2
    connection.close()
