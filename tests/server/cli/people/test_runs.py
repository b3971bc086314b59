"""``farhand run`` against a real server."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from farhand import Farhand
from tests.commandline import Served

SENT = {
    "dimensions": {"width": 1280, "height": 800},
    "trajectory_data": [
        {
            "operation": "keyboard.type",
            "body": {"text": "{{order}}"},
            "parameters": {"order": {"type": "integer"}},
        },
        {"operation": "keyboard.type", "body": {}, "secret": "password"},
    ],
}


def approved(served: Served) -> Any:
    """The id of an approved trajectory with a parameter and a secret."""
    token = (served.data_dir / "admin-token").read_text().strip()
    with Farhand(served.url, token, trust_env=False) as f:
        sent = {**SENT, "workflow_id": str(uuid4())}
        made = f.connection.send("POST", "/v1/trajectories", json=sent).json
        reviewer = f.tokens.create("reviewer", role="reviewer")
    with Farhand(served.url, reviewer.token, trust_env=False) as f:
        f.trajectories.review(made["id"], "approve", content_hash=made["content_hash"])
    return made["id"]


def test_run_is_started_listed_shown_and_cancelled(served: Served, tmp_path: Path) -> None:
    assert served.run("machine", "add", "desk-of-runs").exit_code == 0
    secret = tmp_path / "secret"
    secret.write_text("of a test\n")
    start = ("run", "start", "--trajectory", approved(served), "--machine", "desk-of-runs")
    secrets = ("--secret-file", f"password={secret}")
    wrong = served.run(*start, "--value", "order", *secrets)
    assert (wrong.exit_code, "NAME=VALUE" in wrong.stderr) == (2, True)
    nowhere = served.run(*start, "--secret-file", "password=/nowhere")
    assert (nowhere.exit_code, "cannot be read" in nowhere.stderr) == (2, True)
    refused = served.run(*start, "--value", "order=many", *secrets)
    assert (refused.exit_code, "integer" in refused.stderr) == (1, True)
    run = served.run(*start, "--value", "order=4711", *secrets).stdout.strip()
    listed = served.run("run", "list", "--machine", "desk-of-runs", "--json").stdout
    assert [each["id"] for each in json.loads(listed)["items"]] == [run]
    assert "scheduling" in served.run("run", "show", run).stdout
    (exported,) = served.run("run", "export", "--machine", "desk-of-runs").stdout.splitlines()
    assert (json.loads(exported)["id"], json.loads(exported)["steps"]) == (run, [])
    assert served.run("run", "export", "--status", "task_failed").stdout == ""
    going_on = served.run("run", "continue", run, "--skip")
    assert (going_on.exit_code, "not halted" in going_on.stderr) == (1, True)
    for status, words, *how in (
        (2, "must be X,Y in pixels, such as 620,322", "--place", "620"),
        (2, "must be a JSON object", "--element", "Order"),
        (2, "not a valid UUID", "--skip", "--by-hand", "mine"),
        (1, "not halted", "--place", "620,322"),
        (1, "not halted", "--element", '{"name": "Order"}'),
        (1, "not halted", "--skip", "--by-hand", str(uuid4())),
    ):
        repaired = served.run("run", "continue", run, *how)
        assert (repaired.exit_code, words in repaired.stderr) == (status, True), repaired.stderr
    assert served.run("run", "cancel", run).exit_code == 0
    again = served.run("run", "retry", run, *secrets).stdout.strip()
    shown = json.loads(served.run("run", "show", again, "--json").stdout)
    assert shown["items"][0]["retry_of"] == run
    served.run("run", "cancel", again)
