"""The clipboard of a VNC server, as one connection to it knows it."""

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.vnc.connection import VncConnection
from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb import clipboard as texts
from machine_client.desktop.vnc.rfb.conversation import Copied
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES, utf8_length

_NO_CHARACTER = "\N{REPLACEMENT CHARACTER}"
"""TigerVNC takes it for the mark of a text that is no UTF-8, drops that, and keeps what was copied
before: seen of 1.15 (Debian 13), not of 1.12.  Nobody is told, so nobody is sent one."""

ANSWER_SECONDS = 5.0
"""For whoever has copied something at the other end to give it away."""


class Clipboard:
    """What was copied last, here or at the other end; for any thread."""

    def __init__(self, connection: VncConnection) -> None:
        self._connection = connection
        self._ours: tuple[int, str] | None = None

    def write(self, text: str) -> None:
        """Copy a text, for whoever pastes at the other end.  Raises ClipboardError."""
        said = self._connection.said
        text = texts.plain_lines(text)
        if said.has_extended_clipboard:
            if _NO_CHARACTER in text:
                raise ClipboardError(
                    "clipboard_text_unsupported",
                    "VNC servers drop a text with U+FFFD, which stands for what cannot be read",
                )
            with self._connection.changed:
                said.offered = text
                self._ours = (said.copied.changes, text)
            self._connection.send(ours.extended_cut_text(texts.notify(has_text=True)))
        else:
            try:
                message = ours.cut_text(text)
            except UnicodeEncodeError:
                raise ClipboardError(
                    "clipboard_text_unsupported",
                    "this VNC server takes Latin-1 alone, which lacks a character of the text",
                ) from None
            with self._connection.changed:
                self._ours = (said.copied.changes, text)
            self._connection.send(message)
        self._connection.confirm()

    def read(self) -> str:
        """What was copied last.  Raises ClipboardError."""
        self._connection.confirm()
        said = self._connection.said
        with self._connection.changed:
            copied, ours_ = said.copied, self._ours
        if ours_ is not None and ours_[0] == copied.changes:
            # The server has told of nothing newer.
            return ours_[1]
        if copied.is_waiting:
            copied = self._ask_for_it(copied)
        if copied.too_long or (utf8_length(copied.text or "") or 0) > MAX_CLIPBOARD_BYTES:
            raise ClipboardError(
                "clipboard_too_long", "what was copied is longer than 1 MiB, and was not read"
            )
        if copied.text is None:
            raise ClipboardError("clipboard_silent", "the VNC server does not give what was copied")
        return copied.text

    def _ask_for_it(self, before: Copied) -> Copied:
        self._connection.send(ours.extended_cut_text(texts.request()))
        said = self._connection.said
        with self._connection.changed:
            self._connection.changed.wait_for(
                lambda: said.copied.changes != before.changes and not said.copied.is_waiting,
                ANSWER_SECONDS,
            )
            return said.copied
