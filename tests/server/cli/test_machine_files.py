"""``farhand machine add --from``: right lines become machines, and wrong ones are told."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from click.testing import Result

from tests.commandline import Served


def added(served: Served, file: Path, text: str, *options: str) -> Result:
    file.write_text(text)
    return served.run("machine", "add", "--from", str(file), *options)


def shown(served: Served, machine_id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(served.run("machine", "show", machine_id, "--json").stdout)
    return found


@pytest.fixture
def ids() -> Sequence[str]:
    return [f"till-{uuid4().hex[:8]}" for _ in range(3)]


def test_right_lines_go_on_and_wrong_ones_are_told(
    served: Served, tmp_path: Path, ids: Sequence[str]
) -> None:
    pool = f"Berlin {uuid4()}"
    served.run("pool", "add", pool)
    lines = [
        "id,name,tags,pools",
        f'{ids[0]},"Till 1, left",till spare,{pool}; {pool}',
        f"{ids[1]},,till,nowhere",
        f"{ids[1]},two,words-and-more",
        ",no id,,",
        f'{ids[0]},"again",,',
        "not/an/id,,,",
        "",
        f"{ids[2]},Kasse Ü,,",
    ]
    result = added(served, tmp_path / "tills.csv", "\n".join(lines))
    assert result.exit_code == 1
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [each["id"] for each in rows] == [ids[0], ids[2]]
    assert all(each["token"].startswith("fh_") for each in rows)
    told = dict(line.split(": ", 1) for line in result.stderr.splitlines() if ": " in line)
    assert told["line 3"] == "there is no pool nowhere: farhand pool add makes one"
    assert told["line 4"] == "it has more cells than columns, or less"
    assert told["line 5"] == "it has no id"
    assert told["line 6"] == f"Already exists: there is a machine '{ids[0]}' already"
    assert "letters, digits" in told["line 7"]
    assert result.stderr.endswith("5 of 7 machines were not added\n")
    first = shown(served, ids[0])
    assert (first["name"], first["tags"]) == ("Till 1, left", ["spare", "till"])
    assert [each["name"] for each in first["pools"]] == [pool]
    assert shown(served, ids[2])["name"] == "Kasse Ü"


def test_codes_take_the_place_of_tokens(served: Served, tmp_path: Path, ids: Sequence[str]) -> None:
    # As spreadsheets write it where the comma stands in numbers.
    text = f"\ufeffID;Name\r\n{ids[0]};Till 1\r\n"
    options = ("--codes", "--expires-in", "2h")
    result = added(served, tmp_path / "tills.csv", text, *options)
    assert (result.exit_code, result.stderr) == (0, "")
    (row,) = csv.DictReader(result.stdout.splitlines())
    assert row["id"] == ids[0]
    assert row["code"].startswith("fhj_")
    assert shown(served, ids[0])["name"] == "Till 1"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "name the columns"),
        (b"name\nTill\n", "name the columns"),
        (b"id,colour\na,red\n", "name the columns"),
        (b"id,id\na,b\n", "name the columns"),
        (b'id\n"a', "behind line 1: unexpected end of data"),
        (b"id\n\xff\n", "is no text in UTF-8"),
    ],
)
def test_file_that_is_none_is_told_and_nothing_is_added(
    served: Served, tmp_path: Path, content: bytes, words: str
) -> None:
    file = tmp_path / "tills.csv"
    file.write_bytes(content)
    result = served.run("machine", "add", "--from", str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr


def test_file_goes_alone(served: Served, tmp_path: Path) -> None:
    file = str(tmp_path / "none.csv")
    missing = served.run("machine", "add", "--from", file)
    assert (missing.exit_code, "cannot read" in missing.stderr) == (1, True)
    for options in (("desk", "--from", file), ("--codes",), ("--from", file, "--expires-in", "2h")):
        assert served.run("machine", "add", *options).exit_code == 2
