"""The view of an OpenAPI document that the page about the API shows."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from server.web.reference.models import Field, Models, Words

Described = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Fields under their heading: parameters of one place, a body, or a model."""

    heading: str
    note: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Answer:
    """What an operation may end in."""

    status: str
    texts: tuple[str, ...]
    headers: Mapping[str, str]
    type: Words


@dataclass(frozen=True)
class Operation:
    """One operation; ``options`` is the rest of its curl command, behind the address."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    needs: str
    tables: tuple[Table, ...]
    options: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Reference:
    """All operations by what they are about, and each model that these refer to, once."""

    groups: Mapping[str, list[Operation]]
    models: tuple[Table, ...]


def reference_of(document: Described) -> Reference:
    """The view of a document."""
    schemas = document["components"]["schemas"]
    models = Models(schemas)
    groups: dict[str, list[Operation]] = {}
    # A body is told where it is sent; what is in it, and all that is answered, is a model.
    told = models.referred_to(schemas)
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            operation = _operation(method.upper(), path, described, models)
            groups.setdefault(described["tags"][0], []).append(operation)
            told |= models.referred_to(described["responses"])
    tables = (
        Table(name, schemas[name].get("description", ""), models.fields_of(schemas[name]))
        for name in sorted(told)
    )
    return Reference(groups, tuple(tables))


def _operation(method: str, path: str, described: Described, models: Models) -> Operation:
    return Operation(
        id=described["operationId"],
        method=method,
        path=path,
        summary=described["summary"],
        description=described.get("description", ""),
        needs=_needs(described),
        tables=(*_parameters(described, models), *_body(described, models)),
        options="".join(f" \\\n     {each}" for each in _options(described, models)),
        answers=tuple(
            _answer(status, response, models) for status, response in described["responses"].items()
        ),
    )


def _needs(described: Described) -> str:
    if "security" not in described:
        return "Needs no token."
    scopes = described["security"][0]["token"]
    return f"Needs a token with the scope {scopes[0]}." if scopes else "Needs any token."


def _parameters(described: Described, models: Models) -> Iterator[Table]:
    for place in ("path", "query", "header"):
        fields = tuple(
            Field(
                name=each["name"],
                type=models.in_words(each["schema"]),
                description=each.get("description", ""),
                is_required=each.get("required", False),
            )
            for each in described["parameters"]
            if each["in"] == place
        )
        if fields:
            yield Table(f"In the {place}", "", fields)


def _body(described: Described, models: Models) -> Iterator[Table]:
    if body := described.get("requestBody"):
        heading = f"Body: {' or '.join(body['content'])}"
        heading += "" if body.get("required") else ", may be left out"
        yield Table(heading, body["description"], models.fields_of(_schema_in(body)))


def _options(described: Described, models: Models) -> Iterator[str]:
    """What follows the address in a curl command, with the smallest body."""
    if "security" in described:
        yield '-H "Authorization: Bearer $FARHAND_TOKEN"'
    if body := described.get("requestBody"):
        media_type = next(iter(body["content"]))
        yield f"-H 'Content-Type: {media_type}'"
        if media_type == "application/json":
            yield f"-d {shlex.quote(json.dumps(models.example(_schema_in(body))))}"
        else:
            yield "--data-binary @FILE"


def _answer(status: str, response: Described, models: Models) -> Answer:
    headers = response.get("headers", {})
    schema = _schema_in(response)
    return Answer(
        status,
        tuple(response["description"].split(" Or: ")),
        {name: each["description"] for name, each in headers.items()},
        models.in_words(schema) if schema else (),
    )


def _schema_in(part: Described) -> Described:
    """What a body or an answer is like, whatever its media type; empty where nothing says it."""
    contents = part.get("content", {}).values()
    return next((each["schema"] for each in contents if "schema" in each), {})
