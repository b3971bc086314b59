"""What a VNC server says of its screens, as inputs and pictures use it."""

from machine_client.desktop.vnc.rfb.conversation import Conversation
from schemas.link.messages import Display
from schemas.values.pictures import Region


def displays_of(said: Conversation) -> list[Display]:
    """The screens, at least one."""
    return [
        Display(x=screen.x, y=screen.y, width=screen.width, height=screen.height)
        for screen in said.screens
    ]


def region_of(said: Conversation) -> Region:
    """The smallest rectangle around all screens."""
    left = min(screen.x for screen in said.screens)
    top = min(screen.y for screen in said.screens)
    return Region(
        left,
        top,
        max(screen.x + screen.width for screen in said.screens) - left,
        max(screen.y + screen.height for screen in said.screens) - top,
    )


def middle_of(said: Conversation) -> tuple[int, int]:
    """The middle of the first screen, where the pointer is put if nobody says where it is."""
    first = said.screens[0]
    return first.x + first.width // 2, first.y + first.height // 2
