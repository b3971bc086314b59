"""``farhand workflow`` against a real server."""

import json
from uuid import UUID

import httpx

from tests.commandline import Served
from tests.processes import WAIT_SECONDS

MORE_THAN_ONE_PAGE = 1001


def test_workflow_is_added_shown_renamed_listed_and_removed(served: Served) -> None:
    added = served.run("workflow", "add", "Month end", "--description", "The books")
    assert added.exit_code == 0
    assert added.stdout == f"{UUID(added.stdout.strip())}\n"
    workflow = added.stdout.strip()
    shown = served.run("workflow", "show", workflow).stdout
    assert f"id:          {workflow}" in shown
    assert "description: The books" in shown
    renamed = served.run("workflow", "rename", workflow, "Year end")
    assert (renamed.exit_code, renamed.output) == (0, "")
    told = json.loads(served.run("workflow", "show", workflow, "--json").stdout)
    assert (told["name"], told["description"]) == ("Year end", "The books")
    (line,) = [
        line for line in served.run("workflow", "list").stdout.splitlines() if workflow in line
    ]
    assert "Year end" in line
    removed = served.run("workflow", "remove", workflow)
    assert (removed.exit_code, removed.output) == (0, "")
    assert served.run("workflow", "show", workflow).exit_code == 1


def test_workflow_is_described_and_says_what_values_its_runs_bring(served: Served) -> None:
    schema = b'{"order": {"type": "integer", "example": "4711", "max_length": 10}}'
    added = served.run("workflow", "add", "Orders", "--input-schema", "-", stdin=schema)
    workflow = added.stdout.strip()
    shown = served.run("workflow", "show", workflow).stdout
    assert 'input:       order {"type": "integer", "example": "4711", "max_length": 10}' in shown
    assert served.run("workflow", "describe", workflow, "All of them").output == ""
    assert served.run("workflow", "schema", workflow, "-", stdin=b"null").output == ""
    told = json.loads(served.run("workflow", "show", workflow, "--json").stdout)
    assert (told["description"], told["input_schema"]) == ("All of them", None)
    served.run("workflow", "describe", workflow, "")
    assert "description" not in served.run("workflow", "show", workflow).stdout
    wrong = served.run("workflow", "schema", workflow, "-", stdin=b"{")
    assert (wrong.exit_code, "is not JSON" in wrong.output) == (1, True), wrong.output
    strange = served.run("workflow", "schema", workflow, "-", stdin=b'{"7": {}}')
    assert strange.exit_code == 1


def test_list_is_whole_however_long_it_is(served: Served) -> None:
    organization = served.run("organization", "add", "Many workflows").stdout.strip()
    token = served.run(
        "token", "create", "--name", "lists", "--organization", organization,
        "--scope", "trajectories:read", "--scope", "trajectories:write",
    ).stdout.strip()  # fmt: skip
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=served.url, headers=headers, timeout=WAIT_SECONDS) as http:
        made = {
            http.post("/v1/workflows", json={"name": f"Workflow {number}"}).json()["id"]
            for number in range(MORE_THAN_ONE_PAGE)
        }
    listed = json.loads(served.run("workflow", "list", "--token", token, "--json").stdout)
    assert {workflow["id"] for workflow in listed["items"]} == made
    assert (listed["total"], len(listed["items"])) == (MORE_THAN_ONE_PAGE, MORE_THAN_ONE_PAGE)
    table = served.run("workflow", "list", "--token", token).stdout
    assert all(workflow in table for workflow in made)
