"""``farhand doctor`` on hosts that are well, and on hosts that are not."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

import server.cli.doctor as doctor_module
from tests.nats import NatsServer
from tests.processes import ServerProcess, free_port, run
from tests.standalone import standalone_mongod


def findings(*options: str, **variables: str) -> tuple[int, dict[str, tuple[bool, str]]]:
    """The exit code, and what was found out about each part."""
    ended = run("farhand", "doctor", "--json", *options, **variables)
    assert ended.stderr == ""
    listed = json.loads(ended.stdout)
    return ended.returncode, {each["part"]: (each["good"], each["what"]) for each in listed}


def options_for(directory: Path, port: int | None = None) -> tuple[str, ...]:
    return ("--data-dir", str(directory), "--port", str(port or free_port()))


def test_host_without_a_server_yet_is_well(tmp_path: Path) -> None:
    data = tmp_path / "not" / "made"
    ended = run("farhand", "doctor", *options_for(data))
    assert ended.returncode == 0, ended.stdout
    lines = ended.stdout.splitlines()
    assert [line[:5] for line in lines] == ["ok   "] * 4
    assert "will be made" in lines[1]
    assert "mongod, db version" in lines[2]
    assert "is free" in lines[3]
    assert not data.exists()


def test_running_server_is_found_and_its_token_tried(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    with server.run():
        options = options_for(tmp_path / "data", server.port)
        code, found = findings(*options)
        assert code == 0, found
        assert found["port"] == (True, f"a Farhand server answers at {server.url}")
        assert found["server"][0]
        assert found["token"][0]
        code, found = findings(*options, FARHAND_TOKEN="fh_wrong")
        assert code == 1
        good, what = found["token"]
        assert not good
        assert "FARHAND_TOKEN" in what
        assert "not known" in what
        (tmp_path / "data" / "admin-token").unlink()
        assert not findings(*options)[1]["token"][0]


def test_wrong_settings_are_named_each_in_a_line(tmp_path: Path) -> None:
    config = tmp_path / "farhand.toml"
    config.write_text('port = "many"\nhosst = "x"\n')
    ended = run("farhand", "doctor", "--config", str(config))
    assert ended.returncode == 1
    lines = ended.stdout.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"FAIL settings: {config}: ") for line in lines)
    assert {"port", "hosst"} == {name for name in ("port", "hosst") if name in ended.stdout}


@pytest.mark.parametrize("name", ["FARHAND_POORT", "FARHAND_PORT"])
def test_wrong_variable_is_named(name: str) -> None:
    code, found = findings(**{name: "x"})
    assert code == 1
    assert name in found["settings"][1]


def test_data_directory_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, found = findings(*options_for(tmp_path / "file" / "data"))
    assert code == 1
    assert found["data directory"] == (
        False,
        f"{tmp_path / 'file'} cannot be used: Not a directory",
    )


def test_data_directory_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert not findings(*options_for(tmp_path))[1]["data directory"][0]


def test_mongodb_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    port = free_port()
    uri = f"mongodb://somebody:pass-word@127.0.0.1:{port}/"
    ended = run("farhand", "doctor", *options_for(tmp_path), FARHAND_MONGODB_URI=uri)
    assert ended.returncode == 1
    assert f"FAIL MongoDB: MongoDB does not answer at 127.0.0.1:{port} (" in ended.stdout
    assert "FARHAND_MONGODB_URI" in ended.stdout
    assert "pass-word" not in ended.stdout + ended.stderr


def test_standalone_mongodb_is_named_with_what_to_do(tmp_path: Path) -> None:
    with standalone_mongod(tmp_path) as place:
        uri = f"mongodb://{quote(place, safe='')}/"
        code, found = findings(*options_for(tmp_path), FARHAND_MONGODB_URI=uri)
    assert code == 1
    good, what = found["MongoDB"]
    assert not good
    assert "--replSet" in what


def test_mongodb_that_answers_is_reached(tmp_path: Path, mongodb: str) -> None:
    code, found = findings(*options_for(tmp_path), FARHAND_MONGODB_URI=mongodb)
    assert (code, found["MongoDB"]) == (0, (True, "reached, database farhand"))
    assert found["clock"][0]


@pytest.mark.parametrize(("ahead", "words"), [(90, "90 s ahead of"), (-90, "90 s behind")])
def test_clock_that_differs_is_named(ahead: float, words: str) -> None:
    finding = doctor_module._clock(ahead)
    assert not finding.good
    assert words in finding.what


def test_mongod_that_cannot_run_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "mongod"
    broken.write_text("#!/bin/sh\necho libcurl is missing >&2\nexit 127\n")
    broken.chmod(0o700)
    code, found = findings(*options_for(tmp_path), PATH=f"{tmp_path}:/usr/bin:/bin")
    assert code == 1
    assert found["MongoDB"] == (False, f"{broken} cannot be run: libcurl is missing")


def test_port_of_somebody_else_is_named(tmp_path: Path) -> None:
    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        code, found = findings(*options_for(tmp_path, stranger.server_port))
        stranger.shutdown()
    assert code == 1
    assert not found["port"][0]
    assert "no Farhand server" in found["port"][1]


def test_host_that_is_not_ours_is_named(tmp_path: Path) -> None:
    code, found = findings(*options_for(tmp_path), "--host", "192.0.2.1")
    assert code == 1
    assert "cannot listen on 192.0.2.1" in found["port"][1]


def test_each_nats_is_looked_at_and_one_that_is_away_is_named(tmp_path: Path) -> None:
    nats = NatsServer(tmp_path)
    nats.start()
    silent = free_port()
    wrong = f"nats://tests:wrong@127.0.0.1:{nats.port}"
    options = options_for(tmp_path / "data")
    try:
        code, found = findings(*options, FARHAND_NATS_URL=nats.url)
        assert code == 0, found
        assert found["NATS"] == (True, f"127.0.0.1:{nats.port} lets us in")
        code, found = findings(*options, FARHAND_NATS_URL=f"{nats.url},nats://127.0.0.1:{silent}")
        assert code == 1
        good, what = found["NATS"]
        assert not good
        assert what.startswith(f"127.0.0.1:{silent} cannot be used: ")
        code, found = findings(*options, FARHAND_NATS_URL=wrong)
        assert code == 1
        assert "authorization" in found["NATS"][1].lower()
        assert "wrong" not in found["NATS"][1]
    finally:
        nats.kill()


def test_server_whose_nats_is_away_is_told(tmp_path: Path) -> None:
    uri = f"nats://127.0.0.1:{free_port()}"
    server = ServerProcess(tmp_path, nats_url=uri)
    with server.run():
        code, found = findings(*options_for(tmp_path / "data", server.port))
    assert code == 1
    assert found["server"] == (
        False,
        "it is ready, but NATS is away, so it cannot reach the machines of other nodes",
    )
