"""The OpenAPI 3.1 document, made from what the routes declare."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from schemas.http import problems
from schemas.http.problems import Problem, ProblemType, ValidationErrorBody
from schemas.resources.tokens import Scope
from server.identity.sessions import COOKIE
from server.web.endpoint import Endpoint, endpoints_of
from server.web.routing import Route

REFERENCES = "#/components/schemas/{model}"

POSSIBLE_WITH_A_TOKEN = (
    problems.UNAUTHENTICATED,
    problems.CROSS_SITE_REQUEST,
    problems.SERVER_STOPPING,
    problems.STORAGE_UNAVAILABLE,
)

DESCRIPTION = (
    "Sends mouse and keyboard input to machines, at most once under an Idempotency-Key, and reads "
    "recorded trajectories.  Wrong requests are answered 422 with a detail array; everything else "
    "that goes wrong is a problem (RFC 9457).  HEAD works wherever GET does.  In a query, null or "
    "an empty value means null.  What a body may hold is bounded by its bytes and by its JSON "
    "values (every element of an array and every member of an object is one; a very long number "
    "counts for many)."
)


def openapi_document(
    routes: Iterable[Route], version: str, documentation: str | None = None
) -> dict[str, Any]:
    """Describe every declared operation of the routes, and say where there is more to read."""
    routes = tuple(routes)
    endpoints = [
        (route.template, method, endpoint)
        for route in routes
        for method, endpoint in endpoints_of(route.handler).items()
    ]
    references, definitions = _schemas(endpoint for _, _, endpoint in endpoints)
    paths: dict[str, dict[str, Any]] = {}
    for template, method, endpoint in endpoints:
        paths.setdefault(template, {})[method] = {
            "tags": [_tag(template)],
            **_described(method, endpoint, references),
        }
    more = {"url": documentation, "description": "Guide, reference and design"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Farhand", "version": version, "description": DESCRIPTION},
        **({} if documentation is None else {"externalDocs": more}),
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
        },
    }


def _tag(template: str) -> str:
    """What an operation is about, by its address."""
    parts = template.strip("/").split("/")
    if parts[:2] == ["v1", "computer"]:
        return "Input" if parts[3] == "input" else "Screen"
    if parts[0] == "v1":
        return parts[1].title()
    return "Console" if parts[0] == "console" else "Server"


References = Mapping[Any, dict[str, Any]]


def _schemas(endpoints: Iterable[Endpoint]) -> tuple[References, dict[str, Any]]:
    """One named schema for each body and answer, in the mode in which it travels."""
    sent: list[type[BaseModel]] = []
    answered: list[type[BaseModel]] = [Problem, ValidationErrorBody]
    for endpoint in endpoints:
        sent += [model for model in (endpoint.body, endpoint.lines) if model is not None]
        answered.extend(model for model in endpoint.answers.values() if model is not None)
    modes = [(model, "validation") for model in dict.fromkeys(sent)]
    modes += [(model, "serialization") for model in dict.fromkeys(answered)]
    schemas, definitions = models_json_schema(modes, ref_template=REFERENCES)  # type: ignore[arg-type]
    references = {model: schema for (model, _), schema in schemas.items()}
    return references, definitions["$defs"]


def _described(method: str, endpoint: Endpoint, references: References) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": endpoint.summary.lower().replace(",", "").replace(" ", "_"),
        "summary": endpoint.summary,
        "parameters": [
            *_parameters(endpoint.path, "path"),
            *_parameters(endpoint.query, "query"),
            *_parameters(endpoint.headers, "header"),
        ],
        "responses": _responses(endpoint, references),
    }
    if endpoint.description:
        described["description"] = endpoint.description
    if endpoint.body is not None:
        described["requestBody"] = {
            "required": endpoint.body_required,
            "description": f"At most {endpoint.max_body_bytes} bytes and "
            f"{endpoint.max_body_values} JSON values.",
            "content": {"application/json": {"schema": references[endpoint.body]}},
        }
    if endpoint.raw_body:
        described["requestBody"] = _raw_body(endpoint, references)
    if not endpoint.public:
        scopes = [endpoint.scope.value] if endpoint.scope else []
        described["security"] = [{"token": scopes}]
        # A machine's token signs nobody in.
        if endpoint.session and endpoint.scope is not Scope.MACHINE_CONNECT:
            described["security"].append({"session": scopes})
    return described


def _raw_body(endpoint: Endpoint, references: References) -> dict[str, Any]:
    bounds, content = f"At most {endpoint.max_body_bytes} bytes", {}
    if endpoint.lines is not None:
        bounds = (
            f"Any number of lines, each of {bounds.lower()} and {endpoint.max_body_values} JSON "
            "values and of this schema"
        )
        content = {"schema": references[endpoint.lines]}
    return {
        "required": True,
        "description": f"{bounds}.",
        "content": dict.fromkeys(endpoint.raw_body, content),
    }


def _parameters(model: type[BaseModel] | None, place: str) -> Iterable[dict[str, Any]]:
    if model is None:
        return
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    for name, field in schema["properties"].items():
        described = {"in": place, "name": name, "schema": _inlined(field, definitions)}
        if "description" in field:
            described["description"] = field.pop("description")
        if place == "query" and {"type": "null"} in field.get("anyOf", ()):
            described["allowEmptyValue"] = True
        if name in schema.get("required", ()):
            described["required"] = True
        yield described


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """A parameter's schema with what it refers to put in its place."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return {name: _inlined(part, definitions) for name, part in schema.items()}
    if isinstance(schema, list):
        return [_inlined(part, definitions) for part in schema]
    return schema


def _responses(endpoint: Endpoint, references: References) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, model in endpoint.answers.items():
        response: dict[str, Any] = {"description": "Success."}
        if model is not None:
            response["content"] = {endpoint.media_type: {"schema": references[model]}}
        elif status == HTTPStatus.OK:
            response["content"] = {endpoint.media_type: {}}
        if endpoint.answer_headers:
            response["headers"] = {
                name: {"description": text, "schema": {"type": "string"}}
                for name, text in endpoint.answer_headers.items()
            }
        responses[str(status)] = response
    responses["422"] = {
        "description": "The request is wrong; each entry says where and what.",
        "content": {"application/json": {"schema": references[ValidationErrorBody]}},
    }
    for status, types in _by_status(_problems_of(endpoint)).items():
        responses[str(status)] = {
            "description": " Or: ".join(f"{each.title}. {each.advice}" for each in types),
            "content": {problems.MEDIA_TYPE: {"schema": references[Problem]}},
        }
    return responses


def _problems_of(endpoint: Endpoint) -> Iterable[ProblemType]:
    yield from endpoint.problems
    yield from (problems.MALFORMED_REQUEST, problems.HEADERS_TOO_LARGE, problems.INTERNAL_ERROR)
    if not endpoint.public:
        yield from POSSIBLE_WITH_A_TOKEN
    if endpoint.scope is not None:
        yield problems.FORBIDDEN
    if endpoint.takes_body:
        yield from (problems.TOO_LARGE, problems.UNSUPPORTED_MEDIA_TYPE, problems.SERVER_BUSY)


def _by_status(types: Iterable[ProblemType]) -> dict[int, list[ProblemType]]:
    by_status: dict[int, list[ProblemType]] = {}
    for each in types:
        if each not in by_status.setdefault(each.status, []):
            by_status[each.status].append(each)
    return dict(sorted(by_status.items()))
