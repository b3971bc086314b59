"""Others who look at a machine while somebody may have private control of it."""

from typing import Final

from schemas.inputs.outcomes import Point
from schemas.link.messages import DesktopQuery, DesktopSeen, Display
from tests.simulation.world import World

ONLOOKERS: Final = 3
"""How many look again and again, each time at some node."""

WHERE_ONE_IS_ALONE: Final = Point(x=1, y=0)
"""The pointer, while somebody has private control and knows so: nobody else may be shown it."""

ELSEWHERE: Final = Point(x=0, y=0)

SLOWEST_SECONDS: Final = 2.0
"""For a machine to look, so that looks are under way when private control begins."""

ANEW_SECONDS: Final = 0.5
"""At most, until somebody looks again."""

PRIVATE_LATER: Final = 0.5
"""How often control is open at first, and made private after so many seconds at most."""

LATER_SECONDS: Final = 2.0


def seen_of(world: World, machine_id: str, query: DesktopQuery, display: Display) -> DesktopSeen:
    """What a machine says of its desktop as it is now."""
    pointer = WHERE_ONE_IS_ALONE if world.is_private(machine_id) else ELSEWHERE
    return DesktopSeen(request=query.request, displays=[display], pointer=pointer)
