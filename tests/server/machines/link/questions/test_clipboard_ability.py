"""What a machine's clipboard can do is what its hello said, each way for itself."""

import pytest

from schemas.link.messages import Capability
from server.machines.link.questions.clipboard_ability import UNKNOWN_WHY, ClipboardAbility
from tests.links import hello

CAN = Capability(available=True)
OFF = Capability(available=False, reason="its owner lets nobody", switched_off=True)


def test_each_way_is_as_it_was_said() -> None:
    said = hello().model_copy(update={"clipboard_read": CAN, "clipboard_write": OFF})
    ability = ClipboardAbility.greeted(said)
    assert ability.why_no_read is None
    assert ability.why_no_write == "its owner lets nobody"


def test_what_cannot_be_done_for_no_reason_is_impossible_all_the_same() -> None:
    no_reason = hello().model_copy(update={"clipboard_write": Capability(available=False)})
    assert ClipboardAbility.greeted(no_reason).why_no_write == UNKNOWN_WHY


@pytest.mark.parametrize("ability", [CAN, OFF])
def test_machines_that_are_alike_share_one(ability: Capability) -> None:
    said = hello().model_copy(update={"clipboard_read": ability, "clipboard_write": ability})
    other = said.model_copy(deep=True)
    assert ClipboardAbility.greeted(said) is ClipboardAbility.greeted(other)
