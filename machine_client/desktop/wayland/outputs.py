"""Where a compositor's screens are, in the coordinates of inputs."""

from dataclasses import dataclass
from typing import Any, Final

from machine_client.desktop.base import DesktopError
from machine_client.desktop.wayland.wire.connection import Proxy, WaylandConnection
from machine_client.desktop.wayland.wire.protocols import OUTPUT, XDG_OUTPUT, XDG_OUTPUT_MANAGER
from machine_client.desktop.wayland.wire.registry import Registry
from schemas.link.messages import Display
from schemas.values.pictures import Region

_IS_CURRENT: Final = 1
_QUARTER_TURNS: Final = (1, 3, 5, 7)
"""The transforms that make a picture's width its height."""


@dataclass(slots=True)
class Output:
    """One screen.

    ``pixels`` is its size as it is lit, before it is turned as ``transform`` says; ``place`` and
    ``size`` are in the coordinates of inputs, the size only where that is told.
    """

    proxy: Proxy
    place: tuple[int, int] = (0, 0)
    size: tuple[int, int] | None = None
    pixels: tuple[int, int] = (0, 0)
    transform: int = 0
    whole_scale: int = 1
    extended: Proxy | None = None

    @property
    def turned(self) -> tuple[int, int]:
        """Its pixels as they are looked at."""
        width, height = self.pixels
        return (height, width) if self.transform in _QUARTER_TURNS else (width, height)

    @property
    def region(self) -> Region:
        """Where it is, in the coordinates of inputs."""
        width, height = self.size or tuple(each // self.whole_scale for each in self.turned)
        return Region(*self.place, width, height)

    @property
    def scale(self) -> float:
        """Its pixels for each step of an input's coordinates."""
        return self.turned[0] / self.region.width

    def told_geometry(self, x: int, y: int, *rest: Any) -> None:
        """It is there, unless a better one tells it, and turned so."""
        if self.extended is None:
            self.place = x, y
        self.transform = rest[-1]

    def told_mode(self, flags: int, width: int, height: int, _refresh: int) -> None:
        """It has so many pixels, where that mode is the one in force."""
        if flags & _IS_CURRENT:
            self.pixels = width, height

    def told_scale(self, scale: int) -> None:
        """What is drawn for it is so many times larger, or a little less."""
        self.whole_scale = scale

    def told_place(self, x: int, y: int) -> None:
        """It is there."""
        self.place = x, y

    def told_size(self, width: int, height: int) -> None:
        """It is so large."""
        self.size = width, height


class Outputs:
    """The screens of one connection, as it has heard of them so far."""

    def __init__(self, connection: WaylandConnection) -> None:
        self._connection = connection
        self._outputs: dict[int, Output] = {}
        self._manager: Proxy | None = None
        self._listens = False
        self.registry = Registry(connection, self._came, self._went)
        self._listens = True
        if not self.registry.lacking([XDG_OUTPUT_MANAGER]):
            self._manager = self.registry.bind(XDG_OUTPUT_MANAGER, 3, needed=False)
        for number, name in self.registry.offered():
            self._came(number, name)
        connection.round_trip()

    def current(self) -> list[Output]:
        """Those that show something, at least one, from left to right.  Raises DesktopError.

        A compositor announces them in any order, another one with each version.
        """
        found = [
            output
            for output in self._outputs.values()
            if output.pixels[0] and output.region.width > 0
        ]
        found.sort(key=lambda output: output.place)
        if not found:
            raise DesktopError("display_unknown", "The Wayland compositor has no screen now")
        return found

    def displays(self) -> list[Display]:
        """The same, as the link tells them.  Raises DesktopError."""
        return [
            Display(
                x=output.region.x,
                y=output.region.y,
                width=output.region.width,
                height=output.region.height,
                scale=output.scale,
            )
            for output in self.current()
        ]

    def around(self) -> Region:
        """The smallest rectangle around all of them.  Raises DesktopError."""
        return Region.around([output.region for output in self.current()])

    def _came(self, number: int, name: str) -> None:
        # Those of the beginning come before it is known whether there is a manager.
        if name != OUTPUT.name or not self._listens or number in self._outputs:
            return
        version = min(self.registry.version(number), 2)
        proxy = self.registry.bind_number(number, OUTPUT, version)
        output = self._outputs[number] = Output(proxy)
        proxy.on = {
            "geometry": output.told_geometry,
            "mode": output.told_mode,
            "scale": output.told_scale,
        }
        if self._manager is not None:
            extended = output.extended = self._connection.create(XDG_OUTPUT)
            self._connection.send(self._manager, "get_xdg_output", extended, proxy)
            extended.on = {
                "logical_position": output.told_place,
                "logical_size": output.told_size,
            }

    def _went(self, number: int) -> None:
        output = self._outputs.pop(number, None)
        if output is not None and output.extended is not None:
            self._connection.destroy(output.extended)
