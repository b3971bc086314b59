"""What is copied is there for programs that paste, in every form, until another one copies."""

import random
from collections.abc import Iterator

import pytest
from Xlib import X

from machine_client.desktop.base import DesktopLost
from machine_client.desktop.x11.clipboard.owner import SelectionOwner
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from tests.desktop import unsteady_display
from tests.machine_client.desktop.x11.clipboard.programs import Paster, copied, pasting
from tests.texts import any_text


@pytest.fixture
def owner(display: str) -> Iterator[SelectionOwner]:
    owner = SelectionOwner(display)
    yield owner
    owner.close()


@pytest.fixture
def paster(display: str) -> Iterator[Paster]:
    with pasting(display) as paster:
        yield paster


def test_text_is_pasted_as_it_was_copied(owner: SelectionOwner, paster: Paster) -> None:
    draw = random.Random(1)
    for _ in range(100):
        text = any_text(draw)
        owner.put("clipboard", text)
        assert paster.paste() == text.encode()


@pytest.mark.parametrize("length", [65_536, 65_537, MAX_CLIPBOARD_BYTES])
def test_long_text_goes_in_pieces(owner: SelectionOwner, paster: Paster, length: int) -> None:
    text = "0123456789abcde\n" * (length // 16) + "x" * (length % 16)
    owner.put("clipboard", text)
    assert paster.paste() == text.encode()
    assert paster.paste() == text.encode()


def test_both_selections_are_apart(owner: SelectionOwner, paster: Paster) -> None:
    owner.put("clipboard", "one")
    owner.put("primary", "two")
    assert (paster.paste("CLIPBOARD"), paster.paste("PRIMARY")) == (b"one", b"two")


def test_old_forms_are_given_where_they_have_the_characters(
    owner: SelectionOwner, paster: Paster
) -> None:
    owner.put("clipboard", "gr\u00fcn")
    assert paster.paste(target="STRING") == b"gr\xfcn"
    assert paster.paste(target="TEXT") == "gr\u00fcn".encode()
    assert paster.paste(target="text/plain;charset=utf-8") == "gr\u00fcn".encode()
    assert "STRING" in paster.targets()
    owner.put("clipboard", "\u20ac")
    assert paster.paste(target="STRING") is None
    assert "STRING" not in paster.targets()
    assert paster.paste(target="image/png") is None


def test_time_is_the_servers(owner: SelectionOwner, paster: Paster) -> None:
    owner.put("clipboard", "a")
    first = paster.ask("CLIPBOARD", "TIMESTAMP").value[0]
    owner.put("clipboard", "b")
    assert paster.ask("CLIPBOARD", "TIMESTAMP").value[0] >= first > 0


def test_several_forms_at_once(owner: SelectionOwner, paster: Paster) -> None:
    owner.put("clipboard", "\u20ac")
    forms = [paster.atom(name) for name in ("UTF8_STRING", "A", "STRING", "B")]
    pair = paster.atom("ATOM_PAIR")
    into = paster.atom("SEVERAL")
    paster.window.change_property(into, pair, 32, forms)
    paster.window.convert_selection(
        paster.atom("CLIPBOARD"), paster.atom("MULTIPLE"), into, X.CurrentTime
    )
    assert paster.next(X.SelectionNotify).property == into
    said = paster.window.get_full_property(into, pair)
    assert list(said.value) == [*forms[:3], 0]
    given = paster.window.get_full_property(paster.atom("A"), paster.atom("UTF8_STRING"))
    assert bytes(given.value) == "\u20ac".encode()


def test_another_program_that_copies_has_it(
    display: str, owner: SelectionOwner, paster: Paster
) -> None:
    owner.put("clipboard", "ours")
    with copied(display, {"UTF8_STRING": b"theirs"}):
        assert paster.paste() == b"theirs"
        owner.put("clipboard", "ours again")
        assert paster.paste() == b"ours again"


def test_who_pastes_may_go_in_the_middle(display: str, owner: SelectionOwner) -> None:
    owner.put("clipboard", "x" * 500_000)
    with pasting(display) as paster:
        assert paster.ask("CLIPBOARD", "UTF8_STRING").property_type == paster.atom("INCR")
    with pasting(display) as paster:
        assert paster.paste() == b"x" * 500_000


def test_closed_owner_has_nothing(display: str, paster: Paster) -> None:
    owner = SelectionOwner(display)
    owner.put("clipboard", "a")
    owner.close()
    owner.close()
    assert owner.is_over
    assert paster.paste() is None
    with pytest.raises(DesktopLost):
        owner.put("clipboard", "b")


def test_display_that_ends_is_said() -> None:
    with unsteady_display() as display:
        owner = SelectionOwner(display.name)
        owner.put("clipboard", "a")
        display.kill()
        with pytest.raises(DesktopLost):
            owner.put("clipboard", "b")
        with pytest.raises(DesktopLost):
            owner.put("clipboard", "c")
        assert owner.is_over
        owner.close()
