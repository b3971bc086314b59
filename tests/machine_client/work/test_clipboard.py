"""Which ways the clipboard of a machine may be used, and that reading it never takes for ever."""

import threading
from pathlib import Path

import pytest

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.work import clipboard as clipboard_module
from machine_client.work.clipboard import MachineClipboard, why_no_clipboard
from machine_client.work.injector import DesktopInjector, Refusal
from machine_client.work.orders import ClipboardTaken
from schemas.inputs.bodies import WriteClipboard
from schemas.inputs.clipboard_texts import Selection
from schemas.link.clipboard_messages import ClipboardNext, ClipboardQuery, ClipboardRead
from schemas.link.messages import Capability
from tests.machine_client.scripted import Line, now, played

QUERY = ClipboardQuery(request=1, selection="clipboard", server_time=0)


class Desktop(UnavailableDesktop):
    """A desktop with nothing but a clipboard."""

    def __init__(self, text: str | Exception = "copied") -> None:
        super().__init__("nothing else")
        self.text = text
        self.go_on = threading.Event()
        self.go_on.set()

    def why_no_clipboard(self) -> str | None:
        self.go_on.wait()
        return None

    def read_clipboard(self, selection: Selection) -> str:
        self.go_on.wait()
        if isinstance(self.text, Exception):
            raise self.text
        return f"{self.text} ({selection})"


def clipboard(desktop: Desktop, *, read: bool = True, write: bool = True) -> MachineClipboard:
    return MachineClipboard(desktop, None, read=read, write=write)


async def test_both_selections_are_read() -> None:
    for selection in ("clipboard", "primary"):
        asked = QUERY.model_copy(update={"selection": selection})
        taken = await clipboard(Desktop()).read(asked)
        assert taken == ClipboardTaken(asked, f"copied ({selection})")


async def test_failures_are_told_and_a_mistakes_words_are_not() -> None:
    failed = await clipboard(Desktop(ClipboardError("clipboard_no_text", "an image"))).read(QUERY)
    assert failed.failure == ("clipboard_no_text", "an image")
    mistaken = await clipboard(Desktop(ValueError("secret"))).read(QUERY)
    assert mistaken.failure is not None
    assert mistaken.failure[0] == "internal_error"
    assert "secret" not in mistaken.failure[1]


async def test_desktop_that_hangs_is_waited_for_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard_module, "ANSWER_SECONDS", 0.1)
    desktop = Desktop()
    desktop.go_on.clear()
    taken = await clipboard(desktop).read(QUERY)
    desktop.go_on.set()
    assert taken.failure is not None
    assert taken.failure[0] == "clipboard_silent"


async def test_owner_may_switch_off_each_way() -> None:
    only_read = clipboard(Desktop(), write=False)
    assert only_read.can_read == Capability(available=True)
    assert only_read.can_write.switched_off
    only_written = clipboard(Desktop(), read=False)
    assert only_written.can_write == Capability(available=True)
    assert only_written.can_read.switched_off
    taken = await only_written.read(QUERY)
    assert taken.failure is not None
    assert "owner" in taken.failure[1]


async def test_desktop_without_a_clipboard_says_so() -> None:
    desktop = UnavailableDesktop("there is none")
    none = MachineClipboard(desktop, await why_no_clipboard(desktop), read=True, write=True)
    for way in (none.can_read, none.can_write):
        assert way == Capability(available=False, reason="there is none")


async def test_desktop_that_hangs_may_have_a_clipboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard_module, "CHECK_SECONDS", 0.1)
    desktop = Desktop()
    desktop.go_on.clear()
    assert await why_no_clipboard(desktop) is None
    desktop.go_on.set()


def test_injector_refuses_what_is_switched_off(display: str) -> None:
    injector = DesktopInjector(X11Desktop(display), "its owner lets nobody")
    with pytest.raises(Refusal, match="its owner"):
        injector.prepare(WriteClipboard(text="a"))
    injector.close()


async def test_link_tells_what_is_possible_and_what_was_read(tmp_path: Path) -> None:
    desktop = Desktop("x" * 200_000)

    async def script(line: Line) -> None:
        hello = await line.greet()
        assert hello.clipboard_read == Capability(available=True)
        assert hello.clipboard_write.switched_off
        await line.say(QUERY.model_copy(update={"server_time": now()}))
        first = await line.hear()
        await line.say(ClipboardNext(request=1, server_time=now()))
        second = await line.hear()
        assert isinstance(first, ClipboardRead)
        assert isinstance(second, ClipboardRead)
        assert first.text + second.text == "x" * 200_000 + " (clipboard)"
        assert (first.more, second.more) == (True, False)

    await played(tmp_path, script, clipboard=clipboard(desktop, write=False))
