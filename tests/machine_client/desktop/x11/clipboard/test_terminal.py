"""A program that people use, xterm, pastes what was copied, and what it marks is read."""

from pathlib import Path

from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import ClickMouse, WriteClipboard
from tests.desktop import Terminal
from tests.waiting import eventually


def test_xterm_pastes_what_was_copied(injector: DesktopInjector, terminal: Terminal) -> None:
    x, y = terminal.place(5)
    for text in ("Gr\u00fc\u00dfe, \u6f22\u5b57 \U0001f600", "x" * 100_000):
        injector.prepare(WriteClipboard(text=f"{text}|", selection="primary"))()
        injector.prepare(ClickMouse(x=x, y=y, button="middle"))()
        assert terminal.typed_before("|") == text


def test_what_xterm_marks_is_read(injector: DesktopInjector, display: str, tmp_path: Path) -> None:
    with Terminal.open(display, tmp_path, shown="one w\u00f6rd two") as terminal:
        x, y = terminal.place(5)
        injector.prepare(ClickMouse(x=x, y=y, clicks=2))()
        eventually(
            lambda: X11Desktop(display).read_clipboard("primary") == "w\u00f6rd",
            "the marked word is read",
        )
