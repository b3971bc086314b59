"""What both who owns a clipboard and who reads one know: the device, and the forms of a text."""

from collections.abc import Mapping
from typing import Final

from machine_client.desktop.base import ClipboardError, InjectionUnavailable
from machine_client.desktop.wayland.wire.connection import Proxy, WaylandConnection
from machine_client.desktop.wayland.wire.protocols import DATA_DEVICE, DATA_MANAGER, SEAT
from machine_client.desktop.wayland.wire.registry import Registry
from schemas.inputs.clipboard_texts import Selection

TEXT_FORMS: Final = (
    "text/plain;charset=utf-8",
    "UTF8_STRING",
    "text/plain",
    "TEXT",
    "STRING",
)
"""By which names programs give and take text, the surest first; all of them in UTF-8."""

PRIMARY_SINCE: Final = 2

_REQUESTS: Final[Mapping[Selection, str]] = {
    "clipboard": "set_selection",
    "primary": "set_primary_selection",
}


class ClipboardDevice:
    """A seat's clipboards on a connection of their own.

    What is in them is told once something is waited for: whoever wants to know listens before.
    Raises InjectionUnavailable where the compositor has none.
    """

    def __init__(self, name: str | None) -> None:
        self.connection = WaylandConnection(name)
        try:
            registry = Registry(self.connection)
            self._version = min(PRIMARY_SINCE, registry.version_of(DATA_MANAGER))
            self.manager = registry.bind(DATA_MANAGER, PRIMARY_SINCE)
            seat = registry.bind(SEAT)
            self.device = self.connection.create(DATA_DEVICE)
            self.connection.send(self.manager, "get_data_device", self.device, seat)
        except BaseException:
            self.connection.close()
            raise

    def check(self, selection: Selection) -> None:
        """Raise ClipboardError where the compositor does not have this one."""
        if selection == "primary" and self._version < PRIMARY_SINCE:
            raise ClipboardError(
                "clipboard_unavailable", "this Wayland compositor has no primary selection for us"
            )

    def own(self, selection: Selection, source: Proxy) -> None:
        """Put a source in the place of what was there."""
        self.connection.send(self.device, _REQUESTS[selection], source)


def opened(name: str | None) -> ClipboardDevice:
    """The clipboards of a display.  Raises ClipboardError where it has none."""
    try:
        return ClipboardDevice(name)
    except InjectionUnavailable as error:
        raise ClipboardError("clipboard_unavailable", str(error)) from error
