"""``farhand serve`` as a process: what it says when it cannot, and how it ends."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import environment, run_process, serving


def refused(*arguments: str, code: int, **variables: str) -> str:
    """What ``farhand serve`` says when it does not start: short, and no traceback."""
    ended = run_process("serve", *arguments, variables=variables)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    return ended.stderr


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"FARHAND_PROT": "1"}, "unknown settings: FARHAND_PROT"),
        ({"FARHAND_PORT": "eighty"}, "FARHAND_PORT: "),
        ({"FARHAND_PORT": "65536"}, "FARHAND_PORT: "),
        ({"FARHAND_INPUT_TIMEOUT": "inf"}, "FARHAND_INPUT_TIMEOUT: "),
        ({"FARHAND_LOG_LEVEL": "loud"}, "FARHAND_LOG_LEVEL: "),
        ({"FARHAND_MONGODB_DATABASE": "a b"}, "FARHAND_MONGODB_DATABASE: "),
        ({"FARHAND_CONFIG": "/does/not/exist.toml"}, "/does/not/exist.toml: No such file"),
    ],
)
def test_wrong_environment_is_used_wrongly(
    tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    said = refused("--data-dir", str(tmp_path), code=2, **variables)
    assert words in last_line(said)


def test_mongodb_that_is_not_there_is_named_with_what_to_do(tmp_path: Path) -> None:
    uri = "mongodb://somebody:pass-word@farhand.invalid:27017/"
    options = ("--data-dir", str(tmp_path), "--port", "0")
    said = refused(*options, code=1, FARHAND_MONGODB_URI=uri)
    assert "MongoDB does not answer at farhand.invalid:27017 (" in last_line(said)
    assert "FARHAND_MONGODB_URI" in last_line(said)
    assert "pass-word" not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prot = 1", "prot: unknown setting; known are "),
        ("port = 'x'", "port: "),
        ("[server]\nport = 1", "server: unknown setting"),
        ("port = ", "is not valid TOML"),
        ("port = 1\nport = 2", "is not valid TOML"),
        ("heartbeat = -1", "heartbeat: "),
    ],
)
def test_wrong_file_is_used_wrongly(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "server.toml"
    file.write_text(text)
    said = refused("--config", str(file), "--data-dir", str(tmp_path), code=2)
    assert str(file) in last_line(said)
    assert words in last_line(said)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--port", "65536"), "--port: "),
        (("--port", "x"), "--port"),
        (("--workers", "0"), "--workers"),
        (("--workers", "65"), "--workers"),
        (("--verbose",), "--verbose"),
        (("now",), "now"),
    ],
)
def test_wrong_options_are_used_wrongly(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused("--data-dir", str(tmp_path), *arguments, code=2)


def test_taken_port_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused("--port", port, "--data-dir", str(tmp_path), code=1)
    assert said.startswith("Error: ")
    assert port in said
    assert "--port" in last_line(said)


def test_host_that_is_not_ours_is_said_in_one_line(tmp_path: Path) -> None:
    for host in ("192.0.2.1", "no-such-host.invalid", "a b"):
        said = refused("--host", host, "--port", "0", "--data-dir", str(tmp_path), code=1)
        assert said.startswith("Error: cannot listen on ")


def test_empty_host_is_not_every_interface(tmp_path: Path) -> None:
    said = refused("--host", "", "--port", "0", "--data-dir", str(tmp_path), code=2)
    assert last_line(said).startswith("Error: --host: ")
    said = refused("--port", "0", "--data-dir", str(tmp_path), code=2, FARHAND_HOST="")
    assert "FARHAND_HOST: " in last_line(said)


def test_data_directory_that_is_a_file_is_used_wrongly(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "is a file" in refused("--data-dir", str(file), "--port", "0", code=2)


def test_data_directory_below_a_file_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refused("--data-dir", str(tmp_path / "file" / "data"), "--port", "0", code=1)
    assert "cannot use the data directory" in said
    assert "--data-dir" in said


def test_data_directory_that_takes_no_files_is_said_in_one_line(
    mongodb: str, tmp_path: Path, database_name: str
) -> None:
    # The superuser may write anywhere, but not over a directory in the file's place.
    (tmp_path / "address.draft").mkdir()
    variables = {"FARHAND_MONGODB_URI": mongodb, "FARHAND_MONGODB_DATABASE": database_name}
    said = refused("--data-dir", str(tmp_path), "--port", "0", code=1, **variables)
    assert "data directory" in last_line(said)


@pytest.mark.parametrize("uri", ["nonsense", "http://127.0.0.1", "mongodb://user:p@ss@host/"])
def test_wrong_mongodb_uri_is_said_in_one_line(tmp_path: Path, uri: str) -> None:
    variables = {"FARHAND_MONGODB_URI": uri}
    said = refused("--data-dir", str(tmp_path), "--port", "0", code=1, **variables)
    assert "MongoDB URI" in last_line(said)
    assert "p@ss" not in said


def test_server_loads_nothing_of_several_and_nothing_for_models_before_it_needs_it() -> None:
    code = "import sys, server.cli.serve, server.app; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "server.foundation" in loaded
    several = ("server.workers", "server.bus.nats", "server.cli.worker", "nats")
    for_models = ("mcp", "server.mcp", "starlette", "farhand")
    assert [name for name in loaded if name.startswith((*several, *for_models))] == []


def test_server_says_where_it_listens_and_ends_with_0_on_sigterm(
    mongodb: str, tmp_path: Path
) -> None:
    with serving(mongodb, tmp_path, "test_serve") as served:
        log = served.stop()
        assert served.process.returncode == 0
    assert f"listening on {served.url}" in log
    assert f"the console is at {served.url}/console;" in log
    assert f"farhand token create --data-dir {tmp_path} --name my-console --role operator" in log
    assert log.strip().endswith("stopped")
    assert "Traceback" not in log


def test_first_administrators_token_is_a_secret_of_its_file(mongodb: str, tmp_path: Path) -> None:
    with serving(mongodb, tmp_path, "test_serve_first") as served:
        secret = (tmp_path / "admin-token").read_text().strip()
        log = served.stop()
    assert stat.S_IMODE((tmp_path / "admin-token").stat().st_mode) == 0o600
    assert "admin-token" in log
    assert secret not in log


def test_settings_come_from_command_line_then_environment_then_file(
    mongodb: str, tmp_path: Path
) -> None:
    file = tmp_path / "server.toml"
    database = "test_serve_order"
    file.write_text(
        'host = "192.0.2.1"\nlog_level = "error"\n'
        f'mongodb_uri = "{mongodb}"\nmongodb_database = "from_the_file"\n'
    )
    options = ("--config", str(file), "--host", "127.0.0.1")
    with serving(None, tmp_path / "data", database, *options) as served:
        assert served.url.startswith("http://127.0.0.1:")
        # The file's log level holds, as nothing else was said.
        assert served.stop() == ""


def test_machine_clients_settings_and_the_callers_are_no_mistake(
    mongodb: str, tmp_path: Path
) -> None:
    variables = {"FARHAND_MACHINE_SERVER": "http://x", "FARHAND_URL": "x", "FARHAND_TOKEN": "y"}
    with serving(mongodb, tmp_path, "test_serve", **variables) as served:
        assert served.process.poll() is None


def test_environment_of_the_tests_is_without_settings() -> None:
    assert not any(name.startswith("FARHAND_") for name in environment())
    assert environment(FARHAND_PORT="1")["FARHAND_PORT"] == "1"
    assert os.environ["PATH"] == environment()["PATH"]
