"""Owns the clipboards of a Wayland compositor."""

import select

from machine_client.desktop.clipboard_owner import ClipboardOwner
from machine_client.desktop.wayland.clipboard.gifts import Gifts
from machine_client.desktop.wayland.clipboard.selections import TEXT_FORMS, ClipboardDevice
from machine_client.desktop.wayland.wire.connection import Proxy
from machine_client.desktop.wayland.wire.protocols import DATA_SOURCE
from schemas.inputs.clipboard_texts import Selection


class WaylandClipboardOwner(ClipboardOwner):
    """Owns them through data control.

    Raises InjectionUnavailable where the display cannot be opened, and DesktopLost.
    """

    def __init__(self, name: str | None) -> None:
        self._device = ClipboardDevice(name)
        self._connection = self._device.connection
        self._gifts = Gifts()
        super().__init__()

    def _serve(self, awake: int) -> None:
        self._connection.flush()
        poll = select.poll()
        for descriptor in (self._connection.fileno(), awake):
            poll.register(descriptor, select.POLLIN)
        for descriptor in self._gifts.waiting:
            poll.register(descriptor, select.POLLOUT)
        poll.poll(self._gifts.patience_milliseconds)
        self._connection.hear()
        self._gifts.go_on()

    def _disconnect(self) -> None:
        self._connection.close()
        self._gifts.close()

    def _own(self, selection: Selection, content: bytes) -> None:
        self._device.check(selection)
        source = self._connection.create(DATA_SOURCE)
        self._connection.send(self._device.manager, "create_data_source", source)
        source.on = {
            "send": lambda _form, descriptor: self._gifts.begin(descriptor, content),
            "cancelled": lambda: self._taken_over(source),
        }
        for form in TEXT_FORMS:
            self._connection.send(source, "offer", form)
        self._device.own(selection, source)
        self._connection.round_trip()

    def _taken_over(self, source: Proxy) -> None:
        """Another program has copied something, or we have."""
        self._connection.destroy(source)
