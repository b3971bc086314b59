"""How desktops are, as machine clients say it."""

from collections.abc import Sequence

from schemas.link.messages import Capability, DesktopChanged, Display
from tests.links import hello

YES = Capability(available=True)
GONE = Capability(available=False, reason="the display is gone")
DARK = Capability(available=False, reason="it is dark")
OFF = Capability(available=False, reason="its owner lets nobody look", switched_off=True)
SMALL = Display(x=0, y=0, width=800, height=600)
GREETING = hello(no_screen=None)


def desktop(
    input_: Capability = YES,
    screen: Capability = YES,
    displays: Sequence[Display] = tuple(GREETING.displays),
) -> DesktopChanged:
    return DesktopChanged(
        displays=[*displays], input=input_, screen=screen, elements=GREETING.elements
    )
