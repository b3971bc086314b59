"""The session's clipboard, as Unicode text, which one program at a time may have open."""

import contextlib
import ctypes
import time
from collections.abc import Iterator
from typing import Final

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.windows import api
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES, Selection, utf8_length

_TEXT: Final = 13  # CF_UNICODETEXT
_MOVEABLE: Final = 2  # GMEM_MOVEABLE
_MESSAGES_ALONE: Final = -3  # HWND_MESSAGE
_PATIENCE_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 0.01


def read_clipboard(selection: Selection) -> str:
    """What was copied last; empty where nothing was.  Raises ClipboardError."""
    _check(selection)
    with _open():
        data = api.get_clipboard_data(_TEXT)
        if not data:
            if api.count_clipboard_formats():
                raise ClipboardError("clipboard_no_text", "what was copied is no text")
            return ""
        return _decoded(_bytes_of(data))


def write_clipboard(selection: Selection, text: str) -> None:
    """Copy a text; it stays when this program ends.  Raises ClipboardError."""
    _check(selection)
    with _open():
        _put(text)


def _put(text: str) -> None:
    content = text.encode("utf-16-le") + b"\0\0"
    memory = api.global_alloc(_MOVEABLE, len(content))
    if not memory:
        raise _failed("there is no memory for it")
    ctypes.memmove(api.global_lock(memory), content, len(content))
    api.global_unlock(memory)
    if not api.empty_clipboard() or not api.set_clipboard_data(_TEXT, memory):
        # What the clipboard has taken is its own, anything else ours.
        api.global_free(memory)
        raise _failed("it does not take it")


@contextlib.contextmanager
def _open() -> Iterator[None]:
    """Have it open, for a window of its own.

    Only a window owns a clipboard, and one without an owner takes no data.  One that is open for
    no window is taken away by the next program that opens it for none (seen with Wine 8).
    """
    owner = api.create_window(0, "STATIC", None, 0, 0, 0, 0, 0, _MESSAGES_ALONE, None, None, None)
    if not owner:
        raise _failed("no window can be made for it")
    try:
        _wait_for(owner)
        try:
            yield
        finally:
            api.close_clipboard()
    finally:
        api.destroy_window(owner)


def _wait_for(owner: int) -> None:
    give_up_at = time.monotonic() + _PATIENCE_SECONDS
    while not api.open_clipboard(owner):
        if time.monotonic() > give_up_at:
            raise ClipboardError(
                "clipboard_silent", "another program has the clipboard open and keeps it"
            )
        time.sleep(_PAUSE_SECONDS)


def _bytes_of(data: int) -> bytes:
    """What is in a piece of memory, which has a size and need not be text to its end."""
    size = api.global_size(data)
    if size > 2 * (2 * MAX_CLIPBOARD_BYTES + 2):
        raise _too_large()
    place = api.global_lock(data)
    if not place:
        raise _failed("what is in it cannot be read")
    try:
        return ctypes.string_at(place, size)
    finally:
        api.global_unlock(data)


def _decoded(content: bytes) -> str:
    try:
        text = content[: len(content) & ~1].decode("utf-16-le").partition("\0")[0]
    except UnicodeDecodeError:
        raise ClipboardError(
            "clipboard_not_unicode", "what was copied says that it is Unicode and is not"
        ) from None
    if (utf8_length(text) or 0) > MAX_CLIPBOARD_BYTES:
        raise _too_large()
    return text


def _check(selection: Selection) -> None:
    if selection != "clipboard":
        raise ClipboardError("clipboard_unavailable", "Windows knows one clipboard alone")


def _too_large() -> ClipboardError:
    return ClipboardError(
        "clipboard_too_large", f"what was copied has more than {MAX_CLIPBOARD_BYTES} bytes"
    )


def _failed(why: str) -> ClipboardError:
    return ClipboardError(
        "clipboard_unavailable", f"Windows' clipboard: {why} (error {api.last_error()})"
    )
