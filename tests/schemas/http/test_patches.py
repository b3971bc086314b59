import json

import pytest
from pydantic import BaseModel, ValidationError

from schemas.resources.trajectories import ChangedTrajectory
from schemas.resources.workflows import ChangedWorkflow


@pytest.mark.parametrize("model", [ChangedTrajectory, ChangedWorkflow])
def test_what_is_left_out_is_not_given(model: type[BaseModel]) -> None:
    assert model.model_validate_json("{}").model_fields_set == set()
    given = model.model_validate_json('{"description": null}')
    assert given.model_fields_set == {"description"}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ChangedTrajectory, "dimensions"),
        (ChangedTrajectory, "is_approved"),
        (ChangedTrajectory, "is_generated"),
        (ChangedTrajectory, "updated_at"),
        (ChangedWorkflow, "name"),
    ],
)
def test_what_cannot_be_empty_cannot_be_cleared(model: type[BaseModel], name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate_json(json.dumps({name: None}))
    assert caught.value.errors()[0]["loc"] == (name,)


@pytest.mark.parametrize("model", [ChangedTrajectory, ChangedWorkflow])
def test_schema_says_of_what_may_be_left_out_neither_required_nor_a_default(
    model: type[BaseModel],
) -> None:
    schema = model.model_json_schema()
    assert "required" not in schema
    for name in ("dimensions", "is_approved", "is_generated", "updated_at"):
        assert "default" not in schema["properties"].get(name, {})
