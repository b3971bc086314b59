"""Contract: every key by its name, chords, and text of any script."""

import string

import pytest

from machine_client.work.injector import DesktopInjector, Refusal
from schemas.inputs.bodies import PressKeys, TypeText
from schemas.inputs.key_combinations import KEY_TABLE
from tests.machine_client.desktop.contract.inputs import (
    InjectingContract,
    interrupted_once,
    perform,
)
from tests.machine_client.desktop.contract.rig import Rig, saw

END = "¶"

TEXTS = {
    "ascii": "".join(each for each in string.printable if each.isprintable()),
    "signs": "@€{}[]\\|~^`'\"#+-*/<>;:,.!?$%&()=_",
    "latin": "ßéäöüàçñêÄÉ ğİıŁżő",
    "cyrillic and greek": "Жанна жёлтый αωΣ",
    "right to left": "שלום مرحبا",
    "indic": "नमस्ते ไทย",
    "east asian": "漢字かなカナ한글",
    "symbols": "😀→™½∑",
    "lines": "two lines\nand a\ttab\n",
}


class KeyContract(InjectingContract):
    """What is pressed by name, and what is typed."""

    @pytest.mark.parametrize("name", [named.name for named in KEY_TABLE])
    def test_key_goes_down_and_up_by_its_name(
        self, rig: Rig, injector: DesktopInjector, name: str
    ) -> None:
        (named,) = (each for each in KEY_TABLE if each.name == name)
        if name in rig.lacks:
            with pytest.raises(Refusal) as caught:
                perform(injector, PressKeys(text=f"a {name}"))
            assert caught.value.outcome.code == "key_not_typeable"
            assert name in caught.value.outcome.message
            assert rig.witness.take() == []
            return
        times = 2 if name.endswith("_lock") else 1  # and so the lock is as it was
        for _ in range(times):
            perform(injector, PressKeys(text=name))
            events = rig.witness.take()
            pressed = [event for event in events if event.action == "down"]
            assert len(events) == 2 * len(pressed)
            assert (named.character or name) in pressed[-1].names, events
            assert rig.witness.held() == frozenset()

    def test_a_chord_goes_down_in_order_and_up_in_reverse(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, PressKeys(text="ctrl+alt+x"))
        saw(
            rig.witness.take(),
            *("down ctrl", "down alt", "down x"),
            *("up x", "up alt", "up ctrl"),
        )

    def test_chords_are_pressed_one_after_another(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, PressKeys(text="down shift+tab enter"))
        saw(
            rig.witness.take(),
            *("down down", "up down"),
            *("down shift", "down tab", "up tab", "up shift"),
            *("down enter", "up enter"),
        )

    @pytest.mark.parametrize("script", TEXTS)
    def test_text_is_typed_as_itself(
        self, rig: Rig, injector: DesktopInjector, script: str
    ) -> None:
        with rig.witness.text_field() as field:
            perform(injector, TypeText(text=TEXTS[script] + END))
            assert field.typed_before(END) == TEXTS[script]

    def test_preparing_types_nothing(self, rig: Rig, injector: DesktopInjector) -> None:
        injector.prepare(PressKeys(text="ctrl+漢"))
        injector.prepare(TypeText(text="漢字"))
        assert rig.witness.take() == []

    def test_typing_can_be_interrupted_and_leaves_nothing_pressed(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        begin = injector.prepare(PressKeys(text=" ".join(["ctrl+x"] * 500)))

        def type_on() -> None:
            # A quick desktop has taken the whole text before the witness tells of its beginning.
            while True:
                begin()

        failure = interrupted_once(injector, type_on, rig.witness.seen)
        actions = [event.action for event in rig.witness.take()]
        assert actions.count("down") == actions.count("up")
        was_between_two = failure.injected_at_least == 0
        assert was_between_two == (actions.count("down") % 1000 == 0)
        assert rig.witness.held() == frozenset()
        assert failure.code == "interrupted"
        assert failure.injected_at_least <= len(actions)
        injector.release_all()
