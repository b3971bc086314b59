"""What others copied is read, whatever they are like."""

import os
import threading

import pytest

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.wayland.clipboard import reader
from machine_client.desktop.wayland.clipboard.reader import read_clipboard
from machine_client.desktop.wayland.clipboard.selections import ClipboardDevice
from machine_client.desktop.wayland.wire.protocols import DATA_SOURCE
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from tests.machine_client.desktop.wayland.compositor import Sway


class Copied:
    """A program that copied something in its own way."""

    def __init__(self, compositor: Sway, form: str, content: bytes | None) -> None:
        self._device = ClipboardDevice(compositor.name)
        self._content = content
        connection = self._device.connection
        source = connection.create(DATA_SOURCE)
        connection.send(self._device.manager, "create_data_source", source)
        connection.send(source, "offer", form)
        source.on["send"] = self._give
        self._device.own("clipboard", source)
        connection.round_trip()
        self._is_over = False
        self._open: list[int] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _give(self, _form: str, descriptor: int) -> None:
        self._open.append(descriptor)
        if self._content is not None:
            with os.fdopen(self._open.pop(), "wb") as file:
                try:
                    file.write(self._content)
                    file.flush()
                except BrokenPipeError:
                    os.close(os.dup(0))

    def _run(self) -> None:
        while not self._is_over:
            self._device.connection.wait_for(lambda: self._is_over, 0.02)

    def close(self) -> None:
        self._is_over = True
        self._thread.join(10)
        for descriptor in self._open:
            os.close(descriptor)
        self._device.connection.close()


@pytest.mark.parametrize("form", ["UTF8_STRING", "text/plain", "STRING"])
def test_text_is_read_in_any_of_its_forms(compositor: Sway, form: str) -> None:
    program = Copied(compositor, form, "ä漢".encode())
    assert read_clipboard(compositor.name, "clipboard") == "ä漢"
    program.close()


@pytest.mark.parametrize(
    ("form", "content", "code"),
    [
        ("image/png", b"\x89PNG", "clipboard_no_text"),
        ("text/plain", b"\xff\xfe", "clipboard_not_unicode"),
        ("text/plain", None, "clipboard_silent"),
    ],
)
def test_what_is_no_text_is_refused(
    compositor: Sway,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    content: bytes | None,
    code: str,
) -> None:
    if code == "clipboard_silent":
        monkeypatch.setattr(reader, "STEP_SECONDS", 0.1)
    program = Copied(compositor, form, content)
    with pytest.raises(ClipboardError) as caught:
        read_clipboard(compositor.name, "clipboard")
    assert caught.value.code == code
    program.close()


def test_too_long_a_text_is_not_read_to_its_end(compositor: Sway) -> None:
    program = Copied(compositor, "text/plain", bytes(100 * MAX_CLIPBOARD_BYTES))
    with pytest.raises(ClipboardError) as caught:
        read_clipboard(compositor.name, "clipboard")
    assert caught.value.code == "clipboard_too_large"
    program.close()
