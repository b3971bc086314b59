"""What X Input tells of the devices of a real X server."""

from collections.abc import Iterator

import pytest

from machine_client.desktop.x11.connection import X11Connection
from machine_client.desktop.x11.xinput import InputDevice, Kind, Use
from tests.machine_client.desktop.x11.somebody import Person, held_by_xdotool


@pytest.fixture
def connection(display: str) -> Iterator[X11Connection]:
    connection = X11Connection(display)
    yield connection
    connection.close()


def test_devices_have_names_and_uses_and_those_of_xtest_are_known(
    connection: X11Connection,
) -> None:
    devices = connection._list_devices()
    assert InputDevice(2, "Virtual core pointer", Use.POINTER) in devices
    assert InputDevice(3, "Virtual core keyboard", Use.KEYBOARD) in devices
    assert [device.use for device in devices if device.is_of_xtest] == [
        Use.SLAVE_POINTER,
        Use.SLAVE_KEYBOARD,
    ]


def test_what_each_device_has_down_is_told_apart(connection: X11Connection, display: str) -> None:
    person = Person(display)

    def down(kind: Kind) -> dict[str, frozenset[int]]:
        return {device.name: held for device, held in connection.down_by_device(kind) if held}

    with person.holding("key", 38), held_by_xdotool(display, "key", "b"):
        assert down(Kind.KEYS) == {
            "Xvfb keyboard": frozenset({38}),
            "Virtual core XTEST keyboard": frozenset({56}),
        }
        assert down(Kind.BUTTONS) == {}
    with person.holding("button", 3):
        assert down(Kind.BUTTONS) == {"Xvfb mouse": frozenset({3})}
    person.close()
