"""The program on Windows, under Wine: how it ends, what it is set to, and what keeps it running."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.certificates import self_signed
from tests.machine_client.desktop.windows.rig import WindowsWitness
from tests.waiting import eventually
from tests.wine.interpreter import windows_path
from tests.wine.machines import PLACE, Machine
from tests.wine.programs import WineDesktop, WineProgram

SERVER = ("--server", "https://farhand.example")
EVERYONE = "others can read"


@contextmanager
def ending(machine: Machine, way: str, log: Path) -> Iterator[WineProgram]:
    """A machine client that is ended in a way of Windows when a line is written."""
    machine.token_file.parent.mkdir(parents=True, exist_ok=True)
    machine.token_file.write_text(machine.token)
    machine.token_file.chmod(0o600)
    process = machine.desktop.popen(
        *("-m", "tests.wine.ending", way, windows_path(log)),
        *("tests.wine.as_user", windows_path(machine.home), "machine_client", "join"),
        *("--server", machine.server.url, "--token-file", windows_path(machine.token_file)),
        stdin=subprocess.PIPE,
    )
    program = WineProgram(process)
    try:
        yield program
    finally:
        program.kill()
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize("way", ["ctrl-c", "ctrl-break", "close", "logoff"])
def test_client_that_windows_ends_releases_what_it_holds(
    machine: Machine, witness: WindowsWitness, tmp_path: Path, way: str
) -> None:
    log = tmp_path / "Jörg Müller" / "client.log"
    with ending(machine, way, log) as client:
        machine.is_online()
        assert machine.send("mouse/click", None, **PLACE, down=True).status == 200
        eventually(lambda: witness.held() == {"left"}, "the button is down")
        assert client.process.stdin is not None
        client.process.stdin.write(b"end it\n")
        client.process.stdin.flush()
        assert client.process.wait(60) == 0
    assert witness.held() == frozenset()
    said = log.read_text()
    assert said.splitlines()[-1].endswith("INFO stopped; nothing is held any more")
    assert EVERYONE not in said


def run(desktop: WineDesktop, *arguments: str) -> tuple[int, str]:
    """A command of the machine client: its exit code, and all that it says."""
    with desktop.running("-m", "machine_client", *arguments) as program:
        return program.ends(), program.output


def test_installed_task_is_there_until_it_is_uninstalled(
    desktop: WineDesktop, tmp_path: Path
) -> None:
    token = tmp_path / "Jörg's token"
    token.write_text("fh_t")
    given = (*SERVER, "--token-file", windows_path(token))
    assert run(desktop, "status") == (1, "not installed\r\n")
    code, said = run(desktop, "install", *given)
    assert (code, "without higher rights" in said) == (0, True), said
    code, said = run(desktop, "status")
    # Wine's Task Scheduler keeps a task and never runs one.
    assert code == 1
    assert said.startswith("the task 'Farhand machine client' is installed")
    assert "does not run" in said
    code, said = run(desktop, "doctor", *given, "--server", "http://127.0.0.1:1")
    assert code == 1
    assert "FAIL service: the task 'Farhand machine client' is installed" in said
    assert f"warn token file: {EVERYONE} {windows_path(token)} (Everyone): icacls" in said
    code, said = run(desktop, "uninstall")
    assert (code, "was ended and removed" in said) == (0, True), said
    assert run(desktop, "uninstall") == (0, "nothing is installed\r\n")
    assert run(desktop, "status") == (1, "not installed\r\n")


def test_proxies_and_certificates_are_those_of_windows(
    desktop: WineDesktop, tmp_path: Path
) -> None:
    certificate, _ = self_signed(tmp_path)
    asked = ("-m", "tests.wine.system_settings", windows_path(certificate))
    with desktop.running(*asked) as program:
        assert program.ends() == 0, program.output
        told = json.loads(program.output)
    assert told == [
        "http://proxy.example:3128",
        None,
        "socks4://socks.example:1080",
        None,
        [False, True, True],
    ]
