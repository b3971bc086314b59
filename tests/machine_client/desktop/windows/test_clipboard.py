"""The clipboard as other programs leave it; that texts are kept is in the contract."""

import ctypes
import threading
from typing import Any

import pytest

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.windows import api, clipboard
from machine_client.desktop.windows.clipboard import read_clipboard, write_clipboard


def _copy(kind: int, content: bytes) -> None:
    """Copy something of any kind, as another program would."""
    with clipboard._open():
        api.empty_clipboard()
        memory = api.global_alloc(2, len(content))
        place = api.global_lock(memory)
        ctypes.memmove(place, content, len(content))
        api.global_unlock(memory)
        assert api.set_clipboard_data(kind, memory)


def test_empty_clipboard_is_an_empty_text() -> None:
    with clipboard._open():
        api.empty_clipboard()
    assert read_clipboard("clipboard") == ""


def test_what_is_no_text_is_told() -> None:
    _copy(8, bytes(40))  # CF_DIB
    with pytest.raises(ClipboardError) as caught:
        read_clipboard("clipboard")
    assert caught.value.code == "clipboard_no_text"


def test_text_ends_at_its_first_null_or_with_its_memory() -> None:
    _copy(13, "ab\0cd".encode("utf-16-le"))
    assert read_clipboard("clipboard") == "ab"


def test_half_of_a_surrogate_pair_is_told() -> None:
    _copy(13, b"\x00\xd8\x41\x00\x00\x00")
    with pytest.raises(ClipboardError) as caught:
        read_clipboard("clipboard")
    assert caught.value.code == "clipboard_not_unicode"


def test_text_that_is_too_long_is_told() -> None:
    for characters in (1024 * 1024 + 1, 3 * 1024 * 1024):
        _copy(13, ("a" * characters).encode("utf-16-le") + b"\0\0")
        with pytest.raises(ClipboardError) as caught:
            read_clipboard("clipboard")
        assert caught.value.code == "clipboard_too_large"


def test_there_is_one_clipboard_alone() -> None:
    for call in (lambda: read_clipboard("primary"), lambda: write_clipboard("primary", "a")):
        with pytest.raises(ClipboardError, match="one clipboard alone"):
            call()


def test_nobody_opens_it_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    write_clipboard("clipboard", "a")
    read = api.get_clipboard_data
    opened: list[bool] = []

    def open_it() -> None:
        opened.append(bool(api.open_clipboard(None)))

    def read_beside_another(kind: int) -> Any:
        thread = threading.Thread(target=open_it)
        thread.start()
        thread.join(20)
        return read(kind)

    monkeypatch.setattr(api, "get_clipboard_data", read_beside_another)
    assert read_clipboard("clipboard") == "a"
    assert opened == [False]


def test_program_that_keeps_it_open_is_waited_for_and_then_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened, enough = threading.Event(), threading.Event()

    def keep() -> None:
        with clipboard._open():
            opened.set()
            enough.wait(20)

    thread = threading.Thread(target=keep)
    thread.start()
    try:
        assert opened.wait(20)
        monkeypatch.setattr(clipboard, "_PATIENCE_SECONDS", 0.05)
        with pytest.raises(ClipboardError) as caught:
            write_clipboard("clipboard", "a")
        assert caught.value.code == "clipboard_silent"
        monkeypatch.undo()
        threading.Timer(0.05, enough.set).start()
        write_clipboard("clipboard", "b")
    finally:
        enough.set()
        thread.join(20)
    assert read_clipboard("clipboard") == "b"
