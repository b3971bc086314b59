"""``farhand organization``, ``token`` and ``machine`` against a real server."""

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from schemas.values.times import parse_time
from tests.commandline import Served, run


def test_added_organization_prints_its_id_alone(served: Served) -> None:
    result = served.run("organization", "add", "Branch office")
    assert result.exit_code == 0
    assert result.stdout == f"{UUID(result.stdout.strip())}\n"
    assert result.stderr == ""


def test_created_token_is_printed_alone_and_works(served: Served) -> None:
    result = served.run("token", "create", "--name", "reader", "--scope", "machines:read")
    assert result.exit_code == 0
    secret = result.stdout.strip()
    assert result.stdout == f"{secret}\n"
    listed = run("machine", "list", "--json", "--url", served.url, "--token", secret)
    assert listed.exit_code == 0
    assert "items" in json.loads(listed.stdout)
    refused = run("token", "list", "--url", served.url, "--token", secret)
    assert refused.exit_code == 1
    assert "tokens:write" in refused.stderr


def test_token_has_the_usual_scopes_unless_told(served: Served) -> None:
    body = json.loads(served.run("token", "create", "--name", "n", "--json").stdout)
    assert set(body["scopes"]) == {"input:send", "machines:read", "trajectories:read"}
    assert body["expires_at"] is None


def test_token_has_the_scopes_of_its_role_and_the_list_shows_both(served: Served) -> None:
    made = served.run("token", "create", "--name", "of Anna", "--role", "viewer", "--json")
    body = json.loads(made.stdout)
    assert (body["role"], "screen:read" in body["scopes"]) == ("viewer", True)
    (line,) = [
        line for line in served.run("token", "list").stdout.splitlines() if body["id"] in line
    ]
    assert "viewer" in line
    assert "machines:read screen:read trajectories:read" in line


def test_tokens_of_machines_are_listed_apart(served: Served) -> None:
    machine_id = f"desk-{uuid4().hex[:8]}"
    assert served.run("machine", "add", machine_id).exit_code == 0
    listed = {
        option: served.run("token", "list", *option.split()).stdout
        for option in ("", "--of-machines", "--without-machines")
    }
    assert machine_id in listed[""]
    assert machine_id in listed["--of-machines"]
    assert machine_id not in listed["--without-machines"]
    assert "administrator" not in listed["--of-machines"]


def test_help_says_what_each_role_allows(served: Served) -> None:
    help_text = " ".join(served.run("token", "create", "--help").stdout.split())
    assert "reviewer: machines:read, trajectories:read, trajectories:write" in help_text


def test_token_for_another_organization_and_for_some_time(served: Served) -> None:
    organization = served.run("organization", "add", "Other").stdout.strip()
    arguments = ("--organization", organization, "--expires-in", "30d", "--json")
    body = json.loads(served.run("token", "create", "--name", "n", *arguments).stdout)
    assert body["organization_id"] == organization
    left = parse_time(body["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=29, hours=23) < left <= timedelta(days=30)


def test_token_of_a_machine_lets_it_connect(served: Served) -> None:
    served.run("machine", "add", "token-desk")
    result = served.run("token", "create", "--name", "n", "--machine", "token-desk", "--json")
    body = json.loads(result.stdout)
    assert (body["scopes"], body["machine_id"]) == (["machine:connect"], "token-desk")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--name", "n", "--scope", "everything"), "'everything' is not one of"),
        (("--scope", "input:send"), "--name"),
        (("--name", "n", "--expires-in", "soon"), "such as 30d"),
        (("--name", "n", "--expires-in", "999999999w"), "year 9999"),
        (("--name", "n", "surplus"), "surplus"),
        (("--name", "n", "--role", "king"), "'king' is not one of"),
        (("--name", "n", "--role", "agent", "--scope", "input:send"), "leave out --scope"),
        (("--name", "n", "--role", "agent", "--machine", "desk"), "and --machine"),
    ],
)
def test_wrong_use_is_exit_code_2_and_says_what(
    served: Served, arguments: tuple[str, ...], words: str
) -> None:
    result = served.run("token", "create", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("token", "create", "--name", ""), "Error: --name must have at least 1 character"),
        (("token", "create", "--name", "n", "--machine", "no-such-desk"), "--machine: there is"),
        (
            ("token", "create", "--name", "n", "--organization", str(uuid4())),
            "was made from yours",
        ),
        (("token", "revoke", str(uuid4())), "there is no token"),
        (("machine", "add", "bad id"), "Error: ID"),
        (("machine", "rename", "no-such-desk", "n"), "no-such-desk"),
        (("workflow", "show", str(uuid4())), "there is no workflow"),
        (("workflow", "add", ""), "Error: NAME must have at least 1 character"),
        (("machine", "remove", "no-such-desk"), "no-such-desk"),
        (("machine", "remove", "a/../b"), "Error: ID"),
        (("organization", "add", ""), "Error: NAME must have at least 1 character"),
    ],
)
def test_refusal_of_the_server_is_exit_code_1_in_its_words(
    served: Served, arguments: tuple[str, ...], words: str
) -> None:
    result = served.run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("token", "revoke", "7"), "Invalid value for 'ID'"),
        (("command", "show", "../machines"), "Invalid value for 'ID'"),
        (("workflow", "remove", "7"), "Invalid value for 'ID'"),
        (
            ("token", "create", "--name", "n", "--organization", "x"),
            "Invalid value for '--organization'",
        ),
    ],
)
def test_what_is_no_id_is_wrong_use(served: Served, arguments: tuple[str, ...], words: str) -> None:
    result = served.run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_refused_token_is_named_by_where_it_came_from(served: Served) -> None:
    made = served.run("token", "create", "--name", "reader", "--scope", "machines:read")
    result = run(
        *("machine", "add"),
        FARHAND_DATA_DIR=str(served.data_dir),
        FARHAND_TOKEN=made.stdout.strip(),
    )
    assert result.exit_code == 1
    assert "machines:write (the token is from FARHAND_TOKEN)" in result.stderr


def test_organizations_are_listed(served: Served) -> None:
    made = served.run("organization", "add", "Listed").stdout.strip()
    table = served.run("organization", "list")
    assert table.exit_code == 0
    (line,) = [line for line in table.stdout.splitlines() if made in line]
    assert "Listed" in line
    assert any("default" in line for line in table.stdout.splitlines())


def test_machine_is_renamed(served: Served) -> None:
    served.run("machine", "add", "renamed-desk")
    result = served.run("machine", "rename", "renamed-desk", "Second floor")
    assert (result.exit_code, result.output) == (0, "")
    told = json.loads(served.run("machine", "show", "renamed-desk", "--json").stdout)
    assert told["name"] == "Second floor"


@pytest.mark.parametrize("command", [("machine", "add"), ("token", "create", "--name", "n")])
def test_token_goes_into_a_file_of_its_own(
    served: Served, tmp_path: Path, command: tuple[str, ...]
) -> None:
    file = tmp_path / "token"
    made = served.run(*command, "--token-file", str(file))
    assert made.exit_code == 0, made.output
    assert UUID(made.stdout.strip())
    assert file.read_text().startswith("fh_")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_text()
    again = served.run(*command, "--token-file", str(file))
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert file.read_text() == before
    forced = served.run(*command, "--token-file", str(file), "--force", "--json")
    assert forced.exit_code == 0
    assert file.read_text() != before
    assert "fh_" not in forced.stdout
    assert list(tmp_path.iterdir()) == [file]


def test_token_file_of_a_command_that_fails_is_as_it_was(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "token"
    refused = served.run("machine", "add", "bad id", "--token-file", str(file))
    assert refused.exit_code == 1
    assert list(tmp_path.iterdir()) == []
    file.write_text("mine")
    refused = served.run("machine", "add", "bad id", "--token-file", str(file), "--force")
    assert refused.exit_code == 1
    assert file.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [file]


def test_ids_are_whole_in_pipes_and_narrow_terminals(served: Served) -> None:
    name = "a name that is long enough to fill a line of its own, and a little more than that"
    made = json.loads(served.run("token", "create", "--name", name, "--json").stdout)
    directory = str(served.data_dir)
    piped = run("token", "list", COLUMNS="40", FARHAND_DATA_DIR=directory)
    (line,) = [line for line in piped.stdout.splitlines() if made["id"] in line]
    assert name in line
    terminal = run(
        *("token", "list"),
        COLUMNS="80",
        FORCE_COLOR="1",
        NO_COLOR="1",
        FARHAND_DATA_DIR=directory,
    )
    assert made["id"] in terminal.stdout
    assert name not in terminal.stdout


def test_tokens_are_listed_and_revoked(served: Served) -> None:
    body = json.loads(served.run("token", "create", "--name", "short-lived", "--json").stdout)
    table = served.run("token", "list")
    assert table.exit_code == 0
    listed = json.loads(served.run("token", "list", "--json").stdout)
    assert body["id"] in [item["id"] for item in listed["items"]]
    assert body["token"] not in table.stdout
    revoked = served.run("token", "revoke", body["id"])
    assert (revoked.exit_code, revoked.stdout) == (0, "")
    listed = json.loads(served.run("token", "list", "--json").stdout)
    assert body["id"] not in [item["id"] for item in listed["items"]]


def test_added_machine_prints_its_token_alone(served: Served) -> None:
    result = served.run("machine", "add", "cli-desk", "--name", "Front desk")
    assert result.exit_code == 0
    assert result.stdout.startswith("fh_")
    assert result.stdout.count("\n") == 1
    again = served.run("machine", "add", "cli-desk")
    assert again.exit_code == 1
    assert "cli-desk" in again.stderr


def test_machines_are_listed_and_removed(served: Served) -> None:
    body = json.loads(served.run("machine", "add", "--json").stdout)
    assert UUID(body["id"])
    assert body["token"]["token"].startswith("fh_")
    listed = json.loads(served.run("machine", "list", "--json").stdout)
    (item,) = [item for item in listed["items"] if item["id"] == body["id"]]
    assert item["state"] == "offline"
    removed = served.run("machine", "remove", body["id"])
    assert (removed.exit_code, removed.stdout) == (0, "")
    listed = json.loads(served.run("machine", "list", "--json").stdout)
    assert body["id"] not in [item["id"] for item in listed["items"]]


@pytest.mark.parametrize("name", ["[/bold]", "[red]desk", "a\x1b[31mb", "two\nlines", "\\[x]"])
def test_name_of_a_machine_is_text_whatever_it_looks_like(served: Served, name: str) -> None:
    body = json.loads(served.run("machine", "add", "--name", name, "--json").stdout)
    table = run("machine", "list", FARHAND_DATA_DIR=str(served.data_dir), COLUMNS="300")
    served.run("machine", "remove", body["id"])
    assert table.exit_code == 0, table.output
    assert "\x1b" not in table.stdout
    (line,) = [line for line in table.stdout.splitlines() if body["id"] in line]
    shown = name.replace("\x1b", "\ufffd").replace("\n", "\ufffd")
    assert shown in line
