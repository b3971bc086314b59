"""Reads what another program has copied, bounded in time and in bytes."""

import contextlib
import time
from collections.abc import Callable
from typing import Any, Final

import Xlib.protocol.rq
from Xlib import X

from machine_client.desktop.base import ClipboardError, InjectionUnavailable
from machine_client.desktop.x11.clipboard.selections import NAMES, SelectionClient
from machine_client.desktop.x11.connection import errors_translated
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES, Selection

STEP_SECONDS: Final = 5.0
"""For the owner of a selection to do the next thing that is asked of it."""
WHOLE_SECONDS: Final = 15.0
"""For all of it: an owner that gives a byte now and then is as good as silent."""

_WORD: Final = 4
_ENOUGH_WORDS: Final = MAX_CLIPBOARD_BYTES // _WORD + 1


def read_selection(name: str | None, selection: Selection) -> str:
    """The text of a selection of the display of this name; empty where nobody has copied anything.

    Raises ClipboardError, and DesktopError where the display is not there.
    """
    with errors_translated():
        try:
            client = SelectionClient(name)
        except InjectionUnavailable as error:
            raise ClipboardError("clipboard_unavailable", str(error)) from error
        try:
            return _Reading(client, selection).text()
        finally:
            # With it goes the window: an owner that is in the middle of a long text gives up.
            with contextlib.suppress(Exception):
                client.display.close()


class _Reading:
    """One question to the owner of a selection."""

    def __init__(self, client: SelectionClient, selection: Selection) -> None:
        self._client = client
        self._selection = client.atom(NAMES[selection])
        self._property = client.atom("_FARHAND_CLIPBOARD")
        self._incr = client.atom("INCR")
        self._give_up_at = time.monotonic() + WHOLE_SECONDS

    def text(self) -> str:
        if self._client.display.get_selection_owner(self._selection) == X.NONE:
            return ""
        for target, encoding in (
            ("UTF8_STRING", "utf-8"),
            ("text/plain;charset=utf-8", "utf-8"),
            ("STRING", "latin-1"),
        ):
            content = self._converted(self._client.atom(target))
            if content is not None:
                return _decoded(content, encoding)
        raise ClipboardError(
            "clipboard_no_text", "what was copied is no text, or its program gives none"
        )

    def _converted(self, target: int) -> bytes | None:
        """The selection as this target; None where its owner does not have it so."""
        window = self._client.window
        window.delete_property(self._property)
        window.convert_selection(self._selection, target, self._property, X.CurrentTime)
        answer = self._wait_for(lambda event: self._is_answer(event, target))
        if answer.property == X.NONE:
            return None
        first = self._take_property()
        if first is None:
            return None
        return self._pieces() if first.property_type == self._incr else _bytes_of(first)

    def _is_answer(self, event: Xlib.protocol.rq.Event, target: int) -> bool:
        """Whether an event answers this question, and not the one before, too late."""
        return bool(event.type == X.SelectionNotify and event.target == target)

    def _pieces(self) -> bytes:
        """What the owner gives in pieces, an empty one last; each when the one before is taken."""
        content = bytearray()
        while True:
            self._wait_for(self._is_piece)
            piece = self._take_property()
            part = b"" if piece is None else _bytes_of(piece)
            if not part:
                return bytes(content)
            content += part
            if len(content) > MAX_CLIPBOARD_BYTES:
                raise _too_large()

    def _is_piece(self, event: Xlib.protocol.rq.Event) -> bool:
        return bool(
            event.type == X.PropertyNotify
            and event.atom == self._property
            and event.state == X.PropertyNewValue
        )

    def _take_property(self) -> Any:
        """What is in the property, which is deleted: its owner may put the next piece there."""
        value = self._client.window.get_property(
            self._property, X.AnyPropertyType, 0, _ENOUGH_WORDS, delete=True
        )
        # Too long a value stays where it is, and only so much of it was sent.
        if value is not None and value.bytes_after:
            raise _too_large()
        return value

    def _wait_for(
        self, is_wanted: Callable[[Xlib.protocol.rq.Event], bool]
    ) -> Xlib.protocol.rq.Event:
        until = min(time.monotonic() + STEP_SECONDS, self._give_up_at)
        while (event := self._client.next_event(until)) is not None:
            if is_wanted(event):
                return event
        raise ClipboardError(
            "clipboard_silent", "the program that copied last does not say what, or stopped midway"
        )


def _bytes_of(value: Any) -> bytes:
    # python-xlib gives text for what is of type STRING in some versions, and bytes else.
    content = value.value
    if value.format != 8:
        raise ClipboardError("clipboard_no_text", "what was copied is no text")
    content = content.encode("latin-1") if isinstance(content, str) else bytes(content)
    if len(content) > MAX_CLIPBOARD_BYTES:
        raise _too_large()
    return content


def _decoded(content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise ClipboardError(
            "clipboard_not_unicode", "what was copied says that it is UTF-8 and is not"
        ) from None
    if encoding != "utf-8" and len(text.encode()) > MAX_CLIPBOARD_BYTES:
        raise _too_large()
    return text


def _too_large() -> ClipboardError:
    return ClipboardError(
        "clipboard_too_large", f"what was copied has more than {MAX_CLIPBOARD_BYTES} bytes"
    )
