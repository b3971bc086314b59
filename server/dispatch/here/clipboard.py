"""What is in the clipboard of a machine of this node."""

from server.dispatch.questions.clipboard import ANSWER_SECONDS, ReadClipboard, TextRead
from server.dispatch.refusals import (
    RefusedError,
    busy,
    clipboard_unreadable,
    just_disconnected,
    no_clipboard,
)
from server.machines.clipboard_reads import ClipboardUnreadableError
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.socket import LinkSocket


async def read_clipboard(link: LinkSocket, question: ReadClipboard) -> TextRead:
    """The text that was copied last.  Raises RefusedError."""
    if (why := link.availability.clipboard.why_no_read) is not None:
        raise RefusedError(no_clipboard(f"it cannot be read: {why}", link.up_since))
    try:
        text = await link.clipboard.read(question.selection, ANSWER_SECONDS)
    except ClipboardUnreadableError as error:
        raise RefusedError(clipboard_unreadable(error.code, str(error))) from None
    except LinkBusyError:
        raise RefusedError(busy("questions about its clipboard as it may")) from None
    except (LinkDownError, LinkLostError):
        raise RefusedError(just_disconnected()) from None
    except TimeoutError:
        why = f"it was not read within {ANSWER_SECONDS:g} s"
        raise RefusedError(no_clipboard(why, None)) from None
    return TextRead.of(text)
