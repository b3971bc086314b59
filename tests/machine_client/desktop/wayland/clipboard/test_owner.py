"""What is copied is given to every program, and to several at once."""

import threading
from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopLost, InjectionUnavailable
from machine_client.desktop.wayland.clipboard.owner import WaylandClipboardOwner
from machine_client.desktop.wayland.clipboard.reader import read_clipboard
from tests.machine_client.desktop.wayland.compositor import Sway, sway


def test_both_clipboards_are_owned_apart(compositor: Sway) -> None:
    owner = WaylandClipboardOwner(compositor.name)
    owner.put("clipboard", "one")
    owner.put("primary", "two")
    assert read_clipboard(compositor.name, "clipboard") == "one"
    assert read_clipboard(compositor.name, "primary") == "two"
    owner.close()
    assert read_clipboard(compositor.name, "clipboard") == ""
    owner.close()


def test_who_copies_later_has_it(compositor: Sway) -> None:
    first, second = WaylandClipboardOwner(compositor.name), WaylandClipboardOwner(compositor.name)
    first.put("clipboard", "first")
    second.put("clipboard", "second")
    assert read_clipboard(compositor.name, "clipboard") == "second"
    first.put("clipboard", "")
    assert read_clipboard(compositor.name, "clipboard") == ""
    first.close()
    second.close()


def test_several_paste_a_long_text_at_once(compositor: Sway) -> None:
    owner, text = WaylandClipboardOwner(compositor.name), "ä" * 300_000
    owner.put("clipboard", text)
    read: list[str] = []
    threads = [
        threading.Thread(target=lambda: read.append(read_clipboard(compositor.name, "clipboard")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert read == [text] * 4
    owner.close()


def test_owner_whose_compositor_ends_says_so(tmp_path: Path) -> None:
    with pytest.raises(InjectionUnavailable):
        WaylandClipboardOwner(str(tmp_path / "none"))
    with sway() as compositor:
        owner = WaylandClipboardOwner(compositor.name)
        owner.put("clipboard", "text")
        compositor.kill()
        with pytest.raises(DesktopLost):
            owner.put("clipboard", "more")
        owner._thread.join(10)
        assert owner.is_over
        with pytest.raises(DesktopLost):
            owner.put("clipboard", "more")
        owner.close()
