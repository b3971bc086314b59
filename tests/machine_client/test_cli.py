"""The command line of the machine client: what is wrong is a sentence, and a code."""

import asyncio
import json
import logging
import os
import stat
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest
from pydantic import SecretStr

from machine_client.cli import log_handler
from machine_client.settings import MachineSettings
from schemas.http.problems import UNAUTHENTICATED
from schemas.programs.settings import SettingsError
from tests.machine_client.journals import journal_in
from tests.machine_client.scripted import TOKEN, Line, problem, scripted_server
from tests.processes import run, running

SERVER = ("--server", "https://a.example")


def wrongly_used(*arguments: str, command: str = "join", **variables: str) -> str:
    """What is said about a wrong use: one sentence, code 2, no traceback."""
    ended = run("farhand-machine", command, *arguments, **variables)
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    assert "Traceback" not in ended.stderr
    usage, _, sentence = ended.stderr.strip().partition("Error: ")
    assert usage.startswith(f"Usage: farhand-machine {command}")
    assert "\n" not in sentence
    assert "None" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--token", "t"), "server is missing: give --server, FARHAND_MACHINE_SERVER"),
        (SERVER, "give the machine's token, or a token file"),
        ((*SERVER, "--token", "two words"), "one word of visible ASCII"),
        ((*SERVER, "--token", "t", "--token-file", "t"), "and not both"),
        ((*SERVER, "--token-file", "/nowhere/token"), "No such file or directory"),
        ((*SERVER, "--token-file", "~nobody-at-all/x"), "--token-file: ~nobody-at-all/x: there is"),
        ((*SERVER, "--token", "t", "--config", "/nowhere/x.toml"), "/nowhere/x.toml: No such"),
        ((*SERVER, "--token", "t", "--ca-file", "/nowhere/x"), "--ca-file: /nowhere/x cannot be"),
        ((*SERVER, "--token", "t", "--proxy", "proxy:1"), "--proxy: must be a proxy's address"),
        (("--server", "a.example", "--token", "t"), "--server: must be the server's address"),
        (("--server", "http://a:b", "--token", "t"), "--server: has a port that is not a number"),
        (("--server", "http://a..b", "--token", "t"), "--server: has a host that cannot be"),
        ((*SERVER, "--token", "t", "--desktop", "y"), "--desktop: must be a kind of desktop: x11"),
        ((*SERVER, "--token", "t", "--colour", "red"), "No such option"),
        ((*SERVER, "--token", "t", "more"), "unexpected extra argument"),
    ],
)
def test_wrong_option_is_a_sentence_and_code_2(arguments: tuple[str, ...], said: str) -> None:
    assert said in wrongly_used(*arguments)


def test_doctor_checks_the_same_settings() -> None:
    assert "server is missing" in wrongly_used("--token", "t", command="doctor")
    assert "--server: " in wrongly_used("--server", "x", "--token", "t", command="doctor")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("FARHAND_MACHINE_SERVR", "x", "unknown settings: FARHAND_MACHINE_SERVR"),
        ("FARHAND_MACHINE_HEARTBEAT", "soon", "FARHAND_MACHINE_HEARTBEAT: "),
        ("FARHAND_MACHINE_LOG_LEVEL", "loud", "FARHAND_MACHINE_LOG_LEVEL: "),
        ("FARHAND_MACHINE_CONFIG", "/nowhere/x.toml", "/nowhere/x.toml: No such file"),
    ],
)
def test_wrong_variable_is_a_sentence_and_code_2(variable: str, value: str, said: str) -> None:
    assert said in wrongly_used(*SERVER, "--token", "t", **{variable: value})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"server = ", "is not valid TOML"),
        (b"\xff\xfe", "is not valid TOML"),
        (b'server = "https://a.example"\nservr = 1', "servr: unknown setting"),
        (b'server = "https://a.example"\nheartbeat = 0', "heartbeat: "),
        (b'server = "https://a.example"\ndisplay = 7', "display: "),
    ],
)
def test_wrong_file_is_a_sentence_with_its_name_and_code_2(
    tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "machine.toml"
    file.write_bytes(content)
    sentence = wrongly_used("--token", "t", "--config", str(file))
    assert said in sentence
    assert str(file) in sentence


@pytest.mark.parametrize(
    ("arguments", "failpoints", "said"),
    [
        ((), "after-intent=kill", "FARHAND_FAILPOINTS is set, which would end this program"),
        (("--testing",), "after-intnet=kill", "no failpoint 'after-intnet' here; known: before-i"),
        (("--testing",), "after-sent=kill", "no failpoint 'after-sent' here; known: before-inte"),
        (("--testing",), "after-done=pause", "'after-done=pause' must be like after-done=kill"),
    ],
)
def test_failpoint_that_cannot_be_is_a_sentence_and_code_2(
    arguments: tuple[str, ...], failpoints: str, said: str
) -> None:
    used = (*SERVER, "--token", "t", *arguments)
    assert said in wrongly_used(*used, FARHAND_FAILPOINTS=failpoints)


def test_testing_is_nothing_for_people() -> None:
    assert "--testing" not in run("farhand-machine", "join", "--help").stdout


def test_every_mistake_is_told_at_once() -> None:
    ended = run(
        "farhand-machine", "join", "--server", "x", "--token", "t", "--proxy", "x",
        FARHAND_MACHINE_HEARTBEAT="x",
    )  # fmt: skip
    assert ended.returncode == 2
    for source in ("--server: ", "--proxy: ", "FARHAND_MACHINE_HEARTBEAT: "):
        assert source in ended.stderr


def test_file_and_environment_are_enough(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("fh_t\n")
    (tmp_path / "machine.toml").write_text(
        f'server = "http://127.0.0.1:9"\nstate_dir = "{tmp_path}"\n'
    )
    variables = {
        "FARHAND_MACHINE_CONFIG": str(tmp_path / "machine.toml"),
        "FARHAND_MACHINE_TOKEN_FILE": str(tmp_path / "token"),
    }
    with running(tmp_path / "log", variables, "farhand-machine", "join") as client:
        client.says("cannot connect to http://127.0.0.1:9: connection refused")
        assert client.terminate() == 0
        assert "fh_t" not in client.output


def test_log_is_json_where_that_is_wanted(tmp_path: Path) -> None:
    arguments = ("--server", "http://127.0.0.1:9", "--token", "t", "--state-dir", str(tmp_path))
    variables = {"FARHAND_MACHINE_LOG_FORMAT": "json"}
    with running(tmp_path / "log", variables, "farhand-machine", "join", *arguments) as client:
        client.says("cannot connect to http://127.0.0.1:9: connection refused")
        client.terminate()
        lines = [json.loads(line) for line in client.output.splitlines()]
    assert any("cannot connect" in line["message"] for line in lines)


def test_help_and_version_end_well() -> None:
    assert "join" in run("farhand-machine", "--help").stdout
    assert run("farhand-machine", "--version").returncode == 0
    assert "--token-file" in run("farhand-machine", "join", "-h").stdout


async def refused(address: str, state: Path) -> tuple[int, str]:
    ended = await asyncio.to_thread(
        run, "farhand-machine", "join", "--server", address, "--token", TOKEN,
        "--state-dir", str(state),
    )  # fmt: skip
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stderr.splitlines()[-1]


async def test_refused_token_is_a_sentence_and_code_3(tmp_path: Path) -> None:
    refusal = problem(UNAUTHENTICATED, "the token was revoked")
    async with scripted_server(statuses=(refusal,)) as server:
        code, last = await refused(server.address, tmp_path)
    assert code == 3
    assert last.startswith(
        "Error: the server refused the token (HTTP 401: the token was revoked); make a new one"
    )


async def test_proxy_of_the_environment_that_is_none_is_a_sentence_and_code_2(
    tmp_path: Path,
) -> None:
    said = await asyncio.to_thread(
        wrongly_used, "--server", "http://127.0.0.1:9", "--token", "t",
        "--state-dir", str(tmp_path), http_proxy="foo://user:secret@proxy",
    )  # fmt: skip
    assert said.startswith("the environment's proxy cannot be used: it must be a proxy's address")
    assert "secret" not in said


async def test_code_that_says_stop_is_a_sentence_and_code_3(tmp_path: Path) -> None:
    async def replacing(line: Line) -> None:
        await line.greet()
        await line.websocket.close(4502, "this machine was removed")

    async with scripted_server(replacing) as server:
        code, last = await refused(server.address, tmp_path)
    assert (code, last) == (
        3,
        "Error: the link was closed for good (4502): this machine was removed",
    )


@pytest.mark.parametrize("content", [None, b"no database at all" * 100])
def test_journal_that_cannot_be_used_is_a_sentence_and_code_1(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "journalsession.sqlite3"
    owner = None
    if content is None:
        owner = journal_in(file)
    else:
        file.write_bytes(content)
    ended = run(
        "farhand-machine", "join", "--server", "http://127.0.0.1:9", "--token", "t",
        "--state-dir", str(tmp_path),
    )  # fmt: skip
    if owner is not None:
        owner.close()
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Error: the journal {file} ")
    assert "Traceback" not in ended.stderr


def test_home_that_takes_no_directory_is_a_sentence_and_code_1(tmp_path: Path) -> None:
    home = tmp_path / "Jörg Müller"
    home.write_text("a file")
    given = ("--server", "http://127.0.0.1:9", "--token", "t")
    joined = run("farhand-machine", "join", *given, HOME=str(home))
    assert joined.returncode == 1
    (sentence,) = joined.stderr.splitlines()
    assert sentence.startswith(f"Error: the journal {home}/.local/state/farhand-machine/journal")
    examined = run("farhand-machine", "doctor", *given, HOME=str(home))
    assert examined.returncode == 1
    assert "FAIL journal: the journal" in examined.stdout
    assert "Traceback" not in examined.stderr


def test_user_without_a_home_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise OSError("this user has no home directory")

    monkeypatch.setattr("machine_client.settings.state_directory", homeless)
    with pytest.raises(SettingsError, match="no home directory: name a directory for the journal"):
        MachineSettings(server="https://a.example", token=SecretStr("t"))


def test_log_goes_into_a_file_of_which_older_ones_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "Jörg Müller" / "client.log"
    settings = MachineSettings(server="https://a.example", token=SecretStr("t"), log_file=file)
    handler = log_handler(settings)
    assert isinstance(handler, RotatingFileHandler)
    handler.maxBytes = 100
    for number in range(20):
        handler.emit(logging.LogRecord("a", logging.INFO, "", 0, f"{number} ".ljust(60), (), None))
    handler.close()
    assert {each.name for each in file.parent.iterdir()} == {
        *("client.log", "client.log.1", "client.log.2", "client.log.3"),
    }
    assert file.read_text().startswith("19 ")


def test_log_file_that_cannot_be_is_a_sentence_and_code_2(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = wrongly_used(*SERVER, "--token", "t", "--log-file", str(tmp_path / "file" / "log"))
    assert "cannot log into" in said


def test_token_that_others_can_read_is_told_and_why_it_ends_is_in_its_log_file(
    tmp_path: Path,
) -> None:
    token, log = tmp_path / "token", tmp_path / "client.log"
    token.write_text("fh_t")
    token.chmod(0o644)
    (tmp_path / "journalsession.sqlite3").write_bytes(b"no database at all" * 100)
    ended = run(
        "farhand-machine", "join", "--server", "http://127.0.0.1:9", "--token-file", str(token),
        "--state-dir", str(tmp_path), "--log-file", str(log),
    )  # fmt: skip
    assert ended.returncode == 1
    warning, *_, last = log.read_text().splitlines()
    assert warning.endswith(f"WARNING others can read {token}: chmod 600 {token}")
    assert "ERROR it ends: the journal" in last


def with_systemd(directory: Path, home: Path) -> dict[str, str]:
    """Variables of a user whose systemd does whatever it is told, and says that all is well."""
    programs = directory / "bin"
    programs.mkdir()
    said = "ActiveState=active\\nSubState=running\\nResult=success\\nExecMainStatus=0\\n"
    (programs / "systemctl").write_text(f"#!/bin/sh\nprintf '{said}'\n")
    (programs / "systemctl").chmod(0o700)
    return {"PATH": f"{programs}:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(home)}


def test_code_is_kept_in_a_file_and_not_among_the_arguments(tmp_path: Path) -> None:
    state = tmp_path / "state"
    variables = with_systemd(tmp_path, tmp_path / "home")
    given = (*SERVER, "--code", "fhj_secret", "--state-dir", str(state))
    installed = run("farhand-machine", "install", *given, **variables)
    assert installed.returncode == 0, installed.stderr
    unit = tmp_path / "home" / "systemd" / "user" / "farhand-machine.service"
    code = state / "join-code"
    assert f'"--code-file" "{code}"' in unit.read_text()
    assert "fhj_secret" not in unit.read_text()
    assert code.read_text() == "fhj_secret\n"
    assert stat.S_IMODE(code.stat().st_mode) == 0o600


def test_installed_into_a_home_it_is_there_until_it_is_uninstalled(tmp_path: Path) -> None:
    home = tmp_path / "Jörg Müller"
    token = tmp_path / "token"
    token.write_text("fh_t")
    variables = with_systemd(tmp_path, home)
    given = (*SERVER, "--token-file", str(token))
    assert run("farhand-machine", "status", **variables).returncode == 1
    installed = run("farhand-machine", "install", *given, **variables)
    assert installed.returncode == 0, installed.stderr
    unit = home / "systemd" / "user" / "farhand-machine.service"
    assert f'"--token-file" "{token}"' in unit.read_text()
    status = run("farhand-machine", "status", **variables)
    assert status.returncode == 0
    assert status.stdout.startswith(f"{unit} is installed, with its user's rights, and runs")
    assert run("farhand-machine", "uninstall", **variables).returncode == 0
    assert not unit.exists()


def test_what_cannot_be_installed_is_a_sentence(tmp_path: Path) -> None:
    refused = run("farhand-machine", "install", *SERVER, "--token", "t")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("Error: give the token as --token-file")
