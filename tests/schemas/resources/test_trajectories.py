"""Trajectories as they come in and are asked for."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from pydantic import BaseModel, ValidationError

from schemas.resources.trajectories import (
    ImportedTrajectory,
    IncludedResource,
    IncludeQuery,
    LatestTrajectory,
    NewTrajectory,
    TrajectoryQuery,
)

WORKFLOW = str(uuid4())


def body(**changes: Any) -> str:
    given = {
        "workflow_id": WORKFLOW,
        "dimensions": {"width": 1, "height": 1},
        "trajectory_data": [{}],
        **changes,
    }
    return json.dumps({name: value for name, value in given.items() if value is not ...})


def errors(model: type[BaseModel], text: str) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate_json(text)
    return [(entry["loc"], entry["type"]) for entry in caught.value.errors()]


def query_error(**parameters: str) -> str:
    with pytest.raises(ValidationError) as caught:
        TrajectoryQuery.model_validate(parameters)
    (entry,) = caught.value.errors()
    return entry["type"]


@pytest.mark.parametrize("model", [NewTrajectory, ImportedTrajectory])
def test_description_is_bounded(model: type[BaseModel]) -> None:
    model.model_validate_json(body(description="é" * 100_000))
    assert errors(model, body(description="é" * 100_001)) == [(("description",), "string_too_long")]


@pytest.mark.parametrize(
    ("changes", "generated"),
    [
        ({}, True),
        ({"trajectory_data": []}, False),
        ({"trajectory_data": None}, False),
        ({"is_generated": False}, False),
        ({"trajectory_data": [], "is_generated": True}, True),
        ({"is_generated": None}, True),
    ],
)
def test_generated_is_what_was_said_or_what_the_steps_say(
    changes: dict[str, Any], generated: bool
) -> None:
    assert NewTrajectory.model_validate_json(body(**changes)).generated is generated


@pytest.mark.parametrize("field", ["workflow_id", "dimensions", "trajectory_data"])
def test_needed_fields_are_one_error_each(field: str) -> None:
    assert errors(NewTrajectory, body(**{field: ...})) == [((field,), "missing")]


@pytest.mark.parametrize(
    ("changes", "loc"),
    [
        ({"name": "x" * 256}, ("name",)),
        ({"name": 1}, ("name",)),
        ({"workflow_id": "x"}, ("workflow_id",)),
        ({"run_id": 1}, ("run_id",)),
        ({"is_approved": "true"}, ("is_approved",)),
        ({"is_approved": None}, ("is_approved",)),
        ({"is_generated": 1}, ("is_generated",)),
        ({"trajectory_data": {}}, ("trajectory_data",)),
        ({"trajectory_data": [{}, [], 1]}, ("trajectory_data", 1)),
        ({"original_input_values": []}, ("original_input_values",)),
        ({"dimensions": None}, ("dimensions",)),
        ({"id": WORKFLOW}, ("id",)),
    ],
)
def test_wrong_field_is_one_error_and_named(
    changes: dict[str, Any], loc: tuple[int | str, ...]
) -> None:
    assert [error[0] for error in errors(NewTrajectory, body(**changes))] == [loc]


def test_longest_name_is_taken() -> None:
    assert NewTrajectory.model_validate_json(body(name="é" * 255)).name == "é" * 255
    assert NewTrajectory.model_validate_json(body(name="")).name == ""


def test_imported_line_may_have_id_and_times() -> None:
    line = ImportedTrajectory.model_validate_json(
        body(id=WORKFLOW, created_at="2024-01-01T01:00:00+01:00", updated_at="2024-01-01")
    )
    assert str(line.id) == WORKFLOW
    assert line.created_at == line.updated_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert ImportedTrajectory.model_validate_json(body()).id is None


def test_imported_times_are_in_order_and_no_numbers() -> None:
    reversed_times = body(created_at="2024-01-02", updated_at="2024-01-01")
    assert errors(ImportedTrajectory, reversed_times) == [((), "times_reversed")]
    assert errors(ImportedTrajectory, body(created_at=1)) == [(("created_at",), "datetime_type")]


def test_included_resource_keeps_its_own_fields() -> None:
    resource = IncludedResource.model_validate({"type": "x", "id": WORKFLOW, "name": "n"})
    assert resource.model_dump(mode="json") == {"type": "x", "id": WORKFLOW, "name": "n"}


def test_latest_trajectory_has_a_step() -> None:
    schema = LatestTrajectory.model_json_schema()
    assert "trajectory_data" in schema["required"]
    assert schema["properties"]["trajectory_data"]["minItems"] == 1


def test_query_has_the_defaults_of_the_specification() -> None:
    assert TrajectoryQuery.model_validate({}).model_dump() == {
        "search": None,
        "workflow_id": None,
        "run_id": None,
        "machine_id": None,
        "author_id": None,
        "is_approved": None,
        "is_generated": True,
        "review_state": None,
        "created_at_from": None,
        "created_at_to": None,
        "updated_at_from": None,
        "updated_at_to": None,
        "include": None,
        "skip": 0,
        "limit": 100,
        "sort": "-created_at",
        "steps": True,
    }


def test_include_lists_what_may_be_included() -> None:
    for text in ("workflow", "workflow,workflow", " workflow "):
        assert TrajectoryQuery.model_validate({"include": text}).include == frozenset(["workflow"])
    assert IncludeQuery.model_validate({"include": "null"}).include is None
    for text in ("run", "workflow,run", "workflow,", "Workflow", ","):
        assert query_error(include=text) == "include_unknown"


def test_range_that_ends_before_it_begins_is_refused() -> None:
    for name in ("created_at", "updated_at"):
        assert (
            query_error(**{f"{name}_from": "2024-01-02", f"{name}_to": "2024-01-01"})
            == "range_reversed"
        )
    same = {"created_at_from": "2024-01-01", "created_at_to": "2024-01-01"}
    assert TrajectoryQuery.model_validate(same).created_at_to == datetime(2024, 1, 1, tzinfo=UTC)


def test_times_of_the_query_are_iso_8601_within_reach() -> None:
    for text in ("1700000000", "0001-01-01T00:00:00+01:00", "tomorrow"):
        assert query_error(updated_at_from=text) == "datetime_parsing"
        assert query_error(updated_at_to=text) == "datetime_parsing"


def test_unknown_parameter_is_refused() -> None:
    assert query_error(order="name") == "extra_forbidden"
