"""How a desktop says no."""

from machine_client.desktop.base import Refusal, interrupted
from schemas.inputs.outcomes import Refused


def test_a_refusal_carries_its_outcome_and_reads_as_its_message() -> None:
    outcome = Refused(code="key_not_typeable", message="The keyboard has no such key")
    refusal = Refusal(outcome)
    assert refusal.outcome is outcome
    assert str(refusal) == "The keyboard has no such key"


def test_an_interruption_has_a_code_of_its_own() -> None:
    assert interrupted().code == "interrupted"
