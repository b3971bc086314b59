"""What the audit can be asked for."""

import pytest
from pydantic import ValidationError

from schemas.resources.audit import CSV_COLUMNS, AuditEntry, AuditQuery, csv_line_of


@pytest.mark.parametrize("action", ["machine", "machine.paused", "input.mouse.click", "a_b"])
def test_actions_and_families_are_taken(action: str) -> None:
    assert AuditQuery.model_validate({"action": action}).action == action


@pytest.mark.parametrize("action", ["machine.", ".paused", "Machine", "a b", "$where", "a.b.c.d"])
def test_anything_else_says_what_an_action_is(action: str) -> None:
    with pytest.raises(ValidationError, match=r"machine\.paused"):
        AuditQuery.model_validate({"action": action})


def test_null_means_everything() -> None:
    nothing = {"action": "null", "machine_id": "", "token_id": "null", "token_name": ""}
    asked = AuditQuery.model_validate(nothing)
    assert asked == AuditQuery()


def test_line_of_a_table_has_all_that_an_entry_says() -> None:
    accepted = "2026-11-21T09:30:00.120Z"
    command = {
        "command_id": "00000000-0000-0000-0000-000000000007",
        "operation": "mouse.click",
        "token_name": "robot",
        "token_id": None,
        "accepted_at": accepted,
        "completed_at": "2026-11-21T09:30:00.124Z",
        "outcome": "failed",
        "code": "no_desktop",
        "duration_ms": 0.4,
    }
    entry = AuditEntry.model_validate(
        {
            "id": "0b1f",
            "created_at": accepted,
            "action": "input.mouse.click",
            "token_id": None,
            "token_name": "robot",
            "target": command["command_id"],
            "target_name": "a name",
            "machine_id": "desk-1",
            "request_id": "r-1",
            "note": "a note",
            "grant": {"role": "viewer", "scopes": ["machines:read", "screen:read"]},
            "command": command,
        }
    ).model_dump(mode="json")
    values = csv_line_of(entry).rstrip("\r\n").split(",")
    assert dict(zip(CSV_COLUMNS, values, strict=True)) == {
        "created_at": accepted,
        "action": "input.mouse.click",
        "token_name": "robot",
        "token_id": "",
        "machine_id": "desk-1",
        "target": command["command_id"],
        "target_name": "a name",
        "note": "a note",
        "outcome": "failed",
        "code": "no_desktop",
        "duration_ms": "0.4",
        "completed_at": command["completed_at"],
        "role": "viewer",
        "scopes": "machines:read screen:read",
        "request_id": "r-1",
        "id": "0b1f",
    }
    bare = {**entry, "command": None, "grant": None, "note": "=1+1"}
    assert csv_line_of(bare).split(",")[7:14] == ["'=1+1", "", "", "", "", "", ""]
