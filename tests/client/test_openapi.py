"""The library against the API's own description, both ways: nothing is missing or made up."""

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from farhand import actions, types
from farhand.types import Answer
from server.api.routes import ROUTES
from server.web.openapi import openapi_document

DOCUMENT: dict[str, Any] = json.loads(json.dumps(openapi_document(ROUTES, "0", None)))
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]

NOT_FOR_PROGRAMS = ("/console", "/docs", "/healthz", "/readyz", "/problems", "/metrics")

OTHER_NAMES = {"Pause-Output": "Pause"}
GENERIC = {"Page"}
OWN = {"Answer", "Event", "Picture"}
"""What is no JSON object of the API: the base, what comes in a stream, and a screenshot."""

ERRORS = {"Problem", "ValidationErrorBody", "ValidationErrorEntry"}


def references(schema: Any) -> Iterator[str]:
    """The names of the schemas that this one refers to."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for value in schema.values():
            yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def answered() -> set[str]:
    """All schemas that are a part of what a program is answered with success."""
    found: set[str] = set()
    new = {
        name
        for path, operations in DOCUMENT["paths"].items()
        if path.startswith("/v1/") and not path.startswith(NOT_FOR_PROGRAMS)
        for operation in operations.values()
        for status, response in operation["responses"].items()
        if status.startswith("2")
        for name in references(response)
    }
    while new:
        found |= new
        new = {name for each in new for name in references(SCHEMAS[each])} - found
    return {
        name
        for name in found - ERRORS
        if "properties" in SCHEMAS[name] and not name.endswith("Page")
    }


def models() -> dict[str, type[BaseModel]]:
    return {
        name: value
        for name, value in vars(types).items()
        if inspect.isclass(value) and issubclass(value, Answer) and name not in GENERIC | OWN
    }


def test_every_answer_has_its_model_and_every_model_its_answer() -> None:
    assert {OTHER_NAMES.get(name, name) for name in answered()} == set(models())


@pytest.mark.parametrize("schema", sorted(answered()))
def test_model_has_the_fields_of_the_answer(schema: str) -> None:
    model = models()[OTHER_NAMES.get(schema, schema)]
    described = SCHEMAS[schema]
    assert set(model.model_fields) == set(described["properties"])
    always = set(described.get("required", ()))
    for name, field in model.model_fields.items():
        assert not field.is_required() or name in always, f"{name} may be left out"


def test_page_is_as_every_list_is() -> None:
    pages = [name for name in SCHEMAS if name.endswith("Page")]
    for name in pages:
        assert set(types.Page.model_fields) <= set(SCHEMAS[name]["properties"])


ACTIONS: dict[str, Callable[..., Any]] = {
    "ClickAction": actions.click,
    "MoveAction": actions.move,
    "DragAction": actions.drag,
    "ScrollAction": actions.scroll,
    "KeysAction": actions.key,
    "TypeAction": actions.type,
    "CopyAction": actions.write_clipboard,
    "Pause-Input": actions.pause,
    "WaitFor": actions.wait_for,
}


def test_every_action_has_its_function() -> None:
    described = set(references(SCHEMAS["Actions"]["properties"]["actions"]))
    assert described - {"TakePicture"} == set(ACTIONS)


@pytest.mark.parametrize("schema", ACTIONS)
def test_function_takes_the_fields_of_the_action(schema: str) -> None:
    other_names = {"in": "picture", "any": "conditions"}
    fields = {other_names.get(name, name) for name in SCHEMAS[schema]["properties"]}
    assert set(inspect.signature(ACTIONS[schema]).parameters) == fields - {"operation"}


WITHOUT_METHOD = {
    "/v1/machines/connect",  # machine clients alone
    "/v1/machines/{machine_id}/control/request",  # people who ask each other
    "/v1/machines/{machine_id}/control/{lease}/hand",  # the console's hands
    "/v1/computer/{machine_id}/display/stream",  # viewers
    "/v1/trajectories/export",  # longer than memory: the commands are for these
    "/v1/trajectories/import",
    "/v1/audit/export",
}


def test_every_other_address_is_called() -> None:
    package = Path(types.__file__).parent / "_async"
    source = "".join(file.read_text() for file in sorted(package.glob("*.py")))
    for path in set(DOCUMENT["paths"]) - WITHOUT_METHOD:
        if path.startswith("/v1/"):
            last = [part for part in path.split("/") if not part.startswith("{")][-1]
            assert last in source or path.startswith("/v1/computer/{machine_id}/input"), path
