"""``farhand workflow`` against a real server."""

import json
from uuid import UUID

from tests.commandline import Served


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
