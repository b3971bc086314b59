from typing import Any

import pytest
from pydantic import ValidationError

from schemas.resources.tokens import ADMINISTRATOR_SCOPES, NewToken, Scope


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
        *("audit:read", "metrics:read", "machines:control", "clipboard"),
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
