"""What the audit can be asked for."""

import pytest
from pydantic import ValidationError

from schemas.resources.audit import AuditQuery


@pytest.mark.parametrize("action", ["machine", "machine.paused", "input.mouse.click", "a_b"])
def test_actions_and_families_are_taken(action: str) -> None:
    assert AuditQuery.model_validate({"action": action}).action == action


@pytest.mark.parametrize("action", ["machine.", ".paused", "Machine", "a b", "$where", "a.b.c.d"])
def test_anything_else_says_what_an_action_is(action: str) -> None:
    with pytest.raises(ValidationError, match=r"machine\.paused"):
        AuditQuery.model_validate({"action": action})


def test_null_means_everything() -> None:
    asked = AuditQuery.model_validate({"action": "null", "machine_id": "", "token_id": "null"})
    assert asked == AuditQuery()
