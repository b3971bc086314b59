"""What a Wayland desktop shows: its screens, and their pixels through screencopy.

On a connection of its own: the injector's is for one thread, which may be in a long drag.
"""

import mmap
import os
import time
from dataclasses import replace
from typing import Final

from machine_client.desktop.base import DesktopError, InjectionUnavailable, RawFrame
from machine_client.desktop.wayland.outputs import Output, Outputs
from machine_client.desktop.wayland.pictures import (
    KNOWN_FORMATS,
    Picture,
    blue_first,
    put_together,
)
from machine_client.desktop.wayland.pointer import PlaceOfPointer
from machine_client.desktop.wayland.wire.connection import Proxy, WaylandConnection
from machine_client.desktop.wayland.wire.protocols import (
    BUFFER,
    SCREENCOPY_FRAME,
    SCREENCOPY_MANAGER,
    SHM,
    SHM_POOL,
)
from machine_client.system.clock import boottime_seconds
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from schemas.values.pictures import Size

_PATIENCE_SECONDS: Final = 2.5
"""For a picture: a screen that is switched off gives none, and says nothing."""
_TELLS_DAMAGE: Final = 2
"""The version of screencopy that waits for a change."""
_UPSIDE_DOWN: Final = 1


class WaylandView:
    """See `machine_client.desktop.base.DesktopView`."""

    def __init__(self, name: str | None, place: PlaceOfPointer) -> None:
        self._name = name
        self._place = place
        self._open: _Screens | None = None

    def displays(self) -> list[Display]:
        return look_at_displays(self._name)

    def pointer(self) -> Point:
        return self._place.told(self._look().outputs)

    def capture(self, *, pointer: bool = True) -> RawFrame:
        screens = self._look()
        try:
            frame = screens.capture(pointer=pointer)
        except DesktopError:
            self.close()
            raise
        # A compositor that draws it by itself leaves it in, and says nothing of that.
        return frame if pointer else replace(frame, pointer_at=self._place.told(screens.outputs))

    def wait_until_drawn(self, seconds: float) -> bool:
        screens = self._look()
        try:
            return screens.wait_until_drawn(seconds)
        except DesktopError:
            self.close()
            raise

    def close(self) -> None:
        screens, self._open = self._open, None
        if screens is not None:
            screens.close()

    def _look(self) -> "_Screens":
        """What is open, after a round trip: so what has ended is known, and what has changed."""
        try:
            if self._open is None:
                self._open = _Screens(self._name)
            self._open.connection.round_trip()
        except InjectionUnavailable as error:
            raise DesktopError("display_unknown", str(error)) from error
        except DesktopError:
            self.close()
            raise
        return self._open


def look_at_displays(name: str | None) -> list[Display]:
    """Say where each screen is, on a connection of its own.  Raises DesktopError."""
    try:
        connection = WaylandConnection(name)
    except InjectionUnavailable as error:
        raise DesktopError("display_unknown", str(error)) from error
    try:
        return Outputs(connection).displays()
    finally:
        connection.close()


class _Screens:
    """A connection that looks, and the memory into which it lets the compositor draw."""

    def __init__(self, name: str | None) -> None:
        self.connection = WaylandConnection(name)
        try:
            self.outputs = Outputs(self.connection)
        except DesktopError:
            self.connection.close()
            raise
        self._managers: tuple[Proxy, Proxy] | None = None
        self._next_frames: list[_Frame] = []

    def capture(self, *, pointer: bool) -> RawFrame:
        """All screens now.  Raises DesktopError."""
        captured_at = boottime_seconds()
        frames = self._frames(pointer=pointer)
        try:
            self._copy(frames)
            self._wait(frames, "is_over")
            pictures = [frame.picture() for frame in frames]
        finally:
            for frame in frames:
                frame.close()
        around = self.outputs.around()
        pixels, size = put_together(pictures, around)
        return RawFrame(around, size, pixels, captured_at)

    def wait_until_drawn(self, seconds: float) -> bool:
        """Wait until one of the screens is another than at the last call, at most so long.

        The compositor keeps a frame for each until then.
        """
        self._capturing()
        if self.outputs.registry.version_of(SCREENCOPY_MANAGER) < _TELLS_DAMAGE:
            time.sleep(seconds)
            return True
        if not self._next_frames:
            self._next_frames = self._frames(pointer=False)
            self._copy(self._next_frames, once_damaged=True)
        frames = self._next_frames
        if not self.connection.wait_for(lambda: any(each.is_over for each in frames), seconds):
            return False
        self._next_frames = []
        for frame in frames:
            frame.close()
        return True

    def close(self) -> None:
        self.connection.close()

    def _frames(self, *, pointer: bool) -> list["_Frame"]:
        manager, _ = self._capturing()
        return [
            _Frame(self.connection, manager, output, pointer=pointer)
            for output in self.outputs.current()
        ]

    def _copy(self, frames: list["_Frame"], *, once_damaged: bool = False) -> None:
        _, memory = self._capturing()
        self._wait(frames, "has_said_how")
        for frame in frames:
            frame.copy(memory, once_damaged=once_damaged)

    def _capturing(self) -> tuple[Proxy, Proxy]:
        registry = self.outputs.registry
        registry.check()
        if self._managers is None:
            try:
                self._managers = (
                    registry.bind(SCREENCOPY_MANAGER, _TELLS_DAMAGE),
                    registry.bind(SHM),
                )
            except InjectionUnavailable as error:
                raise DesktopError(
                    "screen_unavailable", f"{error}, without which the screen cannot be seen"
                ) from error
        return self._managers

    def _wait(self, frames: list["_Frame"], until: str) -> None:
        if not self.connection.wait_for(
            lambda: all(getattr(frame, until) for frame in frames), _PATIENCE_SECONDS
        ):
            raise DesktopError(
                "screen_unavailable",
                "The Wayland compositor gives no picture: the screen may be switched off",
            )


class _Frame:
    """One picture of one screen, from the question to the pixels."""

    def __init__(
        self, connection: WaylandConnection, manager: Proxy, output: Output, *, pointer: bool
    ) -> None:
        self._connection = connection
        self._output = output
        self._memory: mmap.mmap | None = None
        self._garbage: list[Proxy] = []
        self._form = self._width = self._height = self._stride = 0
        self._flags = 0
        self._is_ready = self._has_failed = False
        self._proxy = connection.create(SCREENCOPY_FRAME)
        self._proxy.on = {
            "buffer": self._told_how,
            "flags": self._told_flags,
            "ready": self._told_ready,
            "failed": self._told_failed,
        }
        connection.send(manager, "capture_output", self._proxy, int(pointer), output.proxy)

    @property
    def has_said_how(self) -> bool:
        """Whether it is known how large it will be, or that it will not be."""
        return bool(self._width) or self._has_failed

    @property
    def is_over(self) -> bool:
        """Whether it has been drawn, or will not be."""
        return self._is_ready or self._has_failed

    def copy(self, shared: Proxy, *, once_damaged: bool) -> None:
        """Have it drawn into memory, at once or when it has changed."""
        if self._has_failed:
            return
        if self._form not in KNOWN_FORMATS:
            blue_first(bytearray(), self._form)
        size = self._stride * self._height
        file = os.memfd_create("picture", os.MFD_CLOEXEC)
        try:
            os.ftruncate(file, size)
            self._memory = mmap.mmap(file, size)
            pool, buffer = self._connection.create(SHM_POOL), self._connection.create(BUFFER)
            self._connection.send(shared, "create_pool", pool, file, size)
        finally:
            os.close(file)
        shape = (self._width, self._height, self._stride, self._form)
        self._connection.send(pool, "create_buffer", buffer, 0, *shape)
        self._connection.send(self._proxy, "copy_with_damage" if once_damaged else "copy", buffer)
        self._garbage += [buffer, pool]

    def picture(self) -> Picture:
        """What was drawn.  Raises DesktopError."""
        if self._memory is None or not self._is_ready:
            raise DesktopError(
                "screen_unavailable", "The Wayland compositor could not take a picture"
            )
        row = self._width * 4
        if self._stride == row:
            pixels = bytearray(self._memory)
        else:
            starts = range(0, self._stride * self._height, self._stride)
            pixels = bytearray(b"".join(self._memory[start : start + row] for start in starts))
        if self._flags & _UPSIDE_DOWN:
            rows = range(len(pixels) - row, -1, -row)
            pixels = bytearray(b"".join(bytes(pixels[start : start + row]) for start in rows))
        return Picture(
            blue_first(pixels, self._form),
            Size(self._width, self._height),
            self._output.transform,
            self._output.region,
        )

    def close(self) -> None:
        """Give up what it needed; safe where the compositor has ended."""
        if self._memory is not None:
            self._memory.close()
        for proxy in (self._proxy, *self._garbage):
            self._connection.destroy(proxy)

    def _told_how(self, form: int, width: int, height: int, stride: int) -> None:
        self._form, self._width, self._height, self._stride = form, width, height, stride

    def _told_flags(self, flags: int) -> None:
        self._flags = flags

    def _told_ready(self, *_when: int) -> None:
        self._is_ready = True

    def _told_failed(self) -> None:
        self._has_failed = True
