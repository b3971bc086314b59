"""What a VNC server shows: its screens, its pixels, and where it says that the pointer is.

On a connection of its own: the input's is for one thread, which may be in the middle of a long
drag, and answers quicker without pictures in its way.
"""

import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from machine_client.desktop.base import DesktopError, InjectionUnavailable, RawFrame
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.connection import VncConnection
from machine_client.desktop.vnc.pointer import Place
from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.screens import displays_of, middle_of, region_of
from machine_client.system.clock import boottime_seconds
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from schemas.values.pictures import Size

MOST_SIZES = 5
"""How often the screen may change its size while one picture is taken."""

Seen = TypeVar("Seen")


class VncView:
    """See `machine_client.desktop.base.DesktopView`."""

    def __init__(self, server: VncServer, place: Place) -> None:
        self._server = server
        self._place = place
        self._connection: VncConnection | None = None

    def displays(self) -> list[Display]:
        return self._seen(lambda connection: displays_of(connection.said), "display_unknown")

    def pointer(self) -> Point:
        x, y = self._seen(self._where_the_pointer_is, "display_unknown")
        return Point(x=x, y=y)

    def capture(self, *, pointer: bool = True) -> RawFrame:
        # A server draws it in, whoever asks: most do as soon as somebody else has moved it.
        frame = self._seen(_captured, "screen_unavailable", pictures=True)
        return frame if pointer else replace(frame, pointer_at=self.pointer())

    def wait_until_drawn(self, seconds: float) -> bool:
        time.sleep(seconds)
        return True

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _where_the_pointer_is(self, connection: VncConnection) -> tuple[int, int]:
        with connection.changed:
            said = connection.said
            return self._place.is_at or said.pointer or middle_of(said)

    def _seen(
        self, look: Callable[[VncConnection], Seen], code: str, *, pictures: bool = False
    ) -> Seen:
        """What is seen through the connection, which is opened where there is none."""
        try:
            connection = self._open(code)
            if not pictures:
                told = connection.said.pointer_told
                connection.ask_for_update()
                self._note_pointer(connection, told)
            return look(connection)
        except DesktopError:
            self.close()
            raise

    def _note_pointer(self, connection: VncConnection, told_before: int) -> None:
        with connection.changed:
            if connection.said.pointer_told != told_before:
                self._place.is_at = connection.said.pointer

    def _open(self, code: str) -> VncConnection:
        if self._connection is None:
            try:
                pictures = encodings_for(self._server.host)
                self._connection = VncConnection(self._server, pictures, told=False)
            except InjectionUnavailable as error:
                raise DesktopError(code, str(error)) from error
            # Who forgets to close it leaves nobody listening for ever.
            weakref.finalize(self, self._connection.close)
        return self._connection


def encodings_for(host: str) -> tuple[int, ...]:
    """What to ask for, the best first: to pack pixels takes longer than to send them to oneself."""
    if host in ("localhost", "127.0.0.1", "::1"):
        return ours.COPY_RECT, ours.RAW
    return ours.COPY_RECT, ours.ZLIB, ours.RAW


def _captured(connection: VncConnection) -> RawFrame:
    captured_at = boottime_seconds()
    said = connection.said
    for _ in range(MOST_SIZES):
        with connection.changed:
            is_new, said.canvas_is_new = said.canvas_is_new, False
        connection.ask_for_pixels(everything=is_new)
        with connection.changed:
            if not said.canvas_is_new and said.canvas is not None:
                region = region_of(said)
                pixels = said.canvas.cut(*region)
                return RawFrame(region, Size(region.width, region.height), pixels, captured_at)
    raise DesktopError("screen_unavailable", "The screen changes its size all the time")
