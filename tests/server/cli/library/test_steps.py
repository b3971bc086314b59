"""``farhand trajectory step`` against a real server."""

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.commandline import Served

CLICK = {"operation": "mouse.click", "body": {"x": 1, "y": 2}}
TYPE = {"operation": "keyboard.type", "body": {"text": "4711"}}
FOREIGN = {"action": "click"}


@pytest.fixture
def own(served: Served) -> str:
    """The id of a trajectory of three steps."""
    line = {
        "id": str(uuid4()),
        "workflow_id": str(uuid4()),
        "dimensions": {"width": 1, "height": 1},
        "trajectory_data": [CLICK, TYPE, FOREIGN],
    }
    served.run("trajectory", "import", "-", stdin=json.dumps(line).encode())
    return str(line["id"])


def steps_of(served: Served, own: str) -> list[Any]:
    found = json.loads(served.run("trajectory", "step", "list", own, "--json").stdout)
    return [each["step"] for each in found["items"]]


def test_steps_are_listed_with_what_cannot_run_and_the_hash(served: Served, own: str) -> None:
    listed = served.run("trajectory", "step", "list", own)
    lines = listed.stdout.splitlines()
    assert "mouse.click" in lines[1]
    assert '{"text": "4711"}' in lines[2]
    assert "It is not Farhand's" in lines[3]
    seen = json.loads(served.run("trajectory", "show", own, "--json").stdout)["content_hash"]
    assert f"content hash: {seen}" in listed.stderr


def test_steps_are_changed_by_their_numbers(served: Served, own: str) -> None:
    for arguments in (
        ("wait", own, "2", "1.5"),
        ("change", own, "1", "--name", "Save", "--expect", '{"any": [{"still": 1}]}'),
        ("parameter", own, "3", "order", "4711", "--type", "integer", "--max-length", "9"),
        ("remove", own, "4"),
    ):
        result = served.run("trajectory", "step", *arguments)
        assert (result.exit_code, result.output) == (0, ""), result.output
    click, wait, typed = steps_of(served, own)
    assert (click["name"], click["expect"]) == ("Save", {"any": [{"still": 1.0}]})
    assert wait == {"operation": "wait", "body": {"seconds": 1.5}}
    assert typed["body"] == {"text": "{{order}}"}
    assert typed["parameters"] == {"order": {"type": "integer", "example": "4711", "max_length": 9}}
    served.run("trajectory", "step", "change", own, "3", "--secret", "password")
    served.run("trajectory", "step", "change", own, "1", "--name", "")
    click, _, typed = steps_of(served, own)
    assert "name" not in click
    assert (typed["body"], typed["secret"]) == ({}, "password")
    listed = served.run("trajectory", "step", "list", own).stdout
    assert "secret password" in listed


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("change", "1", "--expect", "{"), 2, "is not JSON"),
        (("change", "9", "--name", "n"), 1, "step 9"),
        (("remove", "0"), 2, "0"),
        (("parameter", "2", "order", "12"), 1, "does not stand in the step's text"),
    ],
)
def test_what_is_wrong_is_said(
    served: Served, own: str, arguments: tuple[str, ...], code: int, words: str
) -> None:
    command, *rest = arguments
    result = served.run("trajectory", "step", command, own, *rest)
    assert (result.exit_code, words in result.output) == (code, True), result.output
