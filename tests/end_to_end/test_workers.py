"""``farhand serve --workers``: a parent, its workers, their MongoDB and their NATS, and their ends.

Processes are found as children of the parent: nothing may be left of any of them.
"""

import http.client
import json
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from tests.processes import (
    WAIT_SECONDS,
    Program,
    ServedApi,
    ServerProcess,
    free_port,
    go_on,
    run,
    running,
    stop,
    until,
)

READY = re.compile(r"worker=(\S+) pid=(\d+) is ready")


class Family:
    """A parent that runs, and its children."""

    def __init__(self, server: ServerProcess, program: Program) -> None:
        self.server, self.program = server, program
        self.api: ServedApi = server.api()

    @property
    def workers(self) -> dict[str, int]:
        """The process id of each worker that became ready last, by its name."""
        return {name: int(pid) for name, pid in READY.findall(self.program.output)}

    def all_are_ready(self) -> None:
        until(lambda: len(self.workers) == self.server.workers, "every worker is ready")

    def children(self) -> dict[int, str]:
        """The names of the programs of its children, by process id."""
        parent = self.program.process.pid
        found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        names = {}
        for each in found:
            # It has ended since, before it was looked for or while it was.
            with suppress(FileNotFoundError, ProcessLookupError):
                names[int(each)] = Path(f"/proc/{each}/comm").read_text().strip()
        return names

    def child(self, name: str) -> int | None:
        """The process id of mongod or nats-server, where it runs."""
        return next((pid for pid, found in self.children().items() if found == name), None)

    def is_another(self, name: str, pid: int) -> bool:
        """Whether a worker is another process by now."""
        return self.workers[name] != pid

    def status(self, path: str = "/v1/machines") -> int:
        return self.api.call("GET", path).status

    def is_well(self) -> bool:
        """Whether one request after the other is answered, by whichever worker takes it."""
        return all(self.status() == 200 for _ in range(20))

    def is_well_at_the_second_try(self) -> bool:
        """Whether one request after the other is answered, or can be repeated with success."""
        return all(200 in (self._status_or_0() for _ in range(2)) for _ in range(20))

    def _status_or_0(self) -> int:
        with suppress(OSError, http.client.HTTPException):
            return self.status()
        return 0

    def answered_by(self) -> set[str]:
        """The nodes whose lines tell of requests."""
        return set(re.findall(r"node=(\S+) request=", self.program.output))


@contextmanager
def family(directory: Path, **settings: str) -> Iterator[Family]:
    server = ServerProcess(directory, workers="2", **settings)
    with server.run() as program:
        found = Family(server, program)
        with closing(found.api):
            found.all_are_ready()
            yield found


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False
    # The first thread may have ended while others have not, and listen until they have.
    return state not in "ZX" or len(threads) > 1


def warnings(said: str) -> list[str]:
    """What is warned of, but for workers of a busy machine that stood still and went on."""
    back = "was taken for gone, and is not"
    stood_still = {f"{name} is gone" for name in re.findall(rf"(node=\S+) {back}", said)}
    lines = [line for line in said.splitlines() if "WARNING" in line and back not in line]
    return [line for line in lines if not any(line.endswith(each) for each in stood_still)]


def all_end(pids: list[int]) -> None:
    until(lambda: not any(map(runs, pids)), "every process has ended")


def test_workers_answer_on_one_port_and_end_in_order(tmp_path: Path) -> None:
    with family(tmp_path, node_name="host", log_level="info") as found:
        names = sorted(found.children().values())
        assert [name for name in names if not name.startswith("python")] == [
            "mongod",
            "nats-server",
        ]
        assert set(found.workers) == {"host-1", "host-2"}
        until(lambda: found.is_well() and len(found.answered_by()) == 2, "both have answered")
        said, pids = found.program.output, list(found.children())
        assert len(pids) == 4
        for once in ("listening on", "the console is at", "made an administrator's token"):
            assert said.count(once) == 1
        # Nobody is reached by a signal of the terminal but the parent.
        assert found.program.process.pid not in {os.getsid(pid) for pid in pids}
        address = (tmp_path / "data" / "address").read_text().strip()
        assert address == found.server.url
        listed = run("farhand", "token", "list", FARHAND_DATA_DIR=str(tmp_path / "data"))
        assert listed.returncode == 0, listed.stderr
        assert "administrator" in listed.stdout
        looked = run(
            *("farhand", "doctor", "--port", str(found.server.port)),
            *("--data-dir", str(tmp_path / "data")),
        )
        assert looked.returncode == 0, looked.stdout
        assert found.program.terminate() == 0
        all_end(pids)
        said = found.program.output
        assert said.count("stopping: ") == 1
        assert said.strip().endswith("stopped")
        assert "Traceback" not in said
        assert warnings(said) == []
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", found.server.port))


def test_killed_worker_is_missed_by_nobody_and_comes_back(tmp_path: Path) -> None:
    with family(tmp_path, node_name="host") as found:
        before = found.workers
        for name, pid in before.items():
            os.kill(pid, signal.SIGKILL)
            # The other one answers; what the killed one had accepted is cut off.
            all_end([pid])
            assert found.is_well()
            until(partial(found.is_another, name, pid), "another is ready")
            assert f"worker {name}, process {pid}, ended with status -9" in found.program.output
        assert found.is_well()
        assert len(found.children()) == 4
        assert found.program.terminate() == 0


def test_workers_are_replaced_one_after_the_other(tmp_path: Path) -> None:
    with family(tmp_path, node_name="host") as found:
        before = found.workers
        found.program.process.send_signal(signal.SIGHUP)
        found.program.process.send_signal(signal.SIGHUP)  # That is under way already.
        while "all workers are replaced" not in found.program.output:
            assert found.is_well_at_the_second_try()
        assert set(found.workers) == set(before)
        assert not set(found.workers.values()) & set(before.values())
        assert found.program.output.count("replacing the workers") == 1
        assert warnings(found.program.output) == []
        assert found.program.terminate() == 0


def test_killed_parent_leaves_nothing_running(tmp_path: Path) -> None:
    with family(tmp_path) as found:
        pids = list(found.children())
        assert len(pids) == 4
        found.program.kill()
        all_end(pids)
    with family(tmp_path) as found:
        assert found.is_well()


def test_second_signal_ends_all_at_once(tmp_path: Path) -> None:
    with family(tmp_path) as found:
        pids = list(found.children())
        ends, stays = found.workers.values()
        # One that does not end keeps the parent waiting, and so its database.
        stop(stays)
        found.program.process.terminate()
        all_end([ends])
        assert set(found.children().values()) >= {"mongod", "nats-server"}
        assert found.program.runs
        assert found.program.terminate() == -signal.SIGTERM
        all_end(pids)


def test_worker_that_does_not_end_is_killed_in_time(tmp_path: Path) -> None:
    with family(tmp_path, stop_timeout="0.1") as found:
        pids, stopped = list(found.children()), found.workers.popitem()[1]
        stop(stopped)
        assert found.program.terminate() == 0
        assert f"pid={stopped} does not end and is killed" in found.program.output
        all_end(pids)


def test_mongod_that_ends_is_started_again(tmp_path: Path) -> None:
    with family(tmp_path) as found:
        workers, mongod = found.workers, found.child("mongod")
        assert mongod is not None
        turtle = tmp_path / "data" / "mongodb" / "db" / "WiredTiger.turtle"
        # The parent starts it again a moment later, and not before it cannot come back yet.
        stop(found.program.process.pid)
        os.kill(mongod, signal.SIGKILL)
        until(lambda: not runs(mongod), "it is gone")
        sound = turtle.read_bytes()
        turtle.write_bytes(b"not a turtle")
        go_on(found.program.process.pid)
        until(lambda: found.status("/readyz") == 503, "there is no database")
        found.program.says("The embedded mongod ended at once")
        turtle.write_bytes(sound)
        until(lambda: found.child("mongod") not in (None, mongod), "another runs")
        until(found.is_well, "requests are answered again")
        assert found.workers == workers
        assert "The embedded mongod ended by itself" in found.program.output
        assert found.program.terminate() == 0
        assert found.program.output.strip().endswith("stopped")


def test_nats_server_that_ends_is_started_again_at_the_same_place(tmp_path: Path) -> None:
    with family(tmp_path) as found:
        nats = found.child("nats-server")
        place = json.loads((tmp_path / "data" / "nats" / "place.json").read_text())
        assert nats is not None
        os.kill(nats, signal.SIGKILL)
        until(lambda: found.child("nats-server") not in (None, nats), "another runs")

        def greets() -> bool:
            try:
                with socket.create_connection(("127.0.0.1", place["port"]), WAIT_SECONDS) as to:
                    return place["name"].encode() in to.recv(1000)
            except OSError:
                return False

        until(greets, "it is where it was")
        assert found.is_well()
        assert found.program.terminate() == 0


def test_taken_port_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused("--port", port, "--data-dir", str(tmp_path / "data"))
    assert said.startswith(f"Error: cannot listen on 127.0.0.1 port {port}: ")


def test_database_that_cannot_be_used_is_said_once(tmp_path: Path) -> None:
    said = refused("--port", "0", "--data-dir", str(tmp_path), FARHAND_MONGODB_URI="nonsense")
    assert said.count("MongoDB URI") == 1
    assert said.strip().splitlines()[-1].startswith("Error: ")


def test_missing_nats_server_is_said_with_what_to_do(tmp_path: Path) -> None:
    # An environment without the package, in which mongod is on the PATH.
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    script = (
        f"import sys; sys.executable = {str(python)!r}; "
        "from server.__main__ import main; sys.argv[0] = 'farhand'; main()"
    )
    variables = {"PATH": str(python.parent), "FARHAND_MONGODB_URI": "mongodb://127.0.0.1:1/"}
    options = ("--port", str(free_port()), "--data-dir", str(tmp_path / "data"))
    command = (sys.executable, "-c", script, "serve", "--workers", "2", *options)
    with running(tmp_path / "log", variables, *command) as program:
        assert program.ends() == 1
        assert "Error: No nats-server was found: set FARHAND_NATS_URL" in program.output
        assert "Traceback" not in program.output


def refused(*arguments: str, **variables: str) -> str:
    ended = run("farhand", "serve", "--workers", "2", *arguments, **variables)
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended.stderr
