"""Workflows as they come in."""

import pytest
from pydantic import ValidationError

from schemas.resources.workflows import NewWorkflow


def test_name_is_needed_and_bounded() -> None:
    assert NewWorkflow.model_validate_json('{"name":"w"}').description is None
    for body in ("{}", '{"name":""}', '{"name":null}', f'{{"name":"{"x" * 256}"}}'):
        with pytest.raises(ValidationError):
            NewWorkflow.model_validate_json(body)


def test_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        NewWorkflow.model_validate_json('{"name":"w","id":1}')
