"""What a link needs around it: the websocket that it is on, and who is told what happens."""

from typing import Protocol, TypeVar

from schemas.link.messages import DesktopChanged, Hello
from server.machines.link.questions.screen import FrameArrived

Link_contra = TypeVar("Link_contra", contravariant=True)


class Connection(Protocol):
    """The part of a websocket that a link needs."""

    def send_text(self, text: str) -> None:
        """Queue one text frame."""

    def close(self, code: int, reason: str) -> None:
        """Start the closing handshake."""


class LinkObserver(Protocol[Link_contra]):
    """Who is told what happens on a link, and acts on it."""

    async def admit(self, link: Link_contra, hello: Hello) -> None:
        """The machine has said hello.  Raises LinkDownError where the link ends meanwhile."""

    def closing(self, link: Link_contra) -> None:
        """This side begins to close the link: ``over_code`` and ``over_reason`` say why."""

    def desktop_changed(self, link: Link_contra, desktop: DesktopChanged) -> None:
        """The machine says that its desktop is another now."""

    def availability_changed(self, link: Link_contra) -> None:
        """The machine's desktop got stuck, or is not any more."""

    def rivals_changed(self, link: Link_contra) -> None:
        """Another host than before comes with the machine's token."""

    def viewers_changed(self, link: Link_contra) -> None:
        """Others look at the machine's live screen than before."""

    def frame_arrived(self, link: Link_contra, frame: FrameArrived) -> None:
        """The machine wants to know what a part of its screen shows."""
