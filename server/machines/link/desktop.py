"""How the desktop of a connected machine is, and since when: what its client last said."""

from dataclasses import dataclass

from schemas.link.messages import Capability, DesktopChanged, Display, Hello
from server.machines.link.sharing import shared

UNKNOWN_WHY = "it did not say why"


@dataclass(frozen=True, slots=True)
class DesktopState:
    """What a machine client last said of its desktop.

    ``elements`` is whether its programs tell what elements they have.  ``input_since`` and
    ``screen_since`` say since when each is available, or is not: milliseconds since 1970.
    """

    displays: tuple[Display, ...]
    input: Capability
    screen: Capability
    elements: Capability
    input_since: int
    screen_since: int

    @classmethod
    def greeted(cls, hello: Hello, since: int) -> "DesktopState":
        """The desktop of a hello that came at this time."""
        return cls(
            shared(tuple(hello.displays)),
            shared(hello.input),
            shared(hello.screen),
            shared(hello.elements),
            since,
            since,
        )

    def changed_to(self, desktop: DesktopChanged, at: int) -> "DesktopState":
        """The desktop as it is said to be now."""
        had_input, had_screen = self.input.available, self.screen.available
        return DesktopState(
            shared(tuple(desktop.displays)),
            shared(desktop.input),
            shared(desktop.screen),
            shared(desktop.elements),
            self.input_since if desktop.input.available == had_input else at,
            self.screen_since if desktop.screen.available == had_screen else at,
        )

    @property
    def why_no_input(self) -> str | None:
        """Why it takes no input; None where it does."""
        return None if self.input.available else self.input.reason or UNKNOWN_WHY

    @property
    def why_no_screen(self) -> str | None:
        """Why it cannot be seen; None where it can."""
        return None if self.screen.available else self.screen.reason or UNKNOWN_WHY

    @property
    def why_no_elements(self) -> str | None:
        """Why nothing is told of its elements; None where it is."""
        return None if self.elements.available else self.elements.reason or UNKNOWN_WHY

    @property
    def is_dark(self) -> bool:
        """Whether its screen should be seen and cannot."""
        return not (self.screen.available or self.screen.switched_off)
