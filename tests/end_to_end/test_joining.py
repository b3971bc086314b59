"""Hosts join with one code, and are killed on the way: each is one machine, with one token."""

import contextlib
from pathlib import Path

from tests.processes import Program, ServedApi, ServerProcess, running, until

HOSTS = 3


class Host:
    """It joins with a code, each time that it is started."""

    def __init__(self, server: ServerProcess, code: str, state: Path, display: str) -> None:
        self._arguments = ("join", "--server", server.url, "--code", code, "--display", display)
        self._state = state

    def started(self) -> contextlib.AbstractContextManager[Program]:
        arguments = (*self._arguments, "--state-dir", str(self._state))
        return running(self._state.with_suffix(".log"), {}, "farhand-machine", *arguments)

    def files(self) -> list[str]:
        """The names of its files with a token."""
        return sorted(path.suffix for path in self._state.glob("token*"))


def is_refused(server: ServerProcess, token: str) -> bool:
    """Whether the server knows a token no more."""
    return ServedApi(server.url, token).call("GET", "/v1/machines").status == 401


def test_each_host_is_one_machine_however_often_it_is_killed(
    shared_server: ServerProcess, api: ServedApi, display: str, tmp_path: Path
) -> None:
    before = {each["id"] for each in api.call("GET", "/v1/machines?limit=1000").json["items"]}
    made = api.call("POST", "/v1/invitations", {"uses": HOSTS}).json
    hosts = [
        Host(shared_server, made["code"], tmp_path / f"host-{number}", display)
        for number in range(HOSTS)
    ]
    with contextlib.ExitStack() as stack:
        for host in hosts:
            with host.started() as client:
                # The moment at which it has a token of which the server may or may not know.
                until(host.files, "it has made a token")
                client.kill()
            with host.started() as client:
                client.says("connected to")
            assert host.files() == [""]
        for host in hosts:
            # Its token is enough: the code is used up.
            stack.enter_context(host.started()).says("connected to")
        machines = api.call("GET", "/v1/machines?limit=1000").json["items"]
        joined = [each["id"] for each in machines if each["id"] not in before]
        assert len(joined) == HOSTS
    tokens = api.call("GET", "/v1/tokens?limit=1000").json["items"]
    assert sorted(each["machine_id"] for each in tokens if each["machine_id"] in joined) == joined
    late = Host(shared_server, made["code"], tmp_path / "late", display)
    with late.started() as client:
        assert client.ends() == 3
    assert "was used up" in client.output


def test_doctor_looks_before_the_code_is_used_and_nothing_is_needed_after_it(
    shared_server: ServerProcess, api: ServedApi, display: str, tmp_path: Path
) -> None:
    made = api.call("POST", "/v1/invitations", {"machine_id": "examined"}).json
    state = tmp_path / "state"
    where = ("--server", shared_server.url, "--state-dir", str(state), "--display", display)
    with_code = (*where, "--code", made["code"])
    with running(tmp_path / "doctor", {}, "farhand-machine", "doctor", *with_code) as doctor:
        doctor.says("none yet: join makes one by its code")
        doctor.ends()
    assert not list(state.glob("token*"))
    assert api.call("GET", f"/v1/invitations/{made['id']}").json["used"] == 0
    for options in (with_code, where):
        with running(tmp_path / "join", {}, "farhand-machine", "join", *options) as client:
            client.says("as machine examined")


def test_machine_changes_its_token_and_the_old_one_falls(
    shared_server: ServerProcess, api: ServedApi, display: str, tmp_path: Path
) -> None:
    made = api.call("POST", "/v1/invitations", {"machine_id": "rotating"}).json
    host = Host(shared_server, made["code"], tmp_path / "host", display)
    with host.started() as client:
        client.says("connected to")
        (file,) = (tmp_path / "host").glob("token*")
        old = file.read_text()
        answer = api.call("POST", "/v1/machines/rotating/rotate")
        assert answer.status == 202, answer.body
        path = f"/v1/invitations/{answer.json['id']}"
        until(lambda: api.call("GET", path).json["used"] == 1, "it has come back")
        until(lambda: file.read_text() != old, "it has kept the new token")
        until(lambda: api.is_in_state("rotating", "online"), "it is online")
        until(lambda: is_refused(shared_server, old.strip()), "the old token has fallen")
    tokens = api.call("GET", "/v1/tokens?limit=1000").json["items"]
    assert [each["machine_id"] for each in tokens].count("rotating") == 1
    # As after a kill between the server's word and the file: the new token lies beside the old.
    file.rename(file.with_name(f"{file.name}.joining"))
    file.write_text(old)
    with host.started() as client:
        client.says("its file has another token by now")
        client.says("connected to")
    assert host.files() == [""]
    until(lambda: api.is_in_state("rotating", "offline"), "its end is known")
    assert api.call("POST", "/v1/machines/rotating/rotate").status == 503


def test_machine_whose_token_has_no_file_says_so_and_goes_on(
    shared_server: ServerProcess, api: ServedApi, display: str, tmp_path: Path
) -> None:
    token = api.add_machine("without-file")
    state = ("--state-dir", str(tmp_path / "state"), "--display", display)
    arguments = ("join", "--server", shared_server.url, "--token", token, *state)
    with running(tmp_path / "log", {}, "farhand-machine", *arguments) as client:
        client.says("connected to")
        answer = api.call("POST", "/v1/machines/without-file/rotate")
        assert answer.status == 202
        client.says("without a file")
        assert api.send("without-file", "mouse/move", {"x": 1, "y": 1}).status == 200
    assert api.call("GET", f"/v1/invitations/{answer.json['id']}").json["used"] == 0
