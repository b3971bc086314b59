"""What is in a connected machine's clipboard, or the problem that says why it cannot be read."""

from typing import Final

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.inputs.clipboard_texts import Selection
from server.dispatch.refusals import busy, just_disconnected, no_clipboard
from server.machines.clipboard.reading import ClipboardUnreadableError
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.socket import LinkSocket

ANSWER_SECONDS: Final = 30.0
"""For a machine to answer: inputs that came before go first, and programs may be slow to say."""


async def read_clipboard(link: LinkSocket, selection: Selection) -> str:
    """The text that was copied last on a machine of this node, or a problem."""
    if (why := link.availability.clipboard.why_no_read) is not None:
        raise no_clipboard(f"it cannot be read: {why}", link.up_since)
    try:
        return await link.clipboard.read(selection, ANSWER_SECONDS)
    except ClipboardUnreadableError as error:
        raise ProblemError(
            problems.CLIPBOARD_UNREADABLE, str(error), members={"code": error.code}
        ) from None
    except LinkBusyError:
        raise busy("questions about its clipboard as it may") from None
    except (LinkDownError, LinkLostError):
        raise just_disconnected() from None
    except TimeoutError:
        raise no_clipboard(f"it was not read within {ANSWER_SECONDS:g} s", None) from None
