"""What a machine's clipboard can do is what its hello said, on a link that has words for it."""

from schemas.link.messages import Capability
from server.machines.link.clipboard.ability import NO_CLIPBOARD, UNKNOWN_WHY, ClipboardAbility
from tests.links import hello

CAN = Capability(available=True)
OFF = Capability(available=False, reason="its owner lets nobody", switched_off=True)


def test_each_way_is_as_it_was_said() -> None:
    said = hello().model_copy(update={"clipboard_read": CAN, "clipboard_write": OFF})
    ability = ClipboardAbility.greeted(said, 3)
    assert ability.why_no_read is None
    assert ability.why_no_write == "its owner lets nobody"


def test_nothing_said_is_nothing_possible() -> None:
    ability = ClipboardAbility.greeted(hello(), 3)
    assert ability == NO_CLIPBOARD
    assert "too old" in (ability.why_no_read or "")
    no_reason = hello().model_copy(update={"clipboard_write": Capability(available=False)})
    assert ClipboardAbility.greeted(no_reason, 3).why_no_write == UNKNOWN_WHY


def test_older_protocol_has_no_clipboard() -> None:
    said = hello().model_copy(update={"clipboard_read": CAN, "clipboard_write": CAN})
    assert ClipboardAbility.greeted(said, 2) == NO_CLIPBOARD


def test_machines_that_are_alike_share_one() -> None:
    said = hello().model_copy(update={"clipboard_read": CAN, "clipboard_write": CAN})
    assert ClipboardAbility.greeted(said, 3) is ClipboardAbility.greeted(said, 3)
