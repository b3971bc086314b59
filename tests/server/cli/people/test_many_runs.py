"""``farhand run start --bulk``: all that a file has, or nothing and a word for each wrong line."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from farhand import Farhand
from server.cli.people.many_runs import runs_in
from tests.commandline import Served
from tests.server.cli.people.test_runs import approved

COMMON = {"workflow_id": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "machine_id": "desk"}


def written(directory: Path, name: str, text: str) -> Path:
    file = directory / name
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "machine,order\ntill,1\n,2\n"),
        (
            "a.jsonl",
            '{"machine_id": "till", "input_values": {"order": "1"}}\n\n'
            '{"input_values": {"order": "2"}}\n',
        ),
    ],
)
def test_each_line_is_a_run_and_says_what_is_not_common(
    tmp_path: Path, name: str, text: str
) -> None:
    runs = runs_in(written(tmp_path, name, text), {**COMMON, "input_values": {"by": "night"}})
    told = [(each["machine_id"], each["input_values"]) for _, each in runs]
    values = [{"by": "night", "order": order} for order in ("1", "2")]
    assert told == [("till", values[0]), ("desk", values[1])]
    assert [line for line, _ in runs] == ([2, 3] if name == "a.csv" else [1, 3])


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("a.csv", "order\n1\n1,2\n", ["line 3: has another number of fields than the 1"]),
        ("a.csv", "order,UP one\n1,2\n", ["line 2: input_values"]),
        ("a.csv", "order\n", ["it has 0 runs, and may have 1 to 1,000"]),
        ("a.csv", "order\n" + "1\n" * 1001, ["it has 1,001 runs"]),
        ("a.jsonl", "{\n[]\n", ["line 1: is no JSON", "line 2: is no object"]),
        ("a.jsonl", '{"priority": 10}\n{"colour": 1}\n', ["line 1: priority", "line 2: colour"]),
        ("a.jsonl", '{"input_values": []}\n', ["line 1: input_values"]),
    ],
)
def test_lines_that_are_wrong_are_all_named(
    tmp_path: Path, name: str, text: str, wrong: list[str]
) -> None:
    with pytest.raises(click.ClickException) as refused:
        runs_in(written(tmp_path, name, text), COMMON)
    for words in ("no run was begun", *wrong):
        assert words in refused.value.message


def test_file_begins_all_or_none(served: Served, tmp_path: Path) -> None:
    served.run("machine", "add", "desk-of-many")
    secret = written(tmp_path, "secret", "of a test\n")
    start = ("run", "start", "--trajectory", approved(served), "--machine", "desk-of-many")
    many = (*start, "--secret-file", f"password={secret}", "--bulk")

    def total() -> Any:
        listed = served.run("run", "list", "--machine", "desk-of-many", "--json").stdout
        return len(json.loads(listed)["items"])

    wrong = served.run(*many, str(written(tmp_path, "wrong.csv", "order\n1\nmany\n3\n")))
    assert (wrong.exit_code, total()) == (1, 0)
    assert "line 3: " in wrong.stderr
    assert "line 2: " not in wrong.stderr
    begun = served.run(*many, str(written(tmp_path, "right.csv", "order\n1\n2\n")))
    assert (len(begun.stdout.split()), total()) == (2, 2)
    token = (served.data_dir / "admin-token").read_text().strip()
    with Farhand(served.url, token, trust_env=False) as f:
        for run in begun.stdout.split():
            assert f.runs.cancel(run).status == "cancelled"
