"""Whether a machine's clipboard can be read and written, as its client said at its beginning."""

from typing import Final, NamedTuple

from schemas.link.clipboard_messages import ClipboardQuery
from schemas.link.messages import Capability, Hello

UNKNOWN_WHY: Final = "it did not say why"
_NONE: Final = Capability(
    available=False, reason="its machine client is too old for the clipboard, or has none"
)


class ClipboardAbility(NamedTuple):
    """Each way is possible, or is not for a reason."""

    read: Capability = _NONE
    write: Capability = _NONE

    @classmethod
    def greeted(cls, hello: Hello, protocol: int) -> "ClipboardAbility":
        """That of a hello, on a link that speaks this version of the protocol."""
        if protocol < ClipboardQuery.since:
            return NO_CLIPBOARD
        ability = cls(hello.clipboard_read or _NONE, hello.clipboard_write or _NONE)
        # One for all machines that are alike: each would take a kilobyte.
        return _SHARED.get(ability.read.available and ability.write.available, ability)

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


NO_CLIPBOARD: Final = ClipboardAbility()

_SHARED: Final = {True: ClipboardAbility(Capability(available=True), Capability(available=True))}
