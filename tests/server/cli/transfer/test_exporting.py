"""``farhand trajectory export`` against a real server, and back again by ``import``."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
import httpx
import pytest
from click.testing import Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.cli.client import Api
from server.cli.transfer import connection as transfer
from server.cli.transfer import exporting, importing, line_import
from server.cli.transfer.connection import Transfer
from tests.commandline import Served, run
from tests.trajectories import sent


class Organization:
    """A new organization of a server, and its administrator."""

    def __init__(self, served: Served) -> None:
        own = served.run("organization", "add", "of a test").stdout.strip()
        scopes = ("--scope", "trajectories:read", "--scope", "trajectories:write")
        made = served.run("token", "create", "--name", "n", "--organization", own, *scopes)
        self.url, self.token = served.url, made.stdout.strip()
        self.api = Api(self.url, self.token, as_json=True)

    def run(self, *arguments: str) -> Result:
        return run("trajectory", *arguments, "--url", self.url, "--token", self.token)

    def done(self, *arguments: str) -> Any:
        """Run it, which must succeed; what it says as JSON."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    def make(self, **fields: Any) -> Any:
        return self.api.call("POST", "/v1/trajectories", sent(**fields))


@pytest.fixture
def ours(served: Served) -> Organization:
    return Organization(served)


def test_lines_are_what_was_made_oldest_first(ours: Organization, tmp_path: Path) -> None:
    for name in "abc":
        ours.make(name=name)
    ours.make(name="pending", is_generated=False)
    file = tmp_path / "lines.jsonl"
    assert ours.done("export", str(file)) == {"exported": 3}
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["name"] for line in lines] == ["a", "b", "c"]
    assert ours.done("export", "--all", str(file)) == {"exported": 4}
    assert len(file.read_text().splitlines()) == 4
    assert list(tmp_path.iterdir()) == [file]


def test_export_of_a_workflow_is_of_that_alone(ours: Organization, tmp_path: Path) -> None:
    workflow, file = str(uuid4()), tmp_path / "lines.jsonl"
    ours.make(name="here", workflow_id=workflow)
    ours.make(name="elsewhere")
    assert ours.done("export", "--workflow", workflow, str(file)) == {"exported": 1}
    assert json.loads(file.read_text())["name"] == "here"


def test_standard_output_is_a_file_too(ours: Organization) -> None:
    ours.make(name="Ü")
    result = ours.run("export", "-")
    assert json.loads(result.stdout)["name"] == "Ü"
    assert "1 exported" in result.stderr


def test_nothing_to_export_is_an_empty_file(ours: Organization, tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    assert ours.done("export", str(file)) == {"exported": 0}
    assert file.read_bytes() == b""


def breaking(monkeypatch: pytest.MonkeyPatch, sizes: Iterator[int]) -> None:
    """Have each answer end after so many bytes, as if the connection were cut there."""

    def cut(chunks: Iterator[bytes]) -> Iterator[bytes]:
        left = next(sizes, None)
        for chunk in chunks:
            for begin in range(0, len(chunk), 50):
                piece = chunk[begin : begin + 50]
                if left is not None and (left := left - len(piece)) <= 0:
                    raise httpx.ReadError("cut")
                yield piece

    opened = Transfer.opened

    @contextmanager
    def briefly(transfer: Transfer, path: str) -> Iterator[tuple[str, Iterator[bytes]]]:
        with opened(transfer, path) as (tag, chunks):
            yield tag, cut(chunks)

    monkeypatch.setattr(Transfer, "opened", briefly)
    monkeypatch.setattr(exporting, "PAUSES", (0.0,) * 20)


def test_export_goes_on_after_its_last_whole_line(
    ours: Organization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        ours.make(name=str(number), created_at="2024-01-01T00:00:00Z")
    whole, file = tmp_path / "whole.jsonl", tmp_path / "lines.jsonl"
    ours.done("export", str(whole))
    breaking(monkeypatch, iter((1, 100, 700, 60, 1500, 2000)))
    assert ours.done("export", str(file)) == {"exported": 12}
    assert file.read_bytes() == whole.read_bytes()


def test_export_that_was_killed_goes_on_when_it_is_started_again(
    ours: Organization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        ours.make(name=str(number))
    whole, file = tmp_path / "whole.jsonl", tmp_path / "lines.jsonl"
    ours.done("export", str(whole))
    file.write_text("what was there before")
    with monkeypatch.context() as broken:
        breaking(broken, iter([1000]))
        broken.setattr(exporting, "PAUSES", ())
        result = ours.run("export", str(file))
        assert result.exit_code == 1
        assert "the same command goes on from there" in result.stderr
    assert file.read_text() == "what was there before"
    queries = []
    opened = Transfer.opened

    def noted(transfer: Transfer, path: str) -> Any:
        queries.append(path)
        return opened(transfer, path)

    monkeypatch.setattr(Transfer, "opened", noted)
    assert ours.done("export", str(file)) == {"exported": 5}
    assert "after_id" in queries[-1]
    assert file.read_bytes() == whole.read_bytes()


def test_broken_off_export_of_something_else_is_not_gone_on_with(
    ours: Organization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        ours.make(name=str(number))
    ours.make(name="pending", is_generated=False)
    file = tmp_path / "lines.jsonl"
    with monkeypatch.context() as broken:
        breaking(broken, iter([1000]))
        broken.setattr(exporting, "PAUSES", ())
        assert ours.run("export", str(file)).exit_code == 1
    assert ours.done("export", "--all", str(file)) == {"exported": 6}


def test_token_that_may_not_read_ends_it(served: Served, tmp_path: Path) -> None:
    token = served.run("token", "create", "--name", "n", "--scope", "trajectories:write")
    file = tmp_path / "lines.jsonl"
    options = ("--url", served.url, "--token", token.stdout.strip())
    result = run("trajectory", "export", str(file), *options)
    assert result.exit_code == 1
    assert "trajectories:read" in result.stderr
    assert not file.exists()


def test_server_that_is_away_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PAUSES", ())
    options = ("--url", "http://127.0.0.1:1", "--token", "t")
    result = run("trajectory", "export", str(tmp_path / "lines.jsonl"), *options)
    assert result.exit_code == 1
    assert "no server answers" in result.stderr


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS | st.sampled_from(["$set", "a.b", "_id"]), VALUES, max_size=3)
TIMES = st.sampled_from(["0001-01-01T00:00:00.000Z", "2024-01-01T12:00:00.001Z", None])
TRAJECTORIES = st.fixed_dictionaries(
    {
        "trajectory_data": st.none() | st.lists(OBJECTS, max_size=12),
        "dimensions": OBJECTS.map(lambda more: {**more, "width": 1, "height": 2}),
        "name": st.none() | TEXTS,
        "description": st.none() | TEXTS,
        "run_id": st.none() | st.uuids().map(str),
        "original_input_values": st.none() | OBJECTS,
        "is_approved": st.booleans(),
        "is_generated": st.booleans() | st.none(),
        "created_at": TIMES,
        "updated_at": st.none() | st.just("9999-12-31T23:59:59.999Z"),
    }
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=st.lists(TRAJECTORIES, max_size=5), limit=st.sampled_from([200, 15_000_000]))
def test_what_was_exported_and_imported_elsewhere_is_exported_equal(
    served: Served, tmp_path: Path, made: list[dict[str, Any]], limit: int
) -> None:
    ours, theirs = Organization(served), Organization(served)
    for fields in made:
        ours.make(**fields)
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    ours.done("export", "--all", str(first))
    with pytest.MonkeyPatch.context() as patch:
        # Of those with steps enough, all that fits into no request goes step by step.
        patch.setattr(importing, "MAX_TRAJECTORY_BYTES", limit)
        patch.setattr(line_import, "BATCH_BYTES", 100)
        for expected in ((len(made), 0), (0, len(made))):
            said = theirs.done("import", str(first))
            assert (said["imported"], said["there_already"], said["wrong"]) == (*expected, [])
    theirs.done("export", "--all", str(second))
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("/nonexistent/x", "No such file or directory"),
        ("/etc/hostname/x", "Not a directory"),
        ("/tmp", "is a directory"),
        ("", "FILE must be the name of a file"),
    ],
)
def test_file_that_cannot_be_written_is_one_sentence(
    ours: Organization, file: str, words: str
) -> None:
    result = ours.run("export", file)
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit), result.exception
    assert words in result.stderr


def test_full_disk_is_named_and_not_taken_for_a_server_that_is_away(ours: Organization) -> None:
    ours.make(name="x" * 200)
    with (
        Path("/dev/full").open("wb", buffering=0) as full,
        Transfer(ours.api) as connection,
        pytest.raises(click.ClickException, match="No space left on device"),
    ):
        exporting._Export(connection, {"is_generated": "true"}, full).run(0, {})
