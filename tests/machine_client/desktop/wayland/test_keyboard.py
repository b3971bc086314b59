"""The virtual keyboard, as a program on the compositor understands it."""

import random
import unicodedata
from collections.abc import Iterator

import pytest

from machine_client.desktop.wayland.desktop import WaylandDesktop
from machine_client.work.injector import DesktopInjector, Refusal
from schemas.inputs.bodies import ClickMouse, PressKeys, TypeText
from tests.machine_client.desktop.contract.rig import saw
from tests.machine_client.desktop.wayland.compositor import Sway
from tests.machine_client.desktop.wayland.rig import WaylandWitness

_KINDS = (
    *((0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x400, 0x6FF), (0x900, 0xDFF)),
    *((0x2000, 0x206F), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0xFFF0, 0xFFFF)),
    *((0x1F300, 0x1FAFF), (0x20000, 0x2FFFF), (0x20, 0x10FFFF)),
)


@pytest.fixture(scope="module")
def witness(compositor: Sway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WaylandWitness]:
    witness = WaylandWitness(compositor, tmp_path_factory.mktemp("typed"))
    yield witness
    witness.close()


@pytest.fixture
def injector(compositor: Sway, witness: WaylandWitness) -> Iterator[DesktopInjector]:
    injector = DesktopInjector(WaylandDesktop(compositor.name))
    witness.take()
    witness.typed()
    yield injector
    injector.close()
    assert witness.held() == frozenset()


def random_text(draw: random.Random) -> str:
    kinds = draw.sample(_KINDS, draw.randint(1, 4))
    drawn = (chr(draw.randint(*draw.choice(kinds))) for _ in range(draw.choice((1, 4, 12))))
    return "".join(each for each in drawn if unicodedata.category(each) not in ("Cc", "Cs"))


def test_thousand_random_texts_are_typed_exactly(
    injector: DesktopInjector, witness: WaylandWitness
) -> None:
    draw = random.Random(17)
    texts = filter(None, (random_text(draw) for _ in range(1000)))
    for text in texts:
        injector.prepare(TypeText(text=text))()
        assert witness.typed() == text


def test_text_with_more_characters_than_can_be_lent_is_typed(
    injector: DesktopInjector, witness: WaylandWitness
) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(300)) * 2
    injector.prepare(TypeText(text=text))()
    assert witness.typed() == text


def test_lock_that_is_pressed_counts_for_keys_and_for_no_character(
    injector: DesktopInjector, witness: WaylandWitness
) -> None:
    injector.prepare(PressKeys(text="caps_lock"))()
    injector.prepare(TypeText(text="aBé"))()
    assert witness.typed() == "aBé"
    injector.prepare(PressKeys(text="caps_lock"))()


def test_overlapping_held_characters_stay_themselves(
    injector: DesktopInjector, witness: WaylandWitness
) -> None:
    for text in ("A", "b", "Ж", "c"):
        injector.prepare(PressKeys(text=text, down=True))()
    assert witness.typed() == "AbЖc"
    injector.prepare(PressKeys(text="c Ж b A", down=False))()
    assert witness.held() == frozenset()


def test_held_character_keeps_its_key_while_others_are_lent(
    injector: DesktopInjector, witness: WaylandWitness
) -> None:
    injector.prepare(PressKeys(text="漢", down=True))()
    injector.prepare(TypeText(text="".join(map(chr, range(0x5000, 0x5100)))))()
    witness.take()
    injector.prepare(PressKeys(text="漢", down=False))()
    saw(witness.take(), "up 漢")


def test_more_keys_held_at_once_than_can_be_lent_are_refused(injector: DesktopInjector) -> None:
    many = " ".join(map(chr, range(0x4E00, 0x4F00)))
    with pytest.raises(Refusal) as refused:
        injector.prepare(PressKeys(text=many, down=True))
    assert refused.value.outcome.code == "character_not_typeable"
    injector.prepare(PressKeys(text=many))


def test_what_others_hold_is_not_known_and_changes_no_text(
    compositor: Sway, injector: DesktopInjector, witness: WaylandWitness
) -> None:
    other = DesktopInjector(WaylandDesktop(compositor.name))
    other.prepare(PressKeys(text="shift", down=True))()
    other.prepare(ClickMouse(x=9, y=9, down=True))()
    witness.take()
    witness.typed()
    injector.prepare(TypeText(text="a"))()
    assert witness.typed() == "a"
    saw(witness.take(), "down a", "up a")
    # The program that is clicked at sees a second press, and a release of both.
    injector.prepare(ClickMouse())()
    saw(witness.take(), "down left", "up left")
    other.close()


def test_modifiers_are_in_force_while_they_are_held(
    injector: DesktopInjector, witness: WaylandWitness
) -> None:
    injector.prepare(PressKeys(text="ctrl", down=True))()
    injector.prepare(PressKeys(text="a"))()
    injector.prepare(PressKeys(text="ctrl", down=False))()
    injector.prepare(PressKeys(text="shift+a shift+é"))()
    assert witness.typed() == "\x01AÉ"
