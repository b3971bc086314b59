"""``farhand trajectory import`` against a real server."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from schemas.resources.trajectories import MAX_TRAJECTORY_BYTES, MAX_TRAJECTORY_VALUES
from server.cli.client import Api
from server.cli.transfer import importing, line_import
from server.cli.transfer.connection import Transfer
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
    assert "3 imported, 0 there already, 0 wrong" in result.stderr
    items = kept(served, workflow)
    assert len(items) == 3
    assert (items[-1]["id"], items[-1]["created_at"]) == (own, "2024-01-01T00:00:00.000Z")


def test_standard_input_is_a_file_too(served: Served, workflow: str) -> None:
    result = served.run("trajectory", "import", "-", "--json", stdin=line(workflow).encode())
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"imported": 1, "there_already": 0, "wrong": []}
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
    assert "another trajectory with this id" in wrong[6]
    assert "surplus" in wrong[9]
    for number, error in wrong.items():
        assert f"line {number}: {error}" in result.stderr
    assert {item["name"] for item in kept(served, workflow)} == {None, "last"}


@pytest.fixture
def short_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that take no more than a thousand bytes, in batches of some hundred."""
    for module in (importing, line_import):
        monkeypatch.setattr(module, "MAX_TRAJECTORY_BYTES", 1000)
    monkeypatch.setattr(line_import, "BATCH_BYTES", 300)


def steps(count: int, text: str = "x" * 90) -> list[dict[str, Any]]:
    return [{"number": number, "text": text} for number in range(count)]


@pytest.mark.usefixtures("short_requests")
def test_line_with_a_value_that_is_too_long_is_named_and_nothing_of_it_is_kept(
    served: Served, tmp_path: Path, workflow: str
) -> None:
    file = tmp_path / "lines.jsonl"
    lines = [
        line(workflow, description="d" * 5000),
        line(workflow),
        line(workflow, trajectory_data=[*steps(20), {"text": "x" * 990}]),
        line(workflow, original_input_values={"v": "x" * 600}, description="d" * 600),
    ]
    file.write_text("\n".join(lines))
    result = served.run("trajectory", "import", str(file))
    assert result.exit_code == 1
    assert "line 1: longer than 1000 bytes without its steps" in result.stderr
    assert "line 3: step 21 is longer than 1000 bytes" in result.stderr
    assert "line 4: longer than 1000 bytes without its steps" in result.stderr
    assert "1 imported, 0 there already, 3 wrong" in result.stderr
    assert len(kept(served, workflow)) == 1


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"is_generated": False},
        {"is_approved": True},
        {"is_generated": False, "is_approved": True},
        {"created_at": "2024-01-01T00:00:00.000Z", "updated_at": "2024-01-02T00:00:00.000Z"},
    ],
)
@pytest.mark.usefixtures("short_requests")
def test_line_that_is_too_long_for_a_request_is_imported_step_by_step(
    served: Served, tmp_path: Path, workflow: str, state: dict[str, Any]
) -> None:
    own = str(uuid4())
    given = {"name": "long", "original_input_values": {"a": None}, **state}
    text = line(workflow, id=own, trajectory_data=steps(40, 'ü\\"' * 20), **given)
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join([line(workflow), text, line(workflow, id=str(uuid4()))]))
    result = served.run("trajectory", "import", str(file), "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"imported": 3, "there_already": 0, "wrong": []}
    (item,) = (item for item in kept(served, workflow) if item["id"] == own)
    assert item["trajectory_data"] == steps(40, 'ü\\"' * 20)
    assert {name: item[name] for name in given} == given
    assert item["is_generated"] is state.get("is_generated", True)
    again = served.run("trajectory", "import", str(file), "--json")
    assert json.loads(again.stdout) == {"imported": 1, "there_already": 2, "wrong": []}


def test_line_of_too_many_values_for_a_request_is_imported_step_by_step(
    served: Served, tmp_path: Path, workflow: str
) -> None:
    # In one request it would be 413, though it has a fifth of the bytes.
    many = [{"path": [1.5] * 998} for _ in range(MAX_TRAJECTORY_VALUES // 1000 + 1)]
    text = line(workflow, id=str(uuid4()), trajectory_data=many)
    assert len(text) < MAX_TRAJECTORY_BYTES
    file = tmp_path / "lines.jsonl"
    file.write_text(text)
    result = served.run("trajectory", "import", str(file))
    assert result.exit_code == 0, result.stderr
    assert "1 imported, 0 there already, 0 wrong" in result.stderr
    (item,) = kept(served, workflow)
    assert item["trajectory_data"] == many
    assert item["is_generated"]


@pytest.mark.parametrize("sent", [1, 3, 8])
@pytest.mark.parametrize("is_generated", [True, False])
@pytest.mark.usefixtures("short_requests")
def test_import_that_was_broken_off_in_a_line_goes_on_there(
    served: Served,
    tmp_path: Path,
    workflow: str,
    monkeypatch: pytest.MonkeyPatch,
    sent: int,
    is_generated: bool,
) -> None:
    times = {"created_at": "2024-01-01T00:00:00.000Z", "updated_at": "2024-01-02T00:00:00.000Z"}
    text = line(
        workflow,
        id=str(uuid4()),
        trajectory_data=steps(20),
        is_generated=is_generated,
        is_approved=True,
        **times,
    )
    file = tmp_path / "lines.jsonl"
    file.write_text(text)
    send = Transfer.send
    requests, at_most = 0, sent

    def counted(*arguments: Any) -> Any:
        nonlocal requests
        if requests == at_most:
            raise KeyboardInterrupt
        requests += 1
        return send(*arguments)

    monkeypatch.setattr(Transfer, "send", counted)
    assert served.run("trajectory", "import", str(file)).exit_code != 0
    (item,) = kept(served, workflow)
    assert not item["is_generated"]
    requests, at_most = 0, 100
    result = served.run("trajectory", "import", str(file), "--json")
    assert json.loads(result.stdout) == {"imported": 1, "there_already": 0, "wrong": []}
    # Only what had not been sent, and the attempt to create it anew.
    assert requests == 12 - sent + 1
    (item,) = kept(served, workflow)
    assert item["trajectory_data"] == steps(20)
    assert (item["is_generated"], item["is_approved"]) == (is_generated, True)
    assert {name: item[name] for name in times} == times


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"trajectory_data": [*steps(19), {"number": 19.0, "text": "x" * 90}]},
        {"trajectory_data": steps(21)},
        {"trajectory_data": steps(19)},
        {"is_approved": False},
        {"created_at": "2024-01-01T00:00:00.001Z"},
    ],
)
@pytest.mark.parametrize("is_long", [True, False])
def test_another_trajectory_with_the_id_of_a_line_is_named_and_left_as_it_is(
    served: Served,
    tmp_path: Path,
    workflow: str,
    request: pytest.FixtureRequest,
    changes: dict[str, Any],
    is_long: bool,
) -> None:
    if is_long:
        request.getfixturevalue("short_requests")
    own = {"id": str(uuid4()), "is_approved": True, "created_at": "2024-01-01T00:00:00Z"}
    file = tmp_path / "lines.jsonl"
    file.write_text(line(workflow, **{**own, "trajectory_data": steps(20), **changes}))
    assert served.run("trajectory", "import", str(file)).exit_code == 0
    before = kept(served, workflow)
    file.write_text(line(workflow, **own, trajectory_data=steps(20)))
    result = served.run("trajectory", "import", str(file))
    assert "line 1: there is another trajectory with this id already" in result.stderr
    assert kept(served, workflow) == before


def test_empty_file_is_nothing_to_import(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.touch()
    result = served.run("trajectory", "import", str(file))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "0 imported, 0 there already, 0 wrong" in result.stderr


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


def test_token_that_may_not_read_imports_and_names_what_is_there_already(
    served: Served, tmp_path: Path, workflow: str
) -> None:
    token = served.run("token", "create", "--name", "n", "--scope", "trajectories:write")
    options = ("--url", served.url, "--token", token.stdout.strip())
    file = tmp_path / "lines.jsonl"
    taken = line(workflow, id=str(uuid4()))
    file.write_text("\n".join([taken, taken, line(workflow)]))
    result = run("trajectory", "import", str(file), *options)
    assert result.exit_code == 1
    assert "line 2: there is one with this id already" in result.stderr
    assert "trajectories:read" in result.stderr
    assert "2 imported, 0 there already, 1 wrong" in result.stderr


def test_lines_go_together_in_few_requests_and_keep_their_numbers(
    served: Served, tmp_path: Path, workflow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_LINES", 4)
    monkeypatch.setattr(importing, "BATCH_BYTES", 2000)
    send, sizes = Transfer.send, []

    def noted(*arguments: Any) -> Any:
        sizes.append(arguments[3].count(b"\n"))
        return send(*arguments)

    monkeypatch.setattr(Transfer, "send", noted)
    file = tmp_path / "lines.jsonl"
    short = [line(workflow, name=str(number)) for number in range(9)]
    long = [line(workflow, name=name, description="d" * 1500) for name in ("ten", "eleven")]
    file.write_text("\n".join([*short, "wrong", *long, "", "wrong too"]))
    result = served.run("trajectory", "import", str(file), "--json")
    answer = json.loads(result.stdout)
    assert (answer["imported"], answer["there_already"]) == (11, 0)
    assert [each["line"] for each in answer["wrong"]] == [10, 14]
    assert sizes == [4, 4, 3, 2]
    assert len(kept(served, workflow)) == 11
