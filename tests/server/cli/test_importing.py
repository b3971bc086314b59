"""``farhand trajectory import`` against a real server."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from server.cli import importing
from server.cli.client import Api
from tests.commandline import Served, run


def line(workflow: str, **fields: Any) -> str:
    body = {
        "workflow_id": workflow,
        "dimensions": {"width": 1, "height": 2},
        "trajectory_data": [{"n": 1}],
    }
    return json.dumps({**body, **fields})


@pytest.fixture
def workflow() -> str:
    """A workflow that only this test imports for."""
    return str(uuid4())


def kept(served: Served, workflow: str) -> list[dict[str, Any]]:
    """What the server keeps of a workflow, newest first."""
    token = (served.data_dir / "admin-token").read_text().strip()
    api = Api(served.url, token, as_json=True)
    path = f"/v1/trajectories?is_generated=null&workflow_id={workflow}"
    items: list[dict[str, Any]] = api.call("GET", path)["items"]
    return items


def test_file_is_imported_with_ids_and_times(served: Served, tmp_path: Path, workflow: str) -> None:
    own = str(uuid4())
    file = tmp_path / "lines.jsonl"
    text = line(workflow, id=own, created_at="2024-01-01T00:00:00Z") + "\n\n"
    file.write_text(text + line(workflow, name="Grün") + "\n  \n" + line(workflow))
    result = served.run("trajectory", "import", str(file))
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "3 imported, 0 wrong" in result.stderr
    items = kept(served, workflow)
    assert len(items) == 3
    assert (items[-1]["id"], items[-1]["created_at"]) == (own, "2024-01-01T00:00:00.000Z")


def test_standard_input_is_a_file_too(served: Served, workflow: str) -> None:
    result = served.run("trajectory", "import", "-", "--json", stdin=line(workflow).encode())
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"imported": 1, "wrong": []}
    assert len(kept(served, workflow)) == 1


def test_wrong_lines_are_named_with_their_numbers_and_the_others_go_on(
    served: Served, tmp_path: Path, workflow: str
) -> None:
    taken = str(uuid4())
    lines = [
        line(workflow, id=taken),
        "not json",
        line(workflow, name="n" * 256),
        "",
        line("no-uuid"),
        line(workflow, id=taken, name="a copy"),
        '{"workflow_id": "' + workflow + '", "dimensions": {"width": NaN, "height": 1}}',
        line(workflow, original_input_values={"x": 1})[:-1] + ', "trajectory_data": [NaN]}',
        line(workflow, surplus=1),
        "[]",
        "\\xff",
        line(workflow, name="last"),
    ]
    file = tmp_path / "lines.jsonl"
    file.write_bytes("\n".join(lines).encode().replace(b"\\xff", b"\xff\xfe"))
    result = served.run("trajectory", "import", str(file), "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["imported"] == 2
    wrong = {each["line"]: each["error"] for each in answer["wrong"]}
    assert list(wrong) == [2, 3, 5, 6, 7, 8, 9, 10, 11]
    assert "JSON" in wrong[2]
    assert "name" in wrong[3]
    assert "workflow_id" in wrong[5]
    assert "id already" in wrong[6]
    assert "surplus" in wrong[9]
    for number, error in wrong.items():
        assert f"line {number}: {error}" in result.stderr
    assert {item["name"] for item in kept(served, workflow)} == {None, "last"}


def test_line_that_is_too_long_is_named_and_skipped_whole(
    served: Served, tmp_path: Path, workflow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_TRAJECTORY_BYTES", 1000)
    file = tmp_path / "lines.jsonl"
    long_line = line(workflow, description=line(workflow).ljust(5000))
    file.write_text("\n".join([long_line, line(workflow), long_line]))
    result = served.run("trajectory", "import", str(file))
    assert result.exit_code == 1
    assert "line 1: longer than 1000 bytes" in result.stderr
    assert "line 3: longer than 1000 bytes" in result.stderr
    assert "1 imported, 2 wrong" in result.stderr
    assert len(kept(served, workflow)) == 1


def test_empty_file_is_nothing_to_import(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.touch()
    result = served.run("trajectory", "import", str(file))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "0 imported, 0 wrong" in result.stderr


def test_missing_file_is_used_wrongly(served: Served, tmp_path: Path) -> None:
    result = served.run("trajectory", "import", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert "No such file" in result.stderr


def test_directory_is_no_file(served: Served, tmp_path: Path) -> None:
    result = served.run("trajectory", "import", str(tmp_path))
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)


def test_token_that_may_not_import_ends_it_at_once(
    served: Served, tmp_path: Path, workflow: str
) -> None:
    token = served.run("token", "create", "--name", "n").stdout.strip()
    file = tmp_path / "lines.jsonl"
    file.write_text(line(workflow) + "\n" + line(workflow))
    result = run("trajectory", "import", str(file), "--url", served.url, "--token", token)
    assert result.exit_code == 1
    assert result.stderr.count("trajectories:write") == 1
