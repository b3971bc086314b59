"""sway's tree as windows, the topmost first.  Without I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from machine_client.desktop.accessibility.windows import DesktopWindow, holds
from schemas.values.pictures import Region

MOST_WINDOWS: Final = 200
_TITLE_LENGTH: Final = 1024


@dataclass(frozen=True, slots=True)
class SwayWindow:
    """A window that sway shows or could show.

    ``level`` tells which lies above which: those of one level lie beside each other, but for
    floating ones of several workspaces, of which sway does not say it.
    """

    window: DesktopWindow
    level: tuple[int, int]
    workspace: int
    is_visible: bool
    is_focused: bool


def windows_of(tree: Any) -> list[SwayWindow]:
    """All windows of all workspaces, the topmost first."""
    found = [
        window
        for output in _below(tree)
        if output.get("type") == "output"
        for workspace in _below(output)
        for window in _in_workspace(workspace)
    ]
    found.sort(key=lambda each: each.level, reverse=True)
    return found[:MOST_WINDOWS]


def on_top(tree: Any, x: int, y: int) -> DesktopWindow | None:
    """The visible window that a click goes to; None where that is a frame, or cannot be told."""
    screens = [_region(each["rect"]) for each in _below(tree) if each.get("type") == "output"]
    here = [each for each in windows_of(tree) if each.is_visible and holds(each.window.outer, x, y)]
    # Beyond all screens the pointer would stop at an edge, over something else.
    if not here or not any(holds(screen, x, y) for screen in screens):
        return None
    top = here[0]
    rivals = [each for each in here[1:] if each.level[0] == top.level[0]]
    if any(each.workspace != top.workspace for each in rivals):
        return None
    return top.window if holds(top.window.bounds, x, y) else None


def _in_workspace(workspace: Any) -> Iterator[SwayWindow]:
    number = int(workspace.get("id", 0))
    for each in _nodes(workspace, "nodes"):
        yield from _windows(each, number, (0, 0), None)
    for place, each in enumerate(_nodes(workspace, "floating_nodes")):
        yield from _windows(each, number, (2, place), _with_bar(each, _region(each["rect"])))


def _windows(
    node: Any, workspace: int, level: tuple[int, int], around: Region | None
) -> Iterator[SwayWindow]:
    """The windows of a container; ``around`` is what a floating one covers, all in all."""
    if node.get("fullscreen_mode"):
        # Of what floats, sway shows above it only what is its own.
        level, around = (1, 0), None
    children = _nodes(node, "nodes")
    for child in children:
        yield from _windows(child, workspace, level, around)
    if not children and node.get("pid"):
        yield _window(node, workspace, level, around)


def _window(node: Any, workspace: int, level: tuple[int, int], around: Region | None) -> SwayWindow:
    whole, content = _region(node["rect"]), _region(node["window_rect"])
    bounds = Region(whole.x + content.x, whole.y + content.y, content.width, content.height)
    outer = Region.around([each for each in (bounds, whole, around) if each is not None])
    # What programs of Xwayland tell is in its measure, which is not sway's.
    process = int(node["pid"]) if node.get("shell") == "xdg_shell" else 0
    title = str(node.get("name") or "")[:_TITLE_LENGTH]
    window = DesktopWindow(
        int(node["id"]), process, title, bounds, outer, is_popup=False, is_blind=True
    )
    return SwayWindow(
        window, level, workspace, bool(node.get("visible")), bool(node.get("focused"))
    )


def _with_bar(node: Any, whole: Region) -> Region:
    """A container with its title above it, which sway tells of apart."""
    height = _region(node["deco_rect"]).height
    return Region(whole.x, whole.y - height, whole.width, whole.height + height)


def _region(told: Any) -> Region:
    return Region(*(int(told[side]) for side in ("x", "y", "width", "height")))


def _below(node: Any) -> list[Any]:
    return _nodes(node, "nodes")


def _nodes(node: Any, which: str) -> list[Any]:
    found = node.get(which)
    return found if isinstance(found, list) else []
