"""The OpenAPI document and the routes hold each other."""

import json
from typing import Any, get_args

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from schemas.http import problems
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import TrajectorySort
from server.api.routes import ROUTES
from server.web.endpoint import Endpoint, endpoints_of
from server.web.openapi import POSSIBLE_WITH_A_TOKEN, openapi_document
from tests.service import Service

DOCUMENT = openapi_document(ROUTES, "0.0.0")

OPERATIONS = {
    (route.template, method): endpoint
    for route in ROUTES
    for method, endpoint in endpoints_of(route.handler).items()
}


def described(template: str, method: str) -> dict[str, Any]:
    endpoint: dict[str, Any] = DOCUMENT["paths"][template][method]
    return endpoint


def test_document_is_valid_openapi_3_1() -> None:
    OpenAPIV31SpecValidator(json.loads(json.dumps(DOCUMENT))).validate()


async def test_served_document_is_the_one_of_the_routes(service: Service) -> None:
    reply = await service.get("/openapi.json")
    assert reply.status == 200
    served = reply.json
    assert served["info"].pop("version")
    expected = json.loads(json.dumps(DOCUMENT))
    del expected["info"]["version"]
    assert served == expected


def test_document_has_every_operation_of_the_routes_and_no_other() -> None:
    written = {(path, method) for path, item in DOCUMENT["paths"].items() for method in item}
    assert written == set(OPERATIONS)


def test_operation_ids_differ() -> None:
    ids = [described(*each)["operationId"] for each in OPERATIONS]
    assert len(set(ids)) == len(ids)
    assert all(each.isidentifier() for each in ids)


def expected_statuses(endpoint: Endpoint) -> set[int]:
    """What the declaration of an endpoint, and its kind, can end in."""
    statuses = {*endpoint.answers, *(each.status for each in endpoint.problems)}
    statuses |= {400, 422, 431, 500}
    if not endpoint.public:
        statuses |= {each.status for each in POSSIBLE_WITH_A_TOKEN}
    if endpoint.scope is not None:
        statuses.add(403)
    if endpoint.body is not None or endpoint.raw_body:
        statuses |= {413, 415, 503}
    return statuses


@pytest.mark.parametrize(("template", "method"), OPERATIONS)
def test_documented_statuses_are_the_declared_ones(template: str, method: str) -> None:
    written = {int(status) for status in described(template, method)["responses"]}
    assert written == expected_statuses(OPERATIONS[template, method])


@pytest.mark.parametrize(("template", "method"), OPERATIONS)
def test_documented_parameters_are_those_of_the_models(template: str, method: str) -> None:
    endpoint = OPERATIONS[template, method]
    written = {(each["in"], each["name"]) for each in described(template, method)["parameters"]}
    expected = {
        (place, field.alias or name)
        for place, model in (
            ("path", endpoint.path),
            ("query", endpoint.query),
            ("header", endpoint.headers),
        )
        if model is not None
        for name, field in model.model_fields.items()
    }
    assert written == expected
    assert {f"{{{name}}}" for place, name in written if place == "path"} == {
        part for part in template.split("/") if part.startswith("{")
    }


@pytest.mark.parametrize(("template", "method"), OPERATIONS)
def test_documented_security_is_the_declared_scope(template: str, method: str) -> None:
    endpoint = OPERATIONS[template, method]
    security = described(template, method).get("security")
    if endpoint.public:
        assert security is None
    else:
        scopes = [] if endpoint.scope is None else [endpoint.scope.value]
        has_session = endpoint.session and endpoint.scope is not Scope.MACHINE_CONNECT
        session = [{"session": scopes}] if has_session else []
        assert security == [{"token": scopes}, *session]


def test_inputs_document_every_way_in_which_they_end() -> None:
    statuses = described("/v1/computer/{machine_id}/input/mouse/drag", "post")["responses"]
    expected = {200, 204, 400, 401, 403, 404, 409, 413, 415, 422, 429, 431, 500, 501, 502, 503, 504}
    assert {int(status) for status in statuses} == expected
    unavailable = statuses["503"]["description"]
    for problem in (
        problems.MACHINE_UNAVAILABLE,
        problems.NOT_CARRIED_OUT,
        problems.SERVER_STOPPING,
        problems.STORAGE_UNAVAILABLE,
    ):
        assert problem.title in unavailable


def test_drag_is_documented_as_the_specification_has_it() -> None:
    schema = DOCUMENT["components"]["schemas"]["DragMouse"]
    places = [{*each["anyOf"][0]["required"]} for each in schema["allOf"]]
    assert places == [{"start_x", "start_y"}, {"to_x", "to_y"}]
    elements = [each["anyOf"][1]["required"] for each in schema["allOf"]]
    assert elements == [["start_element"], ["to_element"]]
    assert schema["properties"]["button"]["default"] == "left"
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("template", "parameters"),
    [
        ("/v1/commands/{command_id}", {"command_id"}),
        ("/v1/machines/{machine_id}/commands/{command_id}", {"machine_id", "command_id"}),
    ],
)
def test_commands_are_looked_up_at_both_addresses(template: str, parameters: set[str]) -> None:
    endpoint = described(template, "get")
    assert {each["name"] for each in endpoint["parameters"]} == parameters
    assert endpoint["security"] == [{"token": ["input:send"]}, {"session": ["input:send"]}]
    answer = endpoint["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/CommandView"}
    state = DOCUMENT["components"]["schemas"]["CommandView"]["properties"]["state"]
    assert state["enum"] == ["claimed", "sent", "done", "not_carried_out", "unknown"]


def test_list_parameters_are_documented_with_defaults_and_bounds() -> None:
    parameters = {
        each["name"]: each["schema"] for each in described("/v1/trajectories", "get")["parameters"]
    }
    assert set(parameters) == {
        *("search", "workflow_id", "run_id", "is_approved", "is_generated", "include"),
        *("machine_id", "author_id", "review_state"),
        *("created_at_from", "created_at_to", "updated_at_from", "updated_at_to"),
        *("skip", "limit", "sort", "steps"),
    }
    assert parameters["sort"]["default"] == "-created_at"
    assert set(parameters["sort"]["enum"]) == set(get_args(TrajectorySort))
    assert parameters["is_generated"]["default"] is True
    assert parameters["skip"]["default"] == 0
    assert parameters["skip"]["minimum"] == 0
    limit = parameters["limit"]
    assert (limit["default"], limit["minimum"], limit["maximum"]) == (100, 1, 1000)
    assert not any(each.get("required") for each in parameters.values())


def test_nothing_of_the_inside_is_named() -> None:
    text = json.dumps(DOCUMENT)
    for word in ("pydantic", "mongo", "JsonText", "schemas."):
        assert word not in text
