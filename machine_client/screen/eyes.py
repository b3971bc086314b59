"""What looks at the screen for the executor."""

from typing import NoReturn

from machine_client.desktop.base import DesktopError
from machine_client.screen.capturer import NO_SCREEN


class ClosedEyes:
    """Stands in for a screen that nobody may look at."""

    def check(self, *_: object) -> NoReturn:
        """Fail."""
        raise DesktopError("screen_unavailable", NO_SCREEN)

    def frame(self) -> NoReturn:
        """Fail."""
        self.check()

    def wait_for(self, *_: object) -> NoReturn:
        """Fail."""
        self.check()

    def take(self, *_: object) -> None:
        """There is nothing to take."""
