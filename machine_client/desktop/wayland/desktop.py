"""A Wayland compositor as a desktop, and what can be wrong with one."""

import contextlib
from collections.abc import Iterator
from weakref import ref

from machine_client.desktop.accessibility.elements import AtSpiElements
from machine_client.desktop.base import (
    DesktopCheck,
    DesktopElements,
    DesktopError,
    DesktopInput,
    DesktopView,
    InjectionUnavailable,
)
from machine_client.desktop.looks import size_of_picture, sizes_of_displays
from machine_client.desktop.wayland.clipboard.reader import read_clipboard
from machine_client.desktop.wayland.input import WaylandInput, check_input
from machine_client.desktop.wayland.pointer import PlaceOfPointer
from machine_client.desktop.wayland.sway.windows import SwayWindows
from machine_client.desktop.wayland.view import WaylandView
from machine_client.desktop.wayland.wire.connection import WaylandConnection
from machine_client.desktop.wayland.wire.protocols import DATA_MANAGER
from machine_client.desktop.wayland.wire.registry import Registry
from schemas.inputs.clipboard_texts import Selection

WHY_NO_PLACES = (
    "Wayland does not tell where windows are and what covers them, so that no place is that of an "
    "element for sure: element.invoke, element.set_value and element.focus work without places"
)


class WaylandDesktop:
    """See `machine_client.desktop.base.Desktop`; without a name, it is the environment's.

    A name is that of a socket in XDG_RUNTIME_DIR, or its whole path.
    """

    def __init__(self, name: str | None) -> None:
        self._name = name
        # What the input knows and a view, on a connection of its own, is never told.
        self._place = PlaceOfPointer()
        self._input: ref[WaylandInput] | None = None

    def open_input(self) -> DesktopInput:
        before = None if self._input is None else self._input()
        if before is not None:
            # Its user closes it once there is another one: too late for that to find what it held.
            before.leave_if_lost()
        input_ = WaylandInput(self._name, self._place)
        self._input = ref(input_)
        return input_

    def open_view(self) -> DesktopView:
        return WaylandView(self._name, self._place)

    def why_no_clipboard(self) -> str | None:
        # A compositor that is not there yet may well have one: whoever uses it is told then.
        with contextlib.suppress(DesktopError, InjectionUnavailable), self._registry() as registry:
            if registry.lacking([DATA_MANAGER]):
                return f"this Wayland compositor offers no {DATA_MANAGER.name}"
        return None

    def read_clipboard(self, selection: Selection) -> str:
        return read_clipboard(self._name, selection)

    def elements(self) -> DesktopElements:
        return AtSpiElements(SwayWindows(self._name), WHY_NO_PLACES)

    def checks(self) -> tuple[DesktopCheck, ...]:
        silent = "the Wayland compositor does not answer: restart the graphical session"
        return (
            DesktopCheck("display", self._look_at_display, silent),
            DesktopCheck("input", self._look_at_input, silent),
            DesktopCheck("screen", self._look_at_screen, silent),
        )

    def _look_at_display(self) -> str:
        try:
            sizes = sizes_of_displays(self)
        except (InjectionUnavailable, DesktopError) as error:
            raise InjectionUnavailable(
                f"{error}; run this inside the Wayland session, as its user, or name its display"
                " with --display, such as wayland-1"
            ) from error
        return f"{sizes} on Wayland"

    def _look_at_input(self) -> str:
        # Only looks: `WaylandInput` releases what a client that died had left pressed, and the
        # client that comes next tells the server of it.
        with self._registry() as registry:
            check_input(registry)
        return "mouse and keyboard can be used, as a virtual pointer and keyboard of wlroots' kind"

    def _look_at_screen(self) -> str:
        return size_of_picture(self)

    @contextlib.contextmanager
    def _registry(self) -> Iterator[Registry]:
        connection = WaylandConnection(self._name)
        try:
            yield Registry(connection)
        finally:
            connection.close()
