"""The clipboard of this machine: which ways its owner allows, and reading it in bounded time."""

from machine_client.concurrency.bounded_call import BoundedCall
from machine_client.desktop.base import Desktop, DesktopError
from machine_client.work.orders import ClipboardTaken
from schemas.inputs.clipboard_texts import Selection
from schemas.link.clipboard_messages import ClipboardQuery
from schemas.link.messages import Capability

ANSWER_SECONDS = 20.0
"""For a desktop to give its clipboard; a little more than a desktop takes that is not stuck."""

CHECK_SECONDS = 2.0
"""For a desktop to say whether it has one."""


async def why_no_clipboard(desktop: Desktop) -> str | None:
    """Why a desktop has no clipboard; one that does not answer in time may well have one."""
    try:
        return await BoundedCall(desktop.why_no_clipboard, "clipboard").result(CHECK_SECONDS)
    except TimeoutError:
        return None


class MachineClipboard:
    """``can_read`` and ``can_write`` are what the link says of each way.

    ``why_none`` says why the desktop has no clipboard, where it has none; ``read`` and ``write``
    are what its owner allows.
    """

    def __init__(self, desktop: Desktop, why_none: str | None, *, read: bool, write: bool) -> None:
        self.can_read = _capability(why_none, "read what was copied on it", allowed=read)
        self.can_write = _capability(why_none, "copy anything on it", allowed=write)
        self._reads: dict[Selection, BoundedCall[str]] = {
            "clipboard": BoundedCall(lambda: desktop.read_clipboard("clipboard"), "clipboard"),
            "primary": BoundedCall(lambda: desktop.read_clipboard("primary"), "primary"),
        }

    async def read(self, query: ClipboardQuery) -> ClipboardTaken:
        """What is in the clipboard now, or why that is not said; never raises."""
        if (why := self.can_read.reason) is not None:
            return ClipboardTaken(query, failure=("clipboard_unavailable", why))
        try:
            text = await self._reads[query.selection].result(ANSWER_SECONDS)
        except DesktopError as error:
            return ClipboardTaken(query, failure=(error.code, str(error)))
        except TimeoutError:
            why = f"the desktop has not answered for {ANSWER_SECONDS:g} s"
            return ClipboardTaken(query, failure=("clipboard_silent", why))
        except Exception as error:  # noqa: BLE001  its own words could repeat what was copied
            why = f"the machine client made a mistake ({type(error).__name__})"
            return ClipboardTaken(query, failure=("internal_error", why))
        return ClipboardTaken(query, text)


def _capability(why_none: str | None, what: str, *, allowed: bool) -> Capability:
    if not allowed:
        return Capability(
            available=False, reason=f"its owner lets nobody {what}", switched_off=True
        )
    return Capability(available=why_none is None, reason=why_none and why_none[:500])
