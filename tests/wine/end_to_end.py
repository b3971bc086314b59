"""A machine of Windows, under Wine, driven by HTTP: a server here, its machine client there.

The rows of docs/at-most-once.md that are the machine client's, and what a person would try first.
"""

import io
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from machine_client.failpoints import KILLED
from tests.machine_client.desktop.contract.rig import Seen
from tests.machine_client.desktop.windows.rig import WITNESS, WindowsWitness
from tests.processes import Answer, ServedApi, ServerProcess, until
from tests.waiting import eventually
from tests.wine.interpreter import windows_path
from tests.wine.programs import WineDesktop, WineProgram, wine_desktop

SETTINGS = {"heartbeat": "1", "input_timeout": "8", "token_check": "0.5"}
PLACE = {"x": 900, "y": 700}
CLICK = ["down left", "up left"]
OPERATIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("mouse/move", {"x": 10, "y": 20}),
    ("mouse/click", {**PLACE, "clicks": 2}),
    ("mouse/scroll", {"direction": "down", "amount": 3}),
    ("mouse/drag", {"start_x": 1, "start_y": 2, "to_x": 90, "to_y": 80}),
    ("keyboard/key", {"text": "ctrl+a"}),
    ("keyboard/type", {"text": "Hello ÄёП漢 +@€"}),
)


@pytest.fixture(scope="module")
def desktop() -> Iterator[WineDesktop]:
    with wine_desktop() as desktop:
        yield desktop


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    server = ServerProcess(tmp_path_factory.mktemp("server"), **SETTINGS)
    with server.run():
        yield server


@pytest.fixture(scope="module")
def api(server: ServerProcess) -> Iterator[ServedApi]:
    api = server.api()
    yield api
    api.close()


@pytest.fixture(scope="module")
def seen_by(desktop: WineDesktop) -> Iterator[WindowsWitness]:
    witness = WindowsWitness(desktop.popen("-m", WITNESS, stdin=subprocess.PIPE))
    yield witness
    witness.close()


@pytest.fixture
def witness(seen_by: WindowsWitness) -> WindowsWitness:
    seen_by.take()
    return seen_by


@dataclass(frozen=True)
class Machine:
    """A machine that was added, whose client runs where its user's name has more than ASCII."""

    name: str
    token: str
    api: ServedApi
    server: ServerProcess
    desktop: WineDesktop
    home: Path

    def joined(self, failpoints: str = "") -> AbstractContextManager[WineProgram]:
        """Its machine client, in a session that reaches its directories by their Windows names."""
        armed = {"FARHAND_FAILPOINTS": failpoints} if failpoints else {}
        testing = ["--testing"] if failpoints else []
        return self._client("join", *testing, **armed)

    def doctor(self) -> AbstractContextManager[WineProgram]:
        return self._client("doctor")

    def send(self, operation: str, key: str | None = None, **body: object) -> Answer:
        return self.api.send(self.name, operation, body, key)

    def is_online(self) -> None:
        until(lambda: self.api.is_in_state(self.name, "online"), "the machine is online")

    def get(self, what: str) -> Answer:
        return self.api.call("GET", f"/v1/computer/{self.name}/{what}")

    def _client(
        self, command: str, *more: str, **variables: str
    ) -> AbstractContextManager[WineProgram]:
        token_file = self.home / "token"
        token_file.parent.mkdir(parents=True, exist_ok=True)
        token_file.write_text(self.token)
        return self.desktop.running(
            *("-m", "machine_client", command, "--server", self.server.url),
            *("--token-file", windows_path(token_file), *more),
            LOCALAPPDATA=windows_path(self.home),
            **variables,
        )


@pytest.fixture
def machine(
    api: ServedApi,
    server: ServerProcess,
    desktop: WineDesktop,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Machine:
    name = f"wine-{abs(hash(request.node.nodeid)) % 10**9}"
    home = tmp_path / "Jörg Müller" / "AppData Local"
    return Machine(name, api.add_machine(name), api, server, desktop, home)


def presses(events: list[Seen]) -> list[str]:
    return [f"{each.action} {min(each.names)}" for each in events if each.action != "move"]


def final(machine: Machine, key: str) -> Answer:
    """Send the same click until its answer is final."""

    def answer() -> Answer | None:
        given = machine.send("mouse/click", key, **PLACE)
        is_final = given.json.get("final") is True
        return given if given.status == 200 or is_final else None

    return eventually(answer, "the answer is final")


@pytest.mark.parametrize(
    ("point", "status", "before", "after"),
    [
        ("before-intent", 503, [], []),
        ("after-intent", 502, [], []),
        ("after-press", 502, ["down left"], ["up left"]),
        ("after-events", 502, CLICK, []),
        ("after-done", 200, CLICK, []),
        ("before-report", 200, CLICK, []),
    ],
)
def test_client_killed_on_an_inputs_way(
    machine: Machine,
    witness: WindowsWitness,
    point: str,
    status: int,
    before: list[str],
    after: list[str],
) -> None:
    key = f"{machine.name}-{point}"
    first = "after-done" if point == "before-report" else point
    with machine.joined(f"{first}=kill") as killed:
        killed.says("connected to")
        machine.is_online()
        assert machine.send("mouse/click", key, **PLACE).status == 504
        assert killed.ends() == KILLED
    if point == "before-report":
        with machine.joined("before-report=kill") as killed:
            assert killed.ends() == KILLED
    assert presses(witness.take()) == before
    with machine.joined() as client:
        client.says("connected to")
        machine.is_online()
        assert presses(witness.take()) == after
        assert witness.held() == frozenset()
        answer = final(machine, key)
        again = machine.send("mouse/click", key, **PLACE)
    assert (answer.status, answer.body) == (status, again.body)
    assert presses(witness.take()) == []


def test_every_operation_is_carried_out_and_the_screen_is_seen(
    machine: Machine, witness: WindowsWitness
) -> None:
    with machine.joined() as client:
        client.says("connected to")
        machine.is_online()
        for operation, body in OPERATIONS:
            answer = machine.send(operation, None, **body)
            assert (answer.status, answer.json.get("status")) == (200, "completed"), answer.body
        lacking = machine.send("keyboard/key", text="undo")
        assert (lacking.status, lacking.json["detail"][0]["type"]) == (422, "key_not_typeable")
        picture = machine.get("display/screenshot")
        assert picture.status == 200
        assert Image.open(io.BytesIO(picture.body)).size == (1280, 800)
        copied = machine.api.call(
            "PUT", f"/v1/computer/{machine.name}/clipboard", {"text": "Grüße\n漢"}
        )
        assert copied.status == 200
        assert machine.get("clipboard").json == {"text": "Grüße\n漢"}
        assert machine.api.machine(machine.name)["desktop"] == "windows"
    assert witness.held() == frozenset()
    assert presses(witness.take())[:7] == [*CLICK * 2, *["wheel down"] * 3]


def test_client_comes_back_when_its_server_does(machine: Machine, tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "server", **SETTINGS)
    with server.run():
        api = server.api()
        own = Machine(
            machine.name, api.add_machine(machine.name), api, server, machine.desktop, machine.home
        )
    with own.joined() as client:
        client.says("cannot connect")
        for times in (1, 2):
            with server.run():
                until(lambda: client.output.count("connected to") >= times, "it comes back")  # noqa: B023
                own.is_online()
                assert own.send("mouse/move", x=times, y=5).status == 200
    api.close()


def test_doctor_finds_everything_in_order(machine: Machine) -> None:
    with machine.doctor() as doctor:
        assert doctor.ends() == 0, doctor.output
    for hop in ("desktop: windows", "display: 1280x800", "input: ", "screen: ", "journal: "):
        assert f"ok   {hop}" in doctor.output, doctor.output
    assert "FAIL" not in doctor.output
