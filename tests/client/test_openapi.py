"""The library against the API's own description, both ways: nothing is missing or made up."""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

import farhand
from farhand import Farhand, actions, types
from farhand._sync.connection import Connection
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
    "InvokeAction": actions.invoke,
    "SetValueAction": actions.set_value,
    "FocusAction": actions.focus,
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
    ("GET", "/v1/machines/connect"),  # machine clients alone
    ("POST", "/v1/machines/{machine_id}/control/request"),  # people who ask each other
    ("GET", "/v1/machines/{machine_id}/control/{lease}/hand"),  # the console's hands
    ("GET", "/v1/computer/{machine_id}/display/stream"),  # viewers
    ("GET", "/v1/trajectories/export"),  # longer than memory: the commands are for these
    ("POST", "/v1/trajectories/import"),
    ("GET", "/v1/audit/export"),
    # Only of a lease that is taken: test__renewal.py has the first and the last, and
    # _async/test_machine.py the other one.
    ("PUT", "/v1/machines/{machine_id}/control/{lease}"),
    ("PATCH", "/v1/machines/{machine_id}/control/{lease}"),
    ("DELETE", "/v1/machines/{machine_id}/control/{lease}"),
}

ID = "00000000-0000-4000-8000-000000000001"
ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(("x", "y", "start_x", "start_y", "to_x", "to_y", "amount"), 1),
    **dict.fromkeys(("trajectory_id", "workflow_id", "token_id", "command_id", "picture_id"), ID),
    **dict.fromkeys(("pool_id", "invitation_id", "join_id", "webhook_id", "delivery_id"), ID),
    **dict.fromkeys(("recording_id", "machine_id", "session_id", "help_id", "run_id", "run"), ID),
    **dict.fromkeys(("name", "text", "action_name"), "n"),
    "url": "https://example.com",
    "events": ["machine_offline"],
    "until": datetime(2026, 12, 1, tzinfo=UTC),
    "direction": "down",
    "actions": [actions.click()],
    "steps": [],
    "runs": [],
    "number": 1,
    "decision": "approve",
    "content_hash": "0" * 64,
    "dimensions": {},
    "content": b"\x89PNG",
    "approved": True,
    "element": actions.element("push button"),
    "value": "n",
    "reason": "n",
    "answer": "done",
}
"""What the methods are called with, by the names of their parameters."""

OWN_ARGUMENTS: dict[str, dict[str, Any]] = {
    # Places, in the stead of which elements can be named.
    "Machine.move": {"x": 1, "y": 1},
    "Machine.drag": {"start_x": 1, "start_y": 1, "to_x": 1, "to_y": 1},
    "Machine.do": {"action": actions.write_clipboard("t")},
    "Machines.bulk": {"action": "resume", "machine_ids": ["a"]},
}
NO_OPERATIONS = {"close", "machine", "session", "request", "pages", "make_private"}


def operations_called() -> set[tuple[str, str]]:
    """The operations that all methods of the library call, each called once in vain."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        body = {"type": "/problems/not-found", "title": "Not found", "detail": "no"}
        return httpx.Response(404, json=body, headers={"Content-Type": "application/problem+json"})

    with Farhand("http://farhand", "fh_t", transport=httpx.MockTransport(answer)) as client:
        parts = [each for each in vars(client).values() if type(each).__module__ != CONNECTION]
        for owner in (client, client.machine("m"), *parts):
            for name, method in inspect.getmembers(owner, inspect.ismethod):
                if name[0] != "_" and name not in NO_OPERATIONS:
                    with pytest.raises(farhand.NotFound):
                        exhaust(method(**arguments_of(method)))
    return {(each.method, template_of(each)) for each in asked}


CONNECTION = Connection.__module__


def arguments_of(method: Any) -> dict[str, Any]:
    """What a method must be given."""
    own = OWN_ARGUMENTS.get(method.__qualname__, {})
    needed = [
        name
        for name, parameter in inspect.signature(method).parameters.items()
        if parameter.default is parameter.empty and parameter.kind not in VARIABLE
    ]
    return own | {name: ARGUMENTS[name] for name in needed if name not in own}


VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def exhaust(returned: Any) -> None:
    """Do what a method has put off: a list is read, a with statement entered."""
    if hasattr(returned, "__enter__"):
        with returned as entered:
            exhaust(entered)
    elif hasattr(returned, "__next__"):
        list(returned)


def template_of(request: httpx.Request) -> str:
    """The described address that a request is for; those without ids come first."""
    path = request.url.path
    found = (
        template
        for template in sorted(DOCUMENT["paths"], key=lambda template: template.count("{"))
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
        and request.method.lower() in DOCUMENT["paths"][template]
    )
    return next(found, f"no such operation: {path}")


def test_every_operation_for_programs_has_its_method_and_every_method_its_operation() -> None:
    described = {
        (method.upper(), path)
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
        if path.startswith("/v1/")
    }
    assert operations_called() == described - WITHOUT_METHOD
