from typing import Any

import pytest
from pydantic import ValidationError

from schemas.resources.tokens import ADMINISTRATOR_SCOPES, ROLE_SCOPES, NewToken, Role, Scope


def error_of(**fields: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        NewToken.model_validate({"name": "n", **fields})
    (error,) = caught.value.errors()
    return str(error["type"])


def test_administrator_has_every_scope_of_a_person() -> None:
    assert set(ADMINISTRATOR_SCOPES) == set(Scope) - {Scope.MACHINE_CONNECT}


def test_scopes_are_written_as_they_are_documented() -> None:
    assert {scope.value for scope in Scope} == {
        *("trajectories:read", "trajectories:write", "machines:read", "machines:write"),
        *("input:send", "screen:read", "tokens:write", "organizations:write", "machine:connect"),
        *("audit:read", "metrics:read", "machines:control", "clipboard", "pools:write"),
        *("webhooks:write", "trajectories:approve", "recordings:write", "help:answer"),
        *("runs:read", "runs:write"),
    }


def test_connecting_goes_with_a_machine_and_nothing_else_does() -> None:
    assert error_of(scopes=["machine:connect"]) == "machine_missing"
    assert error_of(scopes=["input:send"], machine_id="desk") == "scope_missing"
    fields = {"name": "n", "scopes": ["machine:connect"], "machine_id": "desk"}
    assert NewToken.model_validate(fields).machine_id == "desk"


def test_token_has_between_one_and_all_scopes() -> None:
    assert error_of(scopes=[]) == "too_short"
    assert error_of(scopes=["input:send"] * (len(Scope) + 1)) == "too_long"
    assert error_of(scopes=["INPUT:SEND"]) == "enum"


def test_token_has_either_scopes_or_a_role() -> None:
    assert error_of() == "scopes_missing"
    assert error_of(scopes=["input:send"], role="viewer") == "scopes_and_role"
    assert error_of(role="king") == "enum"
    assert error_of(role="agent", machine_id="desk") == "scope_missing"


@pytest.mark.parametrize("role", Role)
def test_role_stands_for_different_scopes_of_a_person(role: Role) -> None:
    allowed = NewToken.model_validate({"name": "n", "role": role.value}).allowed
    assert allowed == ROLE_SCOPES[role]
    assert len(set(allowed)) == len(allowed)
    assert set(allowed) <= set(ADMINISTRATOR_SCOPES)


def test_only_who_operates_changes_machines_and_only_the_administrator_makes_tokens() -> None:
    having = {scope: {role for role in Role if scope in ROLE_SCOPES[role]} for scope in Scope}
    administrator = {Role.ADMINISTRATOR}
    assert having[Scope.TOKENS_WRITE] == having[Scope.ORGANIZATIONS_WRITE] == administrator
    assert having[Scope.MACHINES_WRITE] == {Role.OPERATOR} | administrator
    assert having[Scope.INPUT_SEND] == {Role.OPERATOR, Role.AGENT} | administrator
    assert having[Scope.MACHINES_READ] == set(Role)
    assert having[Scope.HELP_ANSWER] == {Role.OPERATOR} | administrator
    assert having[Scope.TRAJECTORIES_APPROVE] == {Role.OPERATOR, Role.REVIEWER} | administrator
