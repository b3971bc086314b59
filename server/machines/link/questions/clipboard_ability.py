"""Whether a machine's clipboard can be read and written, as its client said at its beginning."""

from typing import Final, NamedTuple

from schemas.link.messages import Capability, Hello
from server.machines.link.sharing import shared

UNKNOWN_WHY: Final = "it did not say why"


class ClipboardAbility(NamedTuple):
    """Each way is possible, or is not for a reason."""

    read: Capability
    write: Capability

    @classmethod
    def greeted(cls, hello: Hello) -> "ClipboardAbility":
        """That of a hello."""
        return shared(cls(hello.clipboard_read, hello.clipboard_write))

    @property
    def why_no_read(self) -> str | None:
        """Why it cannot be read; None where it can."""
        return _why_not(self.read)

    @property
    def why_no_write(self) -> str | None:
        """Why nothing can be copied; None where it can."""
        return _why_not(self.write)


def _why_not(capability: Capability) -> str | None:
    return None if capability.available else capability.reason or UNKNOWN_WHY
