"""The doctor: it tries each hop and names the one that fails."""

import asyncio
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.http11 import Response

from machine_client import doctor
from machine_client.desktop import DesktopError
from machine_client.doctor import Finding
from machine_client.injector import Injector
from machine_client.settings import MachineSettings
from schemas.inputs import Button, ClickMouse
from schemas.problems import FORBIDDEN, UNAUTHENTICATED
from schemas.wire import Released
from tests.certificates import self_signed
from tests.desktop import virtual_display
from tests.held import NOTHING, Held, held_on
from tests.machine_client.journals import journal_in
from tests.machine_client.pressing import READY, pressing
from tests.machine_client.scripted import TOKEN, Line, problem, scripted_server
from tests.processes import run
from tests.proxies import http_proxy
from tests.store import async_test


async def examined(
    address: str, state: Path, display: str, *options: str, **variables: str
) -> tuple[int, list[str]]:
    """The exit code and the lines of a doctor that ran to its end."""
    ended = await asyncio.to_thread(
        lambda: run(
            *("farhand-machine", "doctor", "--server", address, "--token", TOKEN),
            *("--state-dir", str(state), "--display", display, *options),
            **variables,
        )
    )
    assert "Traceback" not in ended.stderr
    assert TOKEN not in ended.stdout + ended.stderr
    return ended.returncode, ended.stdout.splitlines()


@contextmanager
def client_that_holds(display: str, button: Button) -> Iterator["subprocess.Popen[bytes]"]:
    """A machine client's injector in a process of its own, which is killed with the block."""
    client = pressing(display, ClickMouse(button=button, down=True))
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == READY
        yield client
    finally:
        client.kill()
        client.communicate()


def failing(lines: list[str]) -> list[str]:
    return [line.removeprefix("FAIL ") for line in lines if line.startswith("FAIL ")]


@async_test
async def test_healthy_machine_is_ok_at_every_hop(tmp_path: Path, display: str) -> None:
    async with scripted_server() as server:
        code, lines = await examined(server.address, tmp_path, display)
    assert code == 0
    assert [line.split(":")[0] for line in lines] == [
        *("ok   desktop", "ok   screen", "ok   journal"),
        *("ok   server's name", "ok   server's port", "ok   token"),
    ]
    assert "1280x800" in lines[0]
    assert "can see 1280x800" in lines[1]


@async_test
async def test_screen_that_nobody_may_see_is_no_failure(tmp_path: Path, display: str) -> None:
    async with scripted_server() as server:
        variables = {"FARHAND_MACHINE_SCREEN": "false"}
        code, lines = await examined(server.address, tmp_path, display, **variables)
    assert code == 0
    assert lines[1].startswith("ok   screen: nobody may look")


def test_screen_that_cannot_be_seen_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str | None) -> None:
        raise DesktopError("screen_unavailable", "it is dark")

    monkeypatch.setattr(doctor, "open_camera", refuse)
    settings = MachineSettings(server="http://127.0.0.1:1", state_dir=tmp_path, token=TOKEN)
    assert doctor._screen(settings) == Finding("screen", False, "it is dark")


@async_test
async def test_doctor_takes_no_machines_place(tmp_path: Path, display: str) -> None:
    """It says no hello, so the server admits nobody."""
    heard: list[str | bytes] = []

    async def listen(line: Line) -> None:
        heard.extend([message async for message in line.websocket])

    async with scripted_server(listen) as server:
        assert (await examined(server.address, tmp_path, display))[0] == 0
        await server.finished()
    assert heard == []


@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "running"])
@async_test
async def test_doctor_releases_nothing_that_a_client_has_pressed(
    tmp_path: Path, is_killed: bool
) -> None:
    """A client that starts releases what a dead one left, and tells the server; a look must not."""
    with virtual_display() as display:
        with client_that_holds(display, "right") as client:
            if is_killed:
                client.kill()
                client.wait()
            async with scripted_server() as server:
                code, lines = await examined(server.address, tmp_path, display)
            assert (code, lines[0]) == (0, "ok   desktop: input is possible on 1280x800")
            assert held_on(display) == Held(buttons=frozenset({3}))
        injector = Injector(display)
        assert injector.take_released() == Released(buttons=["right"], keys=0)
        assert held_on(display) == NOTHING
        injector.close()


@async_test
async def test_missing_desktop_is_named(tmp_path: Path) -> None:
    async with scripted_server() as server:
        code, lines = await examined(server.address, tmp_path, ":9999")
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith("desktop: ")
    assert ":9999" in failure


@async_test
async def test_journal_that_cannot_be_used_is_named(tmp_path: Path, display: str) -> None:
    owner = journal_in(tmp_path / f"journal{display.replace(':', '_')}.sqlite3")
    async with scripted_server() as server:
        code, lines = await examined(server.address, tmp_path, display)
    owner.close()
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith("journal: ")
    assert "a machine client runs with it already" in failure


@async_test
async def test_unknown_name_is_named_and_nothing_behind_it_is_tried(
    tmp_path: Path, display: str
) -> None:
    code, lines = await examined("http://farhand.invalid:8600", tmp_path, display)
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith("server's name: farhand.invalid is not known")
    assert lines[-1] == f"FAIL {failure}"


@async_test
async def test_closed_port_is_named(tmp_path: Path, display: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    code, lines = await examined(f"http://127.0.0.1:{port}", tmp_path, display)
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith(f"server's port: 127.0.0.1 port {port}: ")
    assert "refused" in failure.lower() or "failed" in failure.lower()


@pytest.mark.parametrize(
    ("answer", "hop"),
    [
        (problem(UNAUTHENTICATED, "no such token"), "token"),
        (problem(FORBIDDEN, "the token is for something else"), "token"),
        (403, "server"),
        (404, "server"),
        (503, "server"),
    ],
)
@async_test
async def test_refusal_of_the_server_is_named(
    tmp_path: Path, display: str, answer: int | Response, hop: str
) -> None:
    status = answer if isinstance(answer, int) else answer.status_code
    async with scripted_server(statuses=(answer,)) as server:
        code, lines = await examined(server.address, tmp_path, display)
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith(f"{hop}: ")
    assert f"HTTP {status}" in failure


@async_test
async def test_certificate_that_nobody_vouches_for_is_named_with_what_helps(
    tmp_path: Path, display: str
) -> None:
    certificate, key = self_signed(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    async with scripted_server(tls=tls) as server:
        code, lines = await examined(server.address, tmp_path, display)
        trusting = await examined(server.address, tmp_path, display, "--ca-file", str(certificate))
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith("certificate: ")
    assert "--ca-file" in failure
    assert trusting[0] == 0


@async_test
async def test_proxy_is_a_hop_of_its_own(tmp_path: Path, display: str) -> None:
    async with http_proxy("user:secret") as proxy, scripted_server() as server:
        good = await examined(
            server.address, tmp_path, display, "--proxy", proxy.url("user:secret")
        )
        bad = await examined(server.address, tmp_path, display, "--proxy", proxy.url("user:wrong"))
    assert good[0] == 0
    assert any(line.startswith("ok   proxy's port: ") for line in good[1])
    (failure,) = failing(bad[1])
    assert bad[0] == 1
    assert "407" in failure
    assert "wrong" not in "".join(bad[1])


@pytest.mark.parametrize("address", ["http://user:secret@proxy:port", "foo://user:secret@a"])
@async_test
async def test_wrong_proxy_of_the_environment_is_named_without_its_password(
    tmp_path: Path, display: str, address: str
) -> None:
    code, lines = await examined("http://127.0.0.1:9", tmp_path, display, http_proxy=address)
    (failure,) = failing(lines)
    assert code == 1
    assert failure.startswith("proxy")
    assert "secret" not in failure
