"""Reads what another program has copied, bounded in time and in bytes."""

import os
import select
import time
from typing import Final

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.wayland.clipboard.selections import (
    TEXT_FORMS,
    ClipboardDevice,
    opened,
)
from machine_client.desktop.wayland.wire.connection import Proxy
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES, Selection

STEP_SECONDS: Final = 5.0
"""For the program that copied to give the next part."""
WHOLE_SECONDS: Final = 15.0
"""For all of it: one that gives a byte now and then is as good as silent."""
_PART_BYTES: Final = 64 * 1024


def read_clipboard(name: str | None, selection: Selection) -> str:
    """The text that was copied last; empty where nobody has copied anything.

    Raises ClipboardError, and DesktopError where the display is not there.
    """
    device = opened(name)
    try:
        device.check(selection)
        return _Reading(device, selection).text()
    finally:
        device.connection.close()


class _Reading:
    """One look at what is offered."""

    def __init__(self, device: ClipboardDevice, selection: Selection) -> None:
        self._connection = device.connection
        self._offers: dict[int, Proxy] = {}
        self._forms: dict[int, list[str]] = {}
        self._offered: dict[str, int] = {}
        device.device.on = {
            "data_offer": self._comes,
            "selection": lambda offer: self._is_offered("clipboard", offer),
            "primary_selection": lambda offer: self._is_offered("primary", offer),
        }
        self._connection.round_trip()
        self._selection = selection

    def text(self) -> str:
        offer = self._offered.get(self._selection, 0)
        if not offer:
            return ""
        form = next((each for each in TEXT_FORMS if each in self._forms[offer]), None)
        if form is None:
            raise ClipboardError("clipboard_no_text", "what was copied is no text")
        content = self._received(offer, form)
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise ClipboardError(
                "clipboard_not_unicode", "what was copied says that it is text and is not UTF-8"
            ) from None

    def _received(self, offer: int, form: str) -> bytes:
        readable, writable = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.set_blocking(writable, True)
            try:
                self._connection.send(self._offers[offer], "receive", form, writable)
                self._connection.flush()
            finally:
                os.close(writable)
            return _read_all(readable)
        finally:
            # A program that is in the middle of a long text gives up with it.
            os.close(readable)

    def _comes(self, offer: Proxy) -> None:
        self._offers[offer.id] = offer
        self._forms[offer.id] = []
        offer.on["offer"] = self._forms[offer.id].append

    def _is_offered(self, selection: str, offer: int) -> None:
        self._offered[selection] = offer


def _read_all(readable: int) -> bytes:
    content = bytearray()
    give_up_at = time.monotonic() + WHOLE_SECONDS
    poll = select.poll()
    poll.register(readable, select.POLLIN)
    while (left := give_up_at - time.monotonic()) > 0 and poll.poll(1000 * min(left, STEP_SECONDS)):
        part = os.read(readable, _PART_BYTES)
        if not part:
            return bytes(content)
        content += part
        if len(content) > MAX_CLIPBOARD_BYTES:
            raise ClipboardError(
                "clipboard_too_large", f"what was copied has more than {MAX_CLIPBOARD_BYTES} bytes"
            )
    raise ClipboardError(
        "clipboard_silent", "the program that copied last does not say what, or stopped midway"
    )
