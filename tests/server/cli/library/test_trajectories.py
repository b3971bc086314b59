"""``farhand trajectory`` against a real server: listed, named, copied, moved, reviewed, removed."""

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.commandline import Served

CLICK = {"operation": "mouse.click", "body": {"x": 1, "y": 2}}


class Library:
    """One trajectory, and two people with tokens of their own."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.workflow = self.run("workflow", "add", "Orders")
        line = {
            "id": str(uuid4()),
            "workflow_id": self.workflow,
            "dimensions": {"width": 1, "height": 1},
            "trajectory_data": [CLICK],
            "name": "Monday",
        }
        self.own = str(line["id"])
        self.run("trajectory", "import", "-", stdin=json.dumps(line).encode())
        self.other = self.run("token", "create", "--name", "Anna", "--role", "reviewer")

    def run(self, *arguments: str, **options: Any) -> str:
        """What a command prints that does what it should."""
        result = self.served.run(*arguments, **options)
        assert result.exit_code == 0, result.output
        return result.stdout.strip()

    def shown(self) -> Any:
        """The trajectory as it is now."""
        return json.loads(self.run("trajectory", "show", self.own, "--json"))


@pytest.fixture
def library(served: Served) -> Library:
    return Library(served)


def test_trajectory_is_listed_named_copied_moved_and_removed(library: Library) -> None:
    library.run("trajectory", "rename", library.own, "Tuesday")
    library.run("trajectory", "main", library.own)
    copy = library.run("trajectory", "duplicate", library.own, "--name", "Copy")
    listed = library.run("trajectory", "list", "--workflow", library.workflow)
    (line,) = [line for line in listed.splitlines() if library.own in line]
    for text in ("Tuesday", "open", "main"):
        assert text in line
    found = library.run("trajectory", "list", "--search", copy, "--json")
    assert [each["name"] for each in json.loads(found)["items"]] == ["Copy"]
    elsewhere = library.run("workflow", "add", "Elsewhere")
    library.run("trajectory", "move", copy, elsewhere)
    listed = library.run("trajectory", "list", "--workflow", elsewhere, "--all")
    assert copy in listed
    reviewed = ("trajectory", "list", "--workflow", elsewhere, "--review")
    assert copy in library.run(*reviewed, "open")
    assert copy not in library.run(*reviewed, "pending")
    assert copy not in library.run("trajectory", "list", "--machine", "desk-1")
    by = json.loads(library.run("audit", "--json"))["items"][0]["token_id"]
    assert copy in library.run("trajectory", "list", "--author", by)
    assert copy not in library.run("trajectory", "list", "--author", str(uuid4()))
    library.run("trajectory", "remove", copy)
    assert copy not in library.run("trajectory", "list")


def test_content_that_was_looked_at_is_approved_by_somebody_else(library: Library) -> None:
    seen = library.shown()["content_hash"]
    assert f"content hash:  {seen}" in library.run("trajectory", "show", library.own)
    arguments = ("trajectory", "approve", library.own, "--content-hash", seen)
    refused = library.served.run(*arguments)
    assert refused.exit_code == 1
    assert "somebody else has to approve it" in refused.output
    library.run(*arguments, "--comment", "Looked at it.", "--token", library.other)
    shown = library.run("trajectory", "show", library.own)
    for text in ("approved", "Anna, ", "Looked at it."):
        assert text in shown
    library.run("trajectory", "withdraw", library.own)
    assert library.shown()["review"]["state"] == "withdrawn"
    library.run("trajectory", "reject", library.own, "--comment", "Why?")
    assert library.shown()["review"]["state"] == "rejected"
    stale = library.served.run(*arguments[:-1], "0" * 64, "--token", library.other)
    assert stale.exit_code == 1
    assert seen in stale.output


def test_approval_names_what_was_looked_at(library: Library) -> None:
    assert library.served.run("trajectory", "approve", library.own).exit_code == 2


def test_what_is_pending_is_not_reviewed(library: Library) -> None:
    line = {"id": str(uuid4()), "workflow_id": library.workflow, "trajectory_data": None,
            "dimensions": {"width": 1, "height": 1}}  # fmt: skip
    library.run("trajectory", "import", "-", stdin=json.dumps(line).encode())
    refused = library.served.run("trajectory", "reject", str(line["id"]))
    assert refused.exit_code == 1
    assert "pending generation" in refused.output


def test_pictures_that_go_are_listed(library: Library) -> None:
    step = {**CLICK, "picture": "0" * 64}
    own = str(uuid4())
    made = {
        "id": own,
        "workflow_id": library.workflow,
        "dimensions": {"width": 1, "height": 1},
        "trajectory_data": [step],
        "name": "Shown",
    }
    library.run("trajectory", "import", "-", stdin=json.dumps(made).encode())
    assert "Shown" not in library.run("trajectory", "pictures", "--within", "80d")
    listed = library.run("trajectory", "pictures", "--within", "91d")
    assert "Shown" in listed
    assert "pictures until:" in library.run("trajectory", "show", own)
