"""What is copied on either side is what is pasted on the other, by programs that do only that."""

import random
from collections.abc import Iterator
from functools import partial

import pytest

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb.clipboard import plain_lines
from machine_client.desktop.x11.clipboard.owner import SelectionOwner
from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import WriteClipboard
from tests.machine_client.desktop.vnc.plain_server import ONE_PIXEL, plain_server
from tests.machine_client.desktop.x11.clipboard.programs import pasting
from tests.texts import any_text
from tests.waiting import eventually


@pytest.fixture
def desktop(vnc: tuple[str, int]) -> VncDesktop:
    return VncDesktop(VncServer("127.0.0.1", vnc[1]))


@pytest.fixture
def injector(desktop: VncDesktop) -> Iterator[DesktopInjector]:
    injector = DesktopInjector(desktop)
    yield injector
    injector.close()


def test_copied_text_is_pasted_there(vnc: tuple[str, int], injector: DesktopInjector) -> None:
    draw = random.Random(6)
    with pasting(vnc[0]) as paster:
        # It takes 256 KiB unless its setting MaxCutText says more.
        drawn = (any_text(draw).replace("\ufffd", "") for _ in range(20))
        for text in (*drawn, "漢" * 65536):
            injector.prepare(WriteClipboard(text=text))()
            assert (paster.paste() or b"").decode() == plain_lines(text)


def test_text_that_a_newer_server_drops_is_refused(
    desktop: VncDesktop, injector: DesktopInjector
) -> None:
    injector.prepare(WriteClipboard(text="before"))()
    with pytest.raises(InjectionFailed, match=r"U\+FFFD") as caught:
        injector.prepare(WriteClipboard(text="a\ufffdb"))()
    assert caught.value.code == "clipboard_text_unsupported"
    assert desktop.read_clipboard("clipboard") == "before"


def is_read(desktop: VncDesktop, text: str) -> bool:
    return desktop.read_clipboard("clipboard") == text


def test_text_that_was_copied_there_is_read(
    vnc: tuple[str, int], desktop: VncDesktop, injector: DesktopInjector
) -> None:
    for text in ("漢字 😀\nline", "é" * 20_000):
        program = SelectionOwner(vnc[0])
        program.put("clipboard", text)
        eventually(partial(is_read, desktop, text), "it is read")
        program.close()
        # The server tells late that a program has gone, which must not come after our own text.
        eventually(partial(is_read, desktop, ""), "the program's text is gone")
    injector.prepare(WriteClipboard(text="ours"))()
    assert desktop.read_clipboard("clipboard") == "ours"


def test_primary_is_none_of_its(desktop: VncDesktop, injector: DesktopInjector) -> None:
    with pytest.raises(InjectionFailed, match="one clipboard alone"):
        injector.prepare(WriteClipboard(text="a", selection="primary"))()
    with pytest.raises(ClipboardError, match="one clipboard alone"):
        desktop.read_clipboard("primary")


def test_plain_server_takes_latin_1_and_what_it_lacks_is_not_copied() -> None:
    theirs = b"\x03\0\0\0\0\0\0\x02\xe9!" + ONE_PIXEL
    with plain_server(*[ONE_PIXEL] * 4, theirs) as server:
        desktop = VncDesktop(VncServer("127.0.0.1", server.port))
        assert desktop.read_clipboard("clipboard") == ""
        injector = DesktopInjector(desktop)
        with pytest.raises(InjectionFailed) as caught:
            injector.prepare(WriteClipboard(text="geheim 漢"))()
        assert caught.value.code == "clipboard_text_unsupported"
        assert "geheim" not in caught.value.message
        assert caught.value.injected_at_least == 0
        assert not any(message[0] == 6 for message in server.said)
        server.until_said(lambda said: len(said) > 0)
        while desktop.read_clipboard("clipboard") != "é!":
            pass
        injector.prepare(WriteClipboard(text="naïve"))()
        assert ours.cut_text("naïve") in server.said
        assert desktop.read_clipboard("clipboard") == "naïve"
        injector.close()
