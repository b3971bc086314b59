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
