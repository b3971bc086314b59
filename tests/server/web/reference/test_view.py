"""The view of the server's own document has everything that is in it."""

import json
import shlex
from contextlib import nullcontext
from typing import Any

import pytest
from pydantic import ValidationError

from server.api.routes import ROUTES
from server.web.endpoint import JSON, endpoints_of
from server.web.openapi import openapi_document
from server.web.reference.view import Operation, reference_of

DOCUMENT = openapi_document(ROUTES, "0.0.0")
REFERENCE = reference_of(DOCUMENT)
OPERATIONS = {each.id: each for group in REFERENCE.groups.values() for each in group}
DESCRIBED: dict[str, dict[str, Any]] = {
    described["operationId"]: described
    for methods in DOCUMENT["paths"].values()
    for described in methods.values()
}
ENDPOINTS = {
    (route.template, method.upper()): endpoint
    for route in ROUTES
    for method, endpoint in endpoints_of(route.handler).items()
}
MODELS = {model.heading: model for model in REFERENCE.models}


def table_of(operation: str, heading: str) -> dict[str, str]:
    """The fields of one of an operation's tables, and their types in words."""
    (table,) = (each for each in OPERATIONS[operation].tables if each.heading == heading)
    return {field.name: "".join(word.text for word in field.type) for field in table.fields}


def test_every_operation_is_there_with_what_it_is_about() -> None:
    assert list(OPERATIONS) == list(DESCRIBED)
    for tag, operations in REFERENCE.groups.items():
        assert {DESCRIBED[each.id]["tags"][0] for each in operations} == {tag}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda each: each.id)
def test_operation_says_what_the_document_does(operation: Operation) -> None:
    described = DESCRIBED[operation.id]
    parameters = {each["name"] for each in described["parameters"]}
    named = {field.name for table in operation.tables for field in table.fields}
    assert parameters <= named
    bodies = [each.heading for each in operation.tables if each.heading.startswith("Body: ")]
    assert len(bodies) == ("requestBody" in described)
    assert [each.status for each in operation.answers] == list(described["responses"])
    for answer in operation.answers:
        assert " Or: ".join(answer.texts) == described["responses"][answer.status]["description"]


def test_operation_says_which_token_it_needs() -> None:
    assert OPERATIONS["move_mouse_cursor"].needs == "Needs a token with the scope input:send."
    assert OPERATIONS["browse_the_api"].needs == "Needs no token."
    needs = {each.needs for each in OPERATIONS.values()}
    assert "Needs any token." in needs


def test_parameters_are_told_by_their_place() -> None:
    assert table_of("list_machines", "In the query")
    assert table_of("get_a_machine", "In the path") == {"machine_id": "string"}
    assert "Idempotency-Key" in table_of("click_mouse_button", "In the header")


def test_body_is_told_with_its_bounds() -> None:
    assert table_of("click_mouse_button", "Body: application/json")["clicks"] == (
        "integer 1 to 3, default 1"
    )
    lines = "Body: application/x-ndjson or application/jsonl"
    assert "trajectory_data" in table_of("import_trajectories", lines)
    assert table_of("keep_a_picture", "Body: image/png or image/jpeg") == {}
    assert table_of("take_control_of_a_machine", "Body: application/json, may be left out")


def test_answer_has_its_headers_and_leads_to_its_model() -> None:
    (created,) = (each for each in OPERATIONS["make_a_token"].answers if each.status == "201")
    assert [(word.text, word.is_model) for word in created.type] == [("CreatedToken", True)]
    with_headers = [each for one in OPERATIONS.values() for each in one.answers if each.headers]
    assert with_headers
    assert all(text for each in with_headers for text in each.headers.values())


def test_every_model_is_told_once_and_led_to() -> None:
    assert len(MODELS) == len(REFERENCE.models)
    tables = [*REFERENCE.models, *(each for one in OPERATIONS.values() for each in one.tables)]
    words = [word for table in tables for field in table.fields for word in field.type]
    words += [word for one in OPERATIONS.values() for each in one.answers for word in each.type]
    assert {word.text for word in words if word.is_model} == set(MODELS)
    assert {"Machine", "Holder", "PathPoint", "Problem"} <= set(MODELS)
    # Bodies are told where they are sent.
    assert "ClickMouse" not in MODELS


UNSAID = {
    "append_steps_to_a_trajectory": "too_short",
    "begin_a_run": "run_of",
    "begin_many_runs": "run_of",
    "change_many_machines": "machines",
    "expect_a_machine_to_be_away": "datetime_parsing",
    "make_a_token": "scopes_missing",
    "review_a_trajectory": "string_pattern_mismatch",
    "make_a_webhook": "webhook_url",
    "send_key_combination": "key_combination",
}
"""What a body must have that its schema does not say."""
WITH_BODY = [each for each in OPERATIONS.values() if " -d " in each.options]


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda each: each.id)
def test_curl_sends_a_body_with_all_that_is_required(operation: Operation) -> None:
    words = shlex.split(operation.options.replace("\\\n", ""))
    assert f"Content-Type: {JSON}" in words
    sent = json.loads(words[words.index("-d") + 1])
    body = ENDPOINTS[operation.path, operation.method].body
    assert body is not None
    reason = UNSAID.get(operation.id)
    refused = (
        pytest.raises(ValidationError, match=rf"\[type={reason}, ") if reason else nullcontext()
    )
    with refused:
        body.model_validate(sent)


def test_curl_names_a_token_only_where_one_is_needed() -> None:
    for operation in OPERATIONS.values():
        assert ("$FARHAND_TOKEN" in operation.options) == (operation.needs != "Needs no token.")


def test_curl_sends_a_file_where_the_body_is_no_json() -> None:
    options = OPERATIONS["keep_a_picture"].options
    assert "'Content-Type: image/png'" in options
    assert options.endswith("--data-binary @FILE")
