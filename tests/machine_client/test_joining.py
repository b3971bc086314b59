"""Several machines in one program: each by itself, whatever becomes of the others."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.desktop import NO_DISPLAY, Witness, virtual_display
from tests.processes import Program, ServedApi, ServerProcess, run, running, until


@pytest.fixture(scope="module")
def server(mongodb: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    directory = tmp_path_factory.mktemp("server")
    server = ServerProcess(directory, mongodb_uri=mongodb, mongodb_database=directory.name)
    with server.run():
        yield server


@pytest.fixture(scope="module")
def api(server: ServerProcess) -> Iterator[ServedApi]:
    with closing(server.api()) as api:
        yield api


def listed(directory: Path, url: str, tokens: dict[str, str], displays: dict[str, str]) -> Path:
    """A file with these machines."""
    lines = [f'server = "{url}"', f'state_dir = "{directory}"', "reconnect_longest = 0.5"]
    for name, token in tokens.items():
        (directory / f"{name}-token").write_text(token)
        display = displays.get(name, NO_DISPLAY)
        lines += ["[[machines]]", f'name = "{name}"', f'display = "{display}"']
        lines += [f'token_file = "{directory / name}-token"']
    file = directory / "machines.toml"
    file.write_text("\n".join(lines))
    return file


@contextmanager
def joined(file: Path) -> Iterator[Program]:
    with running(
        file.with_suffix(".log"), {}, "farhand-machine", "join", "--config", str(file)
    ) as p:
        yield p


def test_machines_that_fail_do_not_touch_the_others(
    tmp_path: Path, server: ServerProcess, api: ServedApi
) -> None:
    add: Callable[[str], str] = api.add_machine
    tokens = {"left": add("left"), "right": add("right"), "torn": add("torn"), "gone": "fh_nobody"}
    torn = tmp_path / "torn" / f"journal_{NO_DISPLAY[1:]}.sqlite3"
    torn.parent.mkdir()
    torn.write_bytes(b"no database at all" * 100)
    with ExitStack() as stack:
        displays = {name: stack.enter_context(virtual_display()) for name in ("left", "right")}
        witnesses = {name: Witness(display) for name, display in displays.items()}
        for witness in witnesses.values():
            stack.callback(witness.close)
        client = stack.enter_context(joined(listed(tmp_path, server.url, tokens, displays)))
        client.says("machine=left connected to")
        client.says("machine=right connected to")
        client.says("machine=gone this machine stops, and the others go on: the server refused")
        client.says(f"machine=torn it begins again in 0.5 s: the journal {torn} ")
        for name in displays:
            until(lambda: api.is_in_state(name, "online"), f"{name} takes inputs")  # noqa: B023
        for place, name in enumerate(displays, 100):
            assert api.send(name, "mouse/click", {"x": place, "y": 7}).status == 200
        for place, name in enumerate(displays, 100):
            presses = [event for event in witnesses[name].take() if event.kind == "ButtonPress"]
            assert [(event.x, event.y) for event in presses] == [(place, 7)], name
        torn.unlink()
        client.says("machine=torn connected to")
        for name, state in (("left", "online"), ("torn", "no_input")):
            until(lambda: api.is_in_state(name, state), f"{name} is {state}")  # noqa: B023
        assert client.terminate() == 0
        assert "Traceback" not in client.output
        assert "fh_" not in client.output


def test_program_ends_where_the_server_will_have_none(
    tmp_path: Path, server: ServerProcess
) -> None:
    file = listed(tmp_path, server.url, {"one": "fh_nobody", "two": "fh_nobody"}, {})
    ended = run("farhand-machine", "join", "--config", str(file))
    assert ended.returncode == 3
    for name in ("one", "two"):
        assert f"machine={name} this machine stops" in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("Error: the server will have none of these")


@pytest.mark.parametrize("name", ["alone", "one-of-two"])
def test_machine_whose_token_is_revoked_goes_on_with_the_one_in_its_file(
    tmp_path: Path, server: ServerProcess, api: ServedApi, name: str
) -> None:
    tokens = {name: api.add_machine(name)}
    if name == "one-of-two":
        tokens["other"] = api.add_machine("other-of-two")
    new = {"name": "new", "scopes": ["machine:connect"], "machine_id": name}
    with joined(listed(tmp_path, server.url, tokens, {})) as client:
        client.says("connected to")
        until(lambda: api.is_in_state(name, "no_input"), "it is connected")
        first, second = (
            api.call("GET", "/v1/tokens").json["items"],
            api.call("POST", "/v1/tokens", new),
        )
        (tmp_path / f"{name}-token").write_text(second.json["token"])
        for token in first:
            if token["machine_id"] == name:
                assert api.call("DELETE", f"/v1/tokens/{token['id']}").status == 204
        client.says("its file has another token by now: it goes on with that")
        # As long as the server knows of the first link, it says the same of it.
        until(lambda: client.output.count(f"as machine {name}\n") >= 2, "it has another link")
        until(lambda: api.is_in_state(name, "no_input"), "it is connected again")
        # Once more, and there is no other one.
        (token,) = (
            each["id"]
            for each in api.call("GET", "/v1/tokens").json["items"]
            if each["machine_id"] == name
        )
        assert api.call("DELETE", f"/v1/tokens/{token}").status == 204
        client.says("closed for good")
        assert second.json["token"] not in client.output


def test_doctor_looks_at_each(tmp_path: Path, server: ServerProcess, api: ServedApi) -> None:
    with virtual_display() as display:
        tokens = {"first": api.add_machine("first"), "second": api.add_machine("second")}
        file = listed(tmp_path, server.url, tokens, {"first": display})
        ended = run("farhand-machine", "doctor", "--config", str(file))
    first, _, second = ended.stdout.partition("second:\n")
    assert first.startswith("first:\nok   desktop: x11, found on this machine\nok   display: ")
    assert "FAIL" not in first
    assert second.startswith("ok   desktop: x11, found on this machine\nFAIL display: ")
    assert ended.returncode == 1
