"""What the server believes of the desktop, and what it must be told: without I/O."""

from schemas.link.messages import DesktopChanged, Hello, Released


class ReportedDesktop:
    """The desktop as it is, beside what the present link has said of it.

    What was released when the desktop was opened is told by whatever is said next; where that is a
    hello, by every further one until a server has taken it.
    """

    def __init__(self) -> None:
        self._now: DesktopChanged | None = None
        self._told: DesktopChanged | None = None
        self._released: Released | None = None
        self._released_in_hello: Released | None = None

    def changed_to(self, desktop: DesktopChanged) -> None:
        """The desktop was looked at and is as this says."""
        self._released = desktop.released or self._released
        self._now = desktop.model_copy(update={"released": None})

    def greeting(self, hello: Hello) -> Hello:
        """What to say first on a new link; the desktop is told in it."""
        self._told = DesktopChanged(
            displays=hello.displays,
            input=hello.input,
            screen=hello.screen,
            elements=hello.elements,
        )
        self._released_in_hello = self._released
        return hello.model_copy(update={"released": self._released})

    def welcomed(self) -> None:
        """The server has taken the hello."""
        if self._released is self._released_in_hello:
            self._released = None

    def news(self) -> DesktopChanged | None:
        """What to say of the desktop now; None where the server knows it."""
        if self._now is None or (self._now == self._told and self._released is None):
            return None
        released, self._released, self._told = self._released, None, self._now
        return self._now.model_copy(update={"released": released})
