"""An X display with two screens, of which the first one is on the right: there is a left of zero.

Windows counts from the corner of its first screen, so that the other one has negative coordinates.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import Xlib.display
from Xlib.ext import randr
from Xlib.protocol import rq

from tests.desktop import virtual_display

LEFT, RIGHT = (800, 600), (1280, 800)


class _SetMonitor(rq.Request):  # type: ignore[misc,unused-ignore]
    """RRSetMonitor; python-xlib's own cannot be packed."""

    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(43),
        rq.RequestLength(),
        rq.Window("window"),
        rq.Card32("name"),
        rq.Bool("primary"),
        rq.Bool("automatic"),
        rq.LengthOf("crtcs", 2),
        rq.Int16("x"),
        rq.Int16("y"),
        rq.Card16("width"),
        rq.Card16("height"),
        rq.Card32("width_in_millimeters"),
        rq.Card32("height_in_millimeters"),
        rq.List("crtcs", rq.Card32Obj),
    )


@contextlib.contextmanager
def two_screens() -> Iterator[str]:
    """Start an X server with them; yields its name, such as ``:7``."""
    with virtual_display(f"{LEFT[0] + RIGHT[0]}x{RIGHT[1]}x24") as name:
        connection: Any = Xlib.display.Display(name)
        outputs = list(connection.screen().root.xrandr_get_screen_resources().outputs)
        _add_screen(connection, "left", 0, LEFT, [])
        _add_screen(connection, "right", LEFT[0], RIGHT, outputs)
        connection.sync()
        yield name
        connection.close()


def _add_screen(
    connection: Any, name: str, x: int, size: tuple[int, int], outputs: list[int]
) -> None:
    _SetMonitor(
        display=connection.display,
        opcode=connection.display.get_extension_major(randr.extname),
        window=connection.screen().root,
        name=connection.intern_atom(name),
        primary=bool(outputs),
        automatic=False,
        x=x,
        y=0,
        width=size[0],
        height=size[1],
        width_in_millimeters=size[0] // 4,
        height_in_millimeters=size[1] // 4,
        crtcs=outputs,
    )
