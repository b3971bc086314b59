"""Whether a screen still looks as it did at the last look, told without taking its pixels.

To take and compare them costs some milliseconds of a core, again and again, on a screen that hardly
ever changes.
"""

from typing import Final

from machine_client.desktop.base import DesktopView
from machine_client.system.clock import boottime_seconds
from schemas.inputs.outcomes import Point

SURE_SECONDS: Final = 1.0
"""After which it is looked in any case: a pointer may get another shape where nothing is drawn."""


class Resting:
    """Whether something was drawn in a view, or its pointer has moved, since it was `looked`.

    Where a desktop does not tell what is drawn, it may always have been.  What the view raises is
    raised here.
    """

    def __init__(self, view: DesktopView) -> None:
        self._view = view
        self._is_drawn, self._tells = True, False
        self._pointer: Point | None = None
        self._looked_at = 0.0

    def is_as_before(self) -> bool:
        """Whether there is nothing new to be seen; where there may be, it has to be looked now."""
        self._is_drawn = self._is_drawn or self._view.wait_until_drawn(0)
        before, self._pointer = self._pointer, self._view.pointer() if self._tells else None
        if self._is_drawn or self._pointer != before:
            return False
        return boottime_seconds() - self._looked_at < SURE_SECONDS

    def looked(self) -> None:
        """Its pixels are taken; from now on it is told what is drawn."""
        self._looked_at = boottime_seconds()
        self._is_drawn = self._view.wait_until_drawn(0)
        # Where the pointer is costs a question, too, of which nothing comes where all is drawn.
        self._tells |= not self._is_drawn
