"""``farhand audit``, against a server process."""

import csv
import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest

from tests.commandline import Served, command, environment
from tests.processes import WAIT_SECONDS, until


@pytest.fixture
def machine_id(served: Served) -> str:
    """A machine that was added, paused and resumed."""
    machine_id = f"desk-{uuid4().hex[:8]}"
    served.run("machine", "add", machine_id)
    served.run("machine", "pause", machine_id, "--reason", "=1+1\x1b[2J")
    served.run("machine", "resume", machine_id)
    return machine_id


def shown(served: Served, *options: str) -> str:
    result = served.run("audit", *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def actions(served: Served, *options: str) -> list[str]:
    """The actions of the entries that these options find, newest first."""
    return [each["action"] for each in json.loads(shown(served, "--json", *options))["items"]]


def test_table_has_a_head_and_the_newest_first(served: Served, machine_id: str) -> None:
    head, *lines = shown(served, "--machine", machine_id).splitlines()
    assert head.split() == [
        *("created", "at", "token", "name", "action", "machine", "id", "target", "outcome"),
        *("code", "note"),
    ]
    found = [line.split()[2:4] for line in lines]
    names = ("resumed", "paused", "added")
    assert [each[0] for each in found] == [f"machine.{name}" for name in names]
    assert {each[1] for each in found} == {machine_id}
    assert "\ufffd[2J" in lines[1]


def test_entries_are_chosen(served: Served, machine_id: str) -> None:
    everything = ["machine.resumed", "machine.paused", "machine.added"]
    of_machine = "--machine", machine_id
    assert actions(served, *of_machine) == everything
    assert actions(served, *of_machine, "--action", "machine.paused") == ["machine.paused"]
    assert actions(served, *of_machine, "--action", "machine") == everything
    assert actions(served, *of_machine, "--by", "administrator") == everything
    assert actions(served, *of_machine, "--by", "nobody") == []
    (first, *_) = json.loads(shown(served, "--json", *of_machine))["items"]
    assert actions(served, *of_machine, "--by", first["token_id"]) == everything
    assert actions(served, *of_machine, "--since", "1h") == everything
    assert actions(served, *of_machine, "--until", "1h") == []
    assert actions(served, *of_machine, "--since", first["created_at"])[0] == "machine.resumed"
    assert actions(served, *of_machine, "--since", "2090-01-01") == []


def test_limit_is_said_where_there_is_more(served: Served, machine_id: str) -> None:
    result = served.run("audit", "--machine", machine_id, "--limit", "2")
    assert len(result.stdout.splitlines()) == 3
    assert result.stderr == "the newest 2 of 3: --limit shows others\n"
    assert served.run("audit", "--machine", machine_id).stderr == ""


def test_csv_has_a_head_and_no_formula(served: Served, machine_id: str) -> None:
    text = shown(served, "--csv", "--machine", machine_id)
    rows = list(csv.DictReader(StringIO(text, newline=""), strict=True))
    assert [row["action"] for row in rows] == [
        f"machine.{name}" for name in ("resumed", "paused", "added")
    ]
    assert rows[1]["note"] == "'=1+1\x1b[2J"
    assert rows[0]["token_name"] == "administrator"


def test_csv_steers_no_terminal(served: Served, machine_id: str) -> None:
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            command(["audit", "--csv", "--machine", machine_id, "--action", "machine.paused"]),
            env=environment(FARHAND_DATA_DIR=str(served.data_dir)),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            timeout=60,
            check=True,
        )
        # It passes on what was written when it likes.
        written = b""
        while written.count(b"\n") < 2:
            written += os.read(ours, 65536)
    finally:
        os.close(ours)
        os.close(theirs)
    head, line = written.decode().splitlines()
    assert head.startswith("created_at,action,")
    assert "'=1+1\ufffd[2J" in line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--action", "No such"], "--action must be an action such as machine.paused"),
        (["--machine", "a/b"], "--machine must be"),
        (["--machine", ""], "--machine"),
        (["--by", "null"], "must be something to look for"),
        (["--since", "yesterday"], "such as 2h"),
        (["--since", "999999999w"], "beyond the year 9999"),
        (["--until", "999999d"], "before the year 1"),
        (["--limit", "0"], "--limit"),
        (["--csv", "--json"], "choose one"),
        (["--follow", "--until", "1h"], "leave out --until"),
        (["--follow", "--action", "No such"], "--action must be"),
    ],
)
def test_wrong_options_are_a_sentence(served: Served, options: list[str], said: str) -> None:
    result = served.run("audit", *options)
    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_token_that_may_not_is_told_which_scope(served: Served) -> None:
    token = served.run("token", "create", "--name", "n", "--scope", "audit:read").stdout.strip()
    assert served.run("audit", "--token", token).exit_code == 0
    followed = served.run("audit", "--follow", "--token", token)
    assert followed.exit_code == 1
    assert "machines:read" in followed.stderr
    token = served.run("token", "create", "--name", "n", "--scope", "machines:read").stdout.strip()
    refused = served.run("audit", "--token", token)
    assert refused.exit_code == 1
    assert "audit:read" in refused.stderr


@contextmanager
def following(served: Served, file: Path, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """The command as a process that stays, and writes to a file."""
    with file.open("wb") as output:
        process = subprocess.Popen(
            command(["audit", "--follow", *options]),
            env=environment(FARHAND_DATA_DIR=str(served.data_dir)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("form", ["--json", "--csv", ""])
def test_what_happens_is_followed_until_ctrl_c(
    served: Served, machine_id: str, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "output"
    options = [option for option in (form, "--machine", machine_id) if option]

    def lines() -> list[str]:
        return file.read_text().splitlines()

    head = form == "--csv"
    with following(served, file, *options) as process:
        until(lambda: len(lines()) == 3 + head, "what was done is shown")
        served.run("machine", "add", f"desk-{uuid4().hex[:8]}")
        served.run("machine", "rename", machine_id, "Front desk")
        until(lambda: len(lines()) == 4 + head, "what is done is shown")
        names = ("added", "paused", "resumed", "renamed")
        for line, name in zip(lines()[head:], names, strict=True):
            assert f"machine.{name}" in line
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
