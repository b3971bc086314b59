"""Contract: what is copied is what is pasted."""

import random

from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import DragMouse, MoveMouse, WriteClipboard
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from schemas.inputs.outcomes import Point
from tests.machine_client.desktop.contract.inputs import (
    InjectingContract,
    interrupted_once,
    perform,
)
from tests.machine_client.desktop.contract.rig import Rig
from tests.texts import any_text


class ClipboardContract(InjectingContract):
    """The clipboard, for desktops that have one."""

    def test_copied_text_is_read_as_it_was(self, rig: Rig, injector: DesktopInjector) -> None:
        assert rig.desktop.why_no_clipboard() is None
        draw = random.Random(4)
        for text in (
            *(_without(rig.lacks, any_text(draw)) for _ in range(40)),
            "\U0001f600" * (MAX_CLIPBOARD_BYTES // 4),
        ):
            perform(injector, WriteClipboard(text=text))
            assert rig.desktop.read_clipboard("clipboard") == rig.copied(text)

    def test_copying_moves_and_presses_nothing(self, rig: Rig, injector: DesktopInjector) -> None:
        perform(injector, MoveMouse(x=30, y=40))
        rig.witness.take()
        assert perform(injector, WriteClipboard(text="a")) == Point(x=30, y=40)
        assert injector.injected == 0
        assert rig.witness.take() == []

    def test_copied_text_outlives_what_is_held(self, rig: Rig, injector: DesktopInjector) -> None:
        perform(injector, WriteClipboard(text="kept"))
        injector.release_all()
        assert rig.desktop.read_clipboard("clipboard") == "kept"

    def test_clipboard_is_read_while_an_input_runs(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, WriteClipboard(text="meanwhile"))
        drag = injector.prepare(DragMouse(start_x=0, start_y=0, to_x=900, to_y=0, duration=60))

        def is_read() -> bool:
            return injector.injected > 0 and rig.desktop.read_clipboard("clipboard") == "meanwhile"

        assert interrupted_once(injector, drag, is_read).code == "interrupted"


def _without(lacking: frozenset[str], text: str) -> str:
    return "".join(character for character in text if character not in lacking)
