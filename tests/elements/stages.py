"""Where forms are shown and pressed: an X server, or sway."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, Protocol, cast

from machine_client.desktop.accessibility.elements import AtSpiElements
from machine_client.desktop.base import Desktop
from machine_client.desktop.wayland.desktop import WaylandDesktop
from machine_client.desktop.x11.desktop import X11Desktop
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, accessible_desktop
from tests.machine_client.desktop.wayland.compositor import Sway, sway
from tests.waiting import eventually

SIZE: Final = (1920, 1200)

_TITLES: Final = "^(Orders|Invoice)"
"""Those of the windows that float on sway."""

_WITHOUT_GRAPHICS: Final = {"GSK_RENDERER": "cairo"}


class Stage(Protocol):
    """A desktop with an accessibility bus."""

    accessible: AccessibleDesktop
    variables: dict[str, str]

    @property
    def desktop(self) -> Desktop:
        """The desktop under test."""

    def move(self, title: str, x: int, y: int) -> None:
        """Move a window as a person would."""

    def corner(self, title: str) -> tuple[int, int]:
        """Where places that a form tells begin."""


class OnX11:
    """An X server without a window manager."""

    def __init__(self, accessible: AccessibleDesktop, directory: str) -> None:
        self.accessible = accessible
        self.variables = {**_WITHOUT_GRAPHICS, "FORM_DIRECTORY": directory}

    @property
    def desktop(self) -> Desktop:
        """See `Stage`."""
        return X11Desktop(self.accessible.display)

    def move(self, title: str, x: int, y: int) -> None:
        """As a window manager does: GTK 4 moves none of its own."""
        moved = ("search", "--sync", "--onlyvisible", "--name", f"^{title}", "windowmove")
        subprocess.run(
            ["xdotool", *moved, "--sync", str(x), str(y)],
            env=self.accessible.environment,
            check=True,
            timeout=60,
        )

    def corner(self, _title: str) -> tuple[int, int]:
        """Programs know where they are."""
        return 0, 0


class OnSway:
    """sway, whose windows float, and have a border and a title."""

    def __init__(self, accessible: AccessibleDesktop, compositor: Sway) -> None:
        self.accessible = accessible
        self.variables = {**_WITHOUT_GRAPHICS, "FORM_DIRECTORY": str(compositor.directory)}
        self._compositor = compositor
        accessible.environment |= {
            "WAYLAND_DISPLAY": compositor.name,
            "XDG_RUNTIME_DIR": str(compositor.directory),
            "GDK_BACKEND": "wayland",
            "QT_QPA_PLATFORM": "wayland",
        }
        # At once: one that is just being made another size is at neither place for sure.
        assert compositor.tell("for_window", f'[title="{_TITLES}"]', "floating enable")
        assert compositor.tell("default_floating_border normal")
        accessible.elements = cast("AtSpiElements", self.desktop.elements())

    @property
    def desktop(self) -> Desktop:
        """See `Stage`."""
        return WaylandDesktop(self._compositor.name)

    def move(self, title: str, x: int, y: int) -> None:
        """As its own commands do."""
        moved = f'[title="^{title}"] move absolute position {x} {y}'
        eventually(lambda: self._compositor.tell(moved), "there is such a window")

    def corner(self, title: str) -> tuple[int, int]:
        """Programs know it not, and sway does."""
        waiting = [json.loads(self._compositor.asked("get_tree"))]
        while waiting:
            node = waiting.pop()
            if node["name"] == title and node["type"] in ("con", "floating_con"):
                content = node["window_rect"]
                return node["rect"]["x"] + content["x"], node["rect"]["y"] + content["y"]
            waiting += node["nodes"] + node["floating_nodes"]
        raise AssertionError(f"sway has no window {title}")


@contextmanager
def on_x11() -> Iterator[Stage]:
    """An X server, for the time of the block."""
    with (
        tempfile.TemporaryDirectory(prefix="form-", ignore_cleanup_errors=True) as directory,
        accessible_desktop("x".join(map(str, (*SIZE, 24)))) as accessible,
    ):
        yield OnX11(accessible, directory)


@contextmanager
def on_sway() -> Iterator[Stage]:
    """A sway, for the time of the block."""
    screen = f"output HEADLESS-1 resolution {SIZE[0]}x{SIZE[1]} position 0 0 scale 1"
    with ExitStack() as stack:
        accessible = stack.enter_context(accessible_desktop())
        compositor = stack.enter_context(sway(screen))
        stack.enter_context(compositor.told_of())
        yield OnSway(accessible, compositor)


STAGES: Final = {"x11": on_x11, "sway": on_sway}
