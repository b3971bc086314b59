"""The two programs as real processes, forked from one that has imported them, and always ended."""

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from urllib.parse import urlsplit

from schemas.programs import failpoints as failpoint_names
from tests.forked_programs import ForkedProgram, can_be_forked, fork

WAIT_SECONDS = 60.0

RUN_SECONDS = 100.0
"""For a program that does all its work, as the demo does: pytest itself gives up soon after."""

LOOKING_SECONDS = "120"
"""To look at a picture: the processes that do are nice, so that on a busy machine they wait."""

SCRIPTS = Path(sys.executable).parent


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without settings, displays and proxies, and these variables."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("FARHAND_")
        and not name.lower().endswith("_proxy")
        and name != "DISPLAY"
    }
    return {**kept, **variables}


def state_of(process_id: int) -> str:
    """A process's state, as the kernel abbreviates it."""
    return Path(f"/proc/{process_id}/stat").read_text().rpartition(") ")[2][0]


def is_gone(pid: int) -> bool:
    """Whether a process has ended, and may wait to be asked how."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def stop(process_id: int) -> None:
    """Let a process stand still; it does nothing more when this returns.

    A signal takes effect later than it is sent, in each thread for itself.
    """
    os.kill(process_id, signal.SIGSTOP)
    until(lambda: _stands_still(process_id), f"process {process_id} stands still")


def _stands_still(process_id: int) -> bool:
    with contextlib.suppress(OSError):  # A thread has just ended.
        threads = Path(f"/proc/{process_id}/task").glob("*/status")
        return all("\nState:\tT" in each.read_text() for each in threads)
    return False


def go_on(process_id: int) -> None:
    """Let a process that was stopped run again."""
    os.kill(process_id, signal.SIGCONT)


def until(condition: Callable[[], object], what: str, seconds: float = WAIT_SECONDS) -> None:
    """Wait until a condition holds; fail with ``what`` did not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)


_RESERVED: list[socket.socket] = []


def free_port() -> int:
    """A port for a program, which may leave it and come back to it as long as this process runs.

    It is below those that systems give to whoever asks for any, and that a server gives its NATS;
    and above 10080, the last that browsers refuse.
    No other process of tests here is given it: the name of a socket that stands for it is taken.
    """
    for _ in range(1000):
        port = random.randint(10_081, 19_999)
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0farhand-tests-port-{port}")
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            name.close()
        else:
            _RESERVED.append(name)
            return port
    raise AssertionError("no port from 10081 to 19999 is free")


Process = subprocess.Popen[bytes] | ForkedProgram
Ended = subprocess.CompletedProcess[str]


def started(command: Sequence[str], variables: Mapping[str, str], output: IO[bytes]) -> Process:
    """A program in a session of its own, so that what it starts ends with it."""
    if can_be_forked(command, variables):
        return fork([str(SCRIPTS / command[0]), *command[1:]], variables, output.fileno())
    return subprocess.Popen(
        [SCRIPTS / command[0], *command[1:]],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=variables,
        start_new_session=True,
    )


class Program:
    """A running program, whose output goes to a file."""

    def __init__(self, log: Path, variables: Mapping[str, str], *command: str) -> None:
        self._log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._begins_at = output.tell()
            self.process = started(command, environment(**variables), output)

    @property
    def output(self) -> str:
        """Everything that it has printed so far."""
        return self._log.read_bytes()[self._begins_at :].decode(errors="replace")

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def says(self, text: str, seconds: float = WAIT_SECONDS) -> None:
        """Wait until it has printed a text; fail at once where it has ended without."""
        deadline = time.monotonic() + seconds
        while text not in self.output:
            ended = not self.runs
            assert text in self.output or not (ended or time.monotonic() > deadline), (
                f"{text!r} was not said{' before the end' if ended else ''}:\n{self.output}"
            )
            time.sleep(0.02)

    def ends(self, seconds: float = WAIT_SECONDS) -> int:
        """Wait for its end; its exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end within {seconds:g} s:\n{self.output}") from None

    def terminate(self) -> int:
        """Ask it to end as a supervisor does; its exit code."""
        self.process.terminate()
        return self.ends()

    def kill(self) -> None:
        """End it alone, as a crash does, and wait until it is gone."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End it and everything in its session, whatever it does now."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def running(log: Path, variables: Mapping[str, str], *command: str) -> Iterator[Program]:
    """A program that is killed with the block, if it has not ended by then."""
    program = Program(log, variables, *command)
    try:
        yield program
    except BaseException as failure:
        failure.add_note(f"what {' '.join(command[:2])} said:\n{program.output[-4000:]}")
        raise
    finally:
        program.close()


def run(*command: str, **variables: str) -> Ended:
    """Run a program to its end."""
    return ended(command, environment(**variables))


def ended(command: Sequence[str], variables: Mapping[str, str]) -> Ended:
    """What a program has said by its end, and its exit code."""
    arguments = [str(SCRIPTS / command[0]), *command[1:]]
    if not can_be_forked(command, variables):
        return subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=RUN_SECONDS,
            env=variables,
        )
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        program = fork(arguments, variables, output.fileno(), errors.fileno())
        try:
            code = program.wait(RUN_SECONDS)
        finally:
            program.kill()
        for each in (output, errors):
            each.seek(0)
        return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


def kind_of(answer: Answer) -> str:
    """``completed``, or the problem's name."""
    if answer.status == 200:
        return "completed"
    return str(answer.json["type"]).removeprefix("/problems/")


class ServedApi:
    """A server's HTTP API, as a client in another language would call it."""

    def __init__(self, url: str, token: str) -> None:
        self._host = urlsplit(url).netloc
        self.token = token
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="http")

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request on a connection of its own; bytes as they are, all else as JSON."""
        with contextlib.closing(
            http.client.HTTPConnection(self._host, timeout=WAIT_SECONDS)
        ) as connection:
            connection.request(
                method,
                path,
                body if body is None or isinstance(body, bytes) else json.dumps(body),
                {
                    "Authorization": f"Bearer {self.token}",
                    "Content-Type": "application/json",
                    **(headers or {}),
                },
            )
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())

    def begin_call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Future[Answer]:
        """As `call`, without waiting for the answer."""
        return self._threads.submit(self.call, method, path, body, headers)

    def send(
        self, machine: str, operation: str, body: Mapping[str, Any], key: str | None = None
    ) -> Answer:
        """Send an input such as ``mouse/move``."""
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.call("POST", f"/v1/computer/{machine}/input/{operation}", body, headers)

    def begin(
        self, machine: str, operation: str, body: Mapping[str, Any], key: str | None = None
    ) -> Future[Answer]:
        """As `send`, without waiting for the answer."""
        return self._threads.submit(self.send, machine, operation, body, key)

    def act(
        self,
        machine: str,
        actions: Sequence[Mapping[str, Any]],
        key: str | None = None,
        screenshot: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send several actions in one request."""
        headers = {} if key is None else {"Idempotency-Key": key}
        body = {"actions": [*actions], "screenshot": screenshot}
        return self.call("POST", f"/v1/computer/{machine}/actions", body, headers)

    def begin_to_act(
        self,
        machine: str,
        actions: Sequence[Mapping[str, Any]],
        key: str | None = None,
        screenshot: Mapping[str, Any] | None = None,
    ) -> Future[Answer]:
        """As `act`, without waiting for the answer."""
        return self._threads.submit(self.act, machine, actions, key, screenshot)

    def machine(self, machine: str) -> Any:
        """How a machine is."""
        return self.call("GET", f"/v1/machines/{machine}").json

    def is_in_state(self, machine: str, state: str) -> bool:
        return bool(self.machine(machine)["state"] == state)

    def add_machine(self, machine: str) -> str:
        """Add a machine; its token."""
        answer = self.call("POST", "/v1/machines", {"id": machine})
        assert answer.status == 201, answer.body
        return str(answer.json["token"]["token"])

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)


class ServerProcess:
    """``farhand serve`` on one data directory and one port, to be started again and again."""

    def __init__(self, directory: Path, **settings: str) -> None:
        self.directory = directory
        self.workers = int(settings.pop("workers", 1))
        self.port = int(settings.pop("port", 0)) or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        settings.setdefault("vision_timeout", LOOKING_SECONDS)
        self._settings = {f"FARHAND_{name.upper()}": value for name, value in settings.items()}

    @contextlib.contextmanager
    def run(self, *, failpoints: str = "", is_next: bool = False) -> Iterator[Program]:
        """Start it, with failpoints such as ``after-sent=kill``; wait until it takes requests.

        ``is_next`` is whether it is that of `tests.next_version`.
        """
        data = self.directory / "data"
        command = [
            *_program("farhand", is_next=is_next),
            "serve",
            "--port",
            str(self.port),
            "--data-dir",
            str(data),
        ]
        if self.workers > 1:
            command += ["--workers", str(self.workers)]
        variables = {**self._settings, **_armed(failpoints, command)}
        with running(self.directory / "server.log", variables, *command) as program:
            program.says("listening on")
            yield program

    def administrators_token(self) -> str:
        """The token that the first start on an empty database makes."""
        return (self.directory / "data" / "admin-token").read_text().strip()

    def api(self) -> ServedApi:
        """Its API, with the administrator's token."""
        return ServedApi(self.url, self.administrators_token())


@contextlib.contextmanager
def joined(
    url: str,
    token: str,
    directory: Path,
    display: str,
    *,
    wait: bool = True,
    failpoints: str = "",
    is_next: bool = False,
    program: str = "farhand-machine",
    state_dir: Path | None = None,
    bus: str = "",
    **settings: str,
) -> Iterator[Program]:
    """``farhand-machine join``; with ``wait``, connected before the block begins.

    ``is_next`` is whether it is that of `tests.next_version`, ``program`` what else stands in its
    place.  ``directory`` has its token and its output, and its journal as well unless that is in
    ``state_dir``.  Without a ``display`` the settings say which desktop it works on.  ``bus`` is
    the address of its session's bus, where that is not this process's own.
    """
    directory.mkdir(parents=True, exist_ok=True)
    token_file = directory / "token"
    token_file.write_text(token)
    command = [
        *_program(program, is_next=is_next),
        *("join", "--server", url, "--token-file", str(token_file)),
        *("--state-dir", str(state_dir or directory)),
        *(("--display", display) if display else ()),
    ]
    variables = {f"FARHAND_MACHINE_{name.upper()}": value for name, value in settings.items()}
    variables |= _armed(failpoints, command)
    if bus:
        variables["DBUS_SESSION_BUS_ADDRESS"] = bus
    with running(directory / "machine.log", variables, *command) as client:
        if wait:
            client.says("connected to")
        yield client


def _program(name: str, *, is_next: bool) -> list[str]:
    """How a program begins to be called."""
    return [sys.executable, "-m", "tests.next_version", name] if is_next else [name]


def _armed(failpoints: str, command: list[str]) -> dict[str, str]:
    """The variable that arms failpoints, for a command that is made to take them."""
    if not failpoints:
        return {}
    command.append("--testing")
    return {failpoint_names.VARIABLE: failpoints}
